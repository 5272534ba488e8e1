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

    /** What an exception of Larder's says ends with what to do about it, after the last semicolon. */
    public static function failure(string $what, \Throwable $failure): self
    {
        $says = $failure->getMessage();
        $remedy = strrpos($says, '; ');

        return $remedy === false ? new self(Severity::Problem, $what, $says) : new self(Severity::Problem, $what, substr($says, 0, $remedy) . '.', rtrim(substr($says, $remedy + 2), '.'));
    }

    public static function problem(string $what, string $says, string $change): self
    {
        return new self(Severity::Problem, $what, $says, $change);
    }
}
