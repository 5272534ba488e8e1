<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Codecs;
use Larder\Bench\Experiment\Pages;
use Larder\Bench\Experiment\Serializers;
use Larder\Bench\Experiment\Transients;
use Larder\Bench\Subject\Operation;
use Larder\Bench\WordPress\ObjectCache;

/** The published measurements that experiments re-create: facts as published, never mixed with ours. */
final class Sources
{
    /** Where the figures of `gets`, `connect` and `web` come from. */
    public const A = 'Konstantin Kovshenin, "Redis vs Memcached vs file_get_contents": DigitalOcean, one Intel core, 1 GB of '
        . 'memory; Redis 5.0.7 and Memcached 1.5.22 over TCP on 127.0.0.1; the file on a disk, not tmpfs; the value '
        . '"hello world"; within WordPress\'s init hook, under the profiler Xhprof; php-fpm and nginx; load by hey. '
        . 'The version of PHP is not stated.';

    public const B = 'Ollie Jones (plumislandmedia), "Benchmarks" of the SQLite Object Cache plugin: a shop\'s catalogue on Ubuntu 22.10, '
        . 'WordPress 6.0.1, PHP 8.0.27, SQLite 3.37.2, Redis 6.0.16, Apache 2.4.54; transients on Ubuntu 22.04 in VirtualBox, 6 processors '
        . 'of an AMD Ryzen 7 at 3.2 GHz, 16 GiB, PHP 8.3.16. The hardware of the catalogue\'s figures is not stated.';

    public const C = 'IT Cooking, "Redis VS Memcached 2018": AWS t2.micro, one core of a Xeon E5-2676 v3 at 2.40 GHz, Ubuntu 16.04.4; Redis '
        . '3.0.6, Memcached 1.4.25; redis-benchmark and mc-benchmark; three loops; results as charts only.';

    public const D = 'A hosting company\'s blog, "Redis part 2 – application cache benchmark: NVMe SSDs and memcached" (2019): 4 cores of a Xeon '
        . 'Gold 6254 at 3.10 GHz, 32 GB, Samsung PM1725b NVMe; Magento 1.9.4.1 with Colin Mollenhour\'s cache benchmark and 200,000 keys; '
        . 'results as charts only.';

    /** What the source concludes, in our words. */
    public const CLAIMS_OF_A = 'It concludes that files are about three times as fast in one request, ten times with connections, '
        . 'and give about 50 % more requests through the web server; that files beat servers on a single server; and that '
        . 'the kernel\'s page cache keeps files in memory. It counted 10,071 openat calls for 10,000 reads of a file.';

    /** Which source an experiment re-creates, where it has published figures. */
    public static function of(string $experiment): string
    {
        return match ($experiment) {
            'gets', 'connect', 'web' => self::A . ' ' . self::CLAIMS_OF_A,
            default => self::B,
        };
    }

    public const HEADINGS_OF_D = ['shop software', 'size', 'as delivered', 'recommended'];

    /** @return list<list<string>> what source D recommends */
    public static function adviceOfD(): array
    {
        $rows = [];
        foreach (['Shopware', 'Magento 1', 'Magento 2'] as $software) {
            array_push($rows, [$software, 'small', 'file system', 'Redis or NVMe SSDs'], [$software, 'medium to large', 'file system', 'Redis']);
        }

        return $rows;
    }

    /** @return list<Published> */
    public static function figures(): array
    {
        $figures = [];
        foreach ([['Redis', 305, 'redis-tcp'], ['Memcached', 263, 'memcached-tcp'], ['file_get_contents', 81, 'file-disk']] as [$title, $value, $subject]) {
            $figures[] = self::timed('gets', $title, $value, Operation::Get, $subject);
        }
        $hello = ['value' => 'hello', 'operation' => Operation::Get->value, 'keys' => 'one hot key'];
        $figures[] = new Published('gets', 'system calls of file_get_contents; the source counted those of openat only', 10_071, 'for 10,000', 'system calls', $hello, 'file-disk', 10_000.0);
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

        return [...$figures, ...self::serializing(), ...self::wordPress()];
    }

