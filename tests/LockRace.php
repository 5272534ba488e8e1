<?php

declare(strict_types=1);

namespace Larder\Tests;

use Larder\Tests\Contract\Crowd;

/** Processes that each count in one file under a lock. Two that have the lock at once lose a count. */
final class LockRace
{
    private const PROCESSES = 4;

    private const ROUNDS = 25;

    public const COUNTS = self::PROCESSES * self::ROUNDS;

    private function __construct() {}

    /**
     * @param \Closure(): (\Closure(): ((\Closure(): mixed)|null)) $open runs in each process, and returns how to take the lock: null if another process
     *     has it, otherwise how to release it
     *
     * @return int the file's last count
     */
    public static function run(string $counter, \Closure $open): int
    {
        file_put_contents($counter, '0');
        Crowd::of(self::PROCESSES, static function () use ($counter, $open): void {
            $take = $open();
            for ($round = 0; $round < self::ROUNDS; $round++) {
                while (($release = $take()) === null) {
                    usleep(random_int(100, 2_000));
                }
                file_put_contents($counter, (string) (1 + (int) file_get_contents($counter)));
                $release();
            }
        });

        return (int) file_get_contents($counter);
    }
}
