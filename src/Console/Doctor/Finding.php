<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

/** One thing that was looked at, and what to change about it. */
final class Finding
{
    /**
     * @param string  $what   was looked at
     * @param string  $says   a sentence
     * @param ?string $change the line to change, as it should be; null: nothing
     */
    private function __construct(
        public readonly Severity $severity,
        public readonly string $what,
        public readonly string $says,
        public readonly ?string $change = null,
    ) {}

    public static function fine(string $what, string $says): self
    {
        return new self(Severity::Fine, $what, $says);
    }

    public static function advice(string $what, string $says, string $change): self
    {
        return new self(Severity::Advice, $what, $says, $change);
    }

    public static function problem(string $what, string $says, string $change): self
    {
        return new self(Severity::Problem, $what, $says, $change);
    }
}