    /**
     * What a source's figures say in terms of each other.
     *
     * @return list<array{Published, Published}> the first is divided by the second, both of one experiment and case
     */
    public static function comparisons(): array
    {
        $pairs = [];
        $below = [];
        foreach (self::figures() as $figure) {
            if ($figure->statistic !== null) {
                continue;
            }
            $case = implode("\n", [$figure->experiment, $figure->metric, ...$figure->case]);
            if (in_array($figure->subject, ['file-disk', 'empty'], true)) {
                $below[$case] = $figure;
            }
            $pairs[$case][] = $figure;
        }
        $comparisons = [];
        foreach ($below as $case => $one) {
            foreach ($pairs[$case] as $other) {
                if ($other !== $one) {
                    $comparisons[] = [$other, $one];
                }
            }
        }

        return $comparisons;
    }

    /**
     * Source B's percentiles of one call, in µs.
     *
     * @return list<Published>
     */
    private static function serializing(): array
    {
        $figures = [];
        $published = [
            'store' => ['n' => 129, 'min' => 5.53, 'p1' => 5.56, 'p5' => 5.78, 'median' => 18.93, 'mean' => 241.10, 'p95' => 143.10, 'p99' => 3_247.99, 'max' => 23_603.06, 'range' => 23_597.53, 'mad' => 410.97, 'stdev' => 2_084.61],
            'fetch' => ['n' => 190, 'min' => 2.34, 'p1' => 2.36, 'p5' => 2.47, 'median' => 7.18, 'mean' => 13.61, 'p95' => 62.91, 'p99' => 98.62, 'max' => 125.56, 'range' => 123.21, 'mad' => 11.57, 'stdev' => 18.78],
        ];
        foreach ($published as $direction => $statistics) {
            foreach ($statistics as $statistic => $value) {
                $figures[] = new Published(
                    'serializers',
                    ($direction === 'store' ? 'gzdeflate(igbinary_serialize()), ' : 'its inverse, ') . $statistic,
                    $value,
                    $statistic === 'n' ? 'calls' : 'µs',
                    Serializers::SINGLE,
                    ['direction' => $direction],
                    Codecs::PUBLISHED,
                    $statistic === 'n' ? 1.0 : 0.001,
                    $statistic,
                );
            }
        }

        return $figures;
    }

    /**
     * Source B's transients, in µs each, and its views of a catalogue's page.
     *
     * @return list<Published>
     */
    private static function wordPress(): array
    {
        $figures = [];
        $published = [
            ['SQLite Object Cache', ObjectCache::RIVAL_SQLITE, [396, 60, 349]], ['SQLite Object Cache with APCu', ObjectCache::RIVAL_SQLITE_APCU, [370, 8, 349]],
            ['Redis Cache', ObjectCache::RIVAL_REDIS, [839, 856, 826]], ['Docket Cache', ObjectCache::RIVAL_FILES, [986, 72, 187]], ['atec APCu', ObjectCache::RIVAL_APCU, [22, 6, 4]],
        ];
        foreach ($published as [$title, $subject, $times]) {
            foreach (Transients::CALLS as $index => $call) {
                $figures[] = new Published('transients', "{$title}, {$call}; here its design, re-created", $times[$index], 'µs', Transients::TIME, ['call' => $call], $subject, 0.001);
            }
        }
        foreach ([['no object cache', ObjectCache::NONE, 13.2], ['SQLite Object Cache', ObjectCache::RIVAL_SQLITE, 18.0], ['Redis Object Cache', ObjectCache::RIVAL_REDIS, 15.0]] as [$title, $subject, $rate]) {
            $figures[] = new Published('pages', "{$title}, the catalogue's page; here on a catalogue of ours, with its design re-created", $rate, 'pages per second', Pages::RATE, ['cache' => Pages::WARM, 'page' => Pages::CATALOGUE], $subject, 1.0);
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
