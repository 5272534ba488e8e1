<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** What an experiment needs to run, and about how long it takes. */
final readonly class Needs
{
    /**
     * @param int $sharedMegabytes free in /dev/shm
     * @param int $megabytes of memory available, /dev/shm included
     * @param int $seconds about how long it takes on two processors; only to say how much time is left
     */
    public function __construct(public int $sharedMegabytes, public int $megabytes, public int $seconds) {}

    /** @return string|null what is missing in /dev/shm and what to do, as a sentence; null when there is enough */
    public function missingSharedMemory(): ?string
    {
        return self::lack('/dev/shm', $this->sharedMegabytes, intdiv((int) @disk_free_space('/dev/shm'), 1 << 20), 'remove what is not needed there, or enlarge it (mount -o remount,size=2G /dev/shm)');
    }

    /** @return string|null what memory is missing on this machine and what to do, as a sentence; null when there is enough */
    public function missingMemory(): ?string
    {
        return self::lack('memory', $this->megabytes, self::available(), 'stop something that uses much of it, or run the other experiments by name');
    }

    /** @param int $free in MiB */
    public static function lack(string $what, int $needed, int $free, string $remedy): ?string
    {
        return $free >= $needed ? null : sprintf('it needs %s MiB of %s and %s are free: %s', number_format($needed), $what, number_format($free), $remedy);
    }

    /** @return int MiB that can be had without swapping; a great many where the kernel does not say */
    private static function available(): int
    {
        return preg_match('/^MemAvailable:\s*(\d+) kB$/m', (string) @file_get_contents('/proc/meminfo'), $match) === 1 ? intdiv((int) $match[1], 1024) : PHP_INT_MAX;
    }
}
