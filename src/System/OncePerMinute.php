<?php

declare(strict_types=1);

namespace Larder\System;

/**
 * Keeps the processes of a user on this machine from logging the same again and again. Each cause has a file in the user's directory, with
 * the time at which it was logged last.
 */
final class OncePerMinute
{
    /** Seconds. */
    private const BETWEEN = 60.0;

    private const BEGINNING = 'told-';

    /** @var array<string, float> Unix seconds, by cause; where there is no directory for files, that is all */
    private array $told = [];

    /**
     * @param ?string            $directory where the files are; null: one of this user's, in the system's for temporary files
     * @param ?\Closure(): float $clock     Unix seconds; null: PHP's
     */
    public function __construct(
        private readonly ?string $directory = null,
        private readonly ?\Closure $clock = null,
    ) {}

    /**
     * Whether no process of this user has told of it within a minute.
     *
     * @param array<mixed> $context a logger's: the exception, what is the cause in words, and the store
     */
    public function isNews(string $message, array $context): bool
    {
        $failure = $context['exception'] ?? $context['why'] ?? '';
        $why = $failure instanceof \Throwable ? Cause::first($failure->getMessage()) : (\is_string($failure) ? $failure : '');
        $store = \is_string($context['store'] ?? null) ? $context['store'] : '';
        $cause = hash('xxh128', "{$message}\0{$store}\0{$why}");
        $now = $this->clock === null ? microtime(true) : ($this->clock)();
        if (abs($now - ($this->told[$cause] ?? -\INF)) < self::BETWEEN) {
            return false;
        }
        $this->told[$cause] = $now;
        $place = UserDirectory::at($this->directory);
        $path = $place === null ? '' : "{$place->path}/" . self::BEGINNING . $cause;
        if ($place !== null && !@is_file($path)) {
            UserDirectory::tidy($place->path, self::BEGINNING);
        }
        $file = $place?->open($path) ?? false;
        if ($place === null || $file === false || !$place->holds($file, $path)) {
            return true;
        }
        // Another process that holds it is about to tell.
        if (!flock($file, \LOCK_EX | \LOCK_NB)) {
            return false;
        }
        if (abs($now - (float) fread($file, 64)) < self::BETWEEN) {
            return false;
        }
        rewind($file);
        ftruncate($file, 0);
        // Where the disk is full, the file is empty, and each process tells for itself.
        @fwrite($file, \sprintf('%.6F', $now));

        return true;
    }
}
