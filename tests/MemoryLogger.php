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

    /**
     * Without types, as in the first version of psr/log.
     *
     * @param mixed              $level
     * @param string|\Stringable $message
     * @param array<mixed>       $context
     */
    public function log($level, $message, array $context = []): void
    {
        $this->lines[] = (\is_string($level) ? $level : '?') . ": {$message}";
        $this->contexts[] = $context;
    }
}
