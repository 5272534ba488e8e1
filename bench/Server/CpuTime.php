<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/** Processor time of other processes, as the kernel counts it. */
final class CpuTime
{
    /** @return int ns that this process took, user and system */
    public static function ofThisProcess(): int
    {
        /** @var array{'ru_utime.tv_sec': int, 'ru_utime.tv_usec': int, 'ru_stime.tv_sec': int, 'ru_stime.tv_usec': int} $usage */
        $usage = getrusage();

        return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1_000_000_000
            + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) * 1000;
    }

    /** The kernel's clock tick that /proc/<pid>/stat counts in: USER_HZ, 100 on every Linux that PHP runs on. */
    private const TICK_NS = 10_000_000;

    /**
     * User and system time together, of all threads alive.
     *
     * From schedstat, which counts nanoseconds; from stat, in ticks of 10 ms, where the kernel has no schedstat.
     *
     * @param list<int> $processIds
     * @return int nanoseconds
     */
    public static function of(array $processIds): int
    {
        $total = 0;
        foreach ($processIds as $processId) {
            $threads = glob("/proc/{$processId}/task/*/schedstat");
            if ($threads === false || $threads === []) {
                $total += self::ticks($processId) * self::TICK_NS;
                continue;
            }
            foreach ($threads as $thread) {
                // A thread may end between the listing and the reading.
                $total += (int) strtok((string) @file_get_contents($thread), ' ');
            }
        }

        return $total;
    }

    /**
     * A process and everything it started, and what those started.
     *
     * @return list<int>
     */
    public static function family(int $processId): array
    {
        $children = [];
        foreach (glob('/proc/[0-9]*/stat') ?: [] as $file) {
            $fields = self::fields($file);
            if ($fields !== null) {
                $children[(int) $fields[1]][] = (int) basename(dirname($file));
            }
        }
        $family = [$processId];
        for ($i = 0; $i < count($family); $i++) {
            array_push($family, ...$children[$family[$i]] ?? []);
        }

        return $family;
    }

    /** Whether the process runs (a zombie does not). */
    public static function isAlive(int $processId): bool
    {
        $fields = self::fields("/proc/{$processId}/stat");

        return $fields !== null && $fields[0] !== 'Z' && $fields[0] !== 'X';
    }

    private static function ticks(int $processId): int
    {
        $fields = self::fields("/proc/{$processId}/stat");

        return $fields === null ? 0 : (int) ($fields[11] ?? 0) + (int) ($fields[12] ?? 0);
    }

    /** @return non-empty-list<string>|null the fields after the name: state, parent, ... */
    private static function fields(string $file): ?array
    {
        $stat = (string) @file_get_contents($file);
        // The name may hold spaces and parentheses; it ends at the last one.
        $end = strrpos($stat, ') ');

        return $end === false ? null : explode(' ', substr($stat, $end + 2));
    }
}
