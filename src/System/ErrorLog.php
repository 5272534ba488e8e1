<?php

declare(strict_types=1);

namespace Larder\System;

use Psr\Log\AbstractLogger;
use Psr\Log\LogLevel;

/**
 * PHP's error log, for a cache without a logger. It gets warnings and errors, each once a minute on this machine, even if many processes
 * have the same to say (see OncePerMinute).
 */
final class ErrorLog extends AbstractLogger
{
    private const LEVELS = [LogLevel::EMERGENCY, LogLevel::ALERT, LogLevel::CRITICAL, LogLevel::ERROR, LogLevel::WARNING];

    private readonly OncePerMinute $once;

    /**
     * @param ?string                  $directory where the files are; null: one of this user's, in the system's for temporary files
     * @param ?\Closure(string): mixed $write     a line; null: PHP's error_log()
     * @param ?\Closure(): float       $clock     Unix seconds; null: PHP's
     */
    public function __construct(
        ?string $directory = null,
        private readonly ?\Closure $write = null,
        ?\Closure $clock = null,
    ) {
        $this->once = new OncePerMinute($directory, $clock);
    }

    /**
     * Without types, as in the first version of psr/log.
     *
     * @param mixed              $level
     * @param string|\Stringable $message
     * @param array<mixed>       $context
     */
    public function log($level, $message, array $context = []): void
    {
        if (!\in_array($level, self::LEVELS, true)) {
            return;
        }
        $failure = $context['exception'] ?? null;
        if (!$this->once->isNews((string) $message, $context)) {
            return;
        }
        $why = $failure instanceof \Throwable ? Cause::first($failure->getMessage()) : (\is_string($context['why'] ?? null) ? $context['why'] : '');
        $line = 'Larder: ' . $message . ($why === '' ? '' : " {$why}") . self::about($context);
        $this->write === null ? error_log($line) : ($this->write)($line);
    }

    /** @param array<mixed> $context */
    private static function about(array $context): string
    {
        $about = [];
        foreach (['keys', 'tags'] as $name) {
            $names = array_filter(\is_array($context[$name] ?? null) ? $context[$name] : [], is_string(...));
            if ($names !== []) {
                $shown = implode(', ', array_map(static fn(string $each): string => addcslashes(substr($each, 0, 60), "\0..\37\"\\\177..\377"), \array_slice($names, 0, 3)));
                $about[] = "{$name}: {$shown}" . (\count($names) > 3 ? ' and ' . \count($names) - 3 . ' more' : '');
            }
        }
        foreach (['others since the last line', 'calls'] as $name) {
            if (\is_int($context[$name] ?? null) && $context[$name] > 0) {
                $about[] = "{$name}: {$context[$name]}";
            }
        }

        return $about === [] ? '' : ' (' . implode('; ', $about) . ')';
    }
}
