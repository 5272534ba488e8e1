<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Subject\Operation;

/** The published measurements that experiments re-create: facts as published, never mixed with ours. */
final class Sources
{
    /** Where the figures of `gets`, `connect` and `web` come from. */
    public const A = 'Konstantin Kovshenin, "Redis vs Memcached vs file_get_contents": DigitalOcean, one Intel core, 1 GB of '
        . 'memory; Redis 5.0.7 and Memcached 1.5.22 over TCP on 127.0.0.1; the file on a disk, not tmpfs; the value '
        . '"hello world"; within WordPress\'s init hook, under the profiler Xhprof; php-fpm and nginx; load by hey. '
        . 'The version of PHP is not stated.';

    /** What the source concludes, in our words. */
    public const CLAIMS_OF_A = 'It concludes that files are about three times as fast in one request, ten times with connections, '
        . 'and give about 50 % more requests through the web server; that files beat servers on a single server; and that '
        . 'the kernel\'s page cache keeps files in memory. It counted 10,071 openat calls for 10,000 reads of a file.';

    /** @return list<Published> */
    public static function figures(): array
    {
        $figures = [];
        foreach ([['Redis', 305, 'redis-tcp'], ['Memcached', 263, 'memcached-tcp'], ['file_get_contents', 81, 'file-disk']] as [$title, $value, $subject]) {
            $figures[] = self::timed('gets', $title, $value, Operation::Get, $subject);
        }
        foreach ([['Redis', 1258, 'redis-tcp'], ['Memcached', 1127, 'memcached-tcp'], ['file_get_contents', 110, 'file-disk']] as [$title, $value, $subject]) {
            $figures[] = self::timed('connect', $title, $value, Operation::Connect, $subject);
        }
        foreach (['1' => [3200, 2900, 1900, 1800], '50' => [2200, 2100, 1400, 1400]] as $concurrency => $rates) {
            foreach (['empty', 'file', 'memcached', 'redis'] as $index => $subject) {
                $figures[] = new Published(
                    'web',
                    ['empty' => 'empty script', 'file' => 'file_get_contents', 'memcached' => 'Memcached', 'redis' => 'Redis'][$subject] . ", concurrency {$concurrency}",
                    $rates[$index],
                    'requests per second',
                    'requests per second',
                    ['value' => 'hello', 'keep-alive' => 'off', 'concurrency' => (string) $concurrency],
                    $subject,
                    1.0,
                );
            }
        }

        return $figures;
    }

    private static function timed(string $experiment, string $title, float $value, Operation $operation, string $subject): Published
    {
        return new Published(
            $experiment,
            $title,
            $value,
            'ms for 10,000',
            'time',
            ['value' => 'hello', 'operation' => $operation->value, 'keys' => 'one hot key'],
            $subject,
            10_000 / 1_000_000,
        );
    }
}
