<?php

declare(strict_types=1);

namespace Larder\Tests;

use Psr\Log\AbstractLogger;

/** Keeps what is logged. */
final class MemoryLogger extends AbstractLogger
{
    /** @var list<string> level and message */
    public array $lines = [];

    /** @var list<array<mixed>> of the lines */
    public array $contexts = [];

    /** @param array<mixed> $context */
    public function log(mixed $level, string|\Stringable $message, array $context = []): void
    {
        $this->lines[] = (\is_string($level) ? $level : '?') . ": {$message}";
        $this->contexts[] = $context;
    }
}
