<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Subject\Values;
use Redis;

/** Serialisers and compressions, alone and together; times them on every value in turns. */
final class Codecs implements Task
{
    public const BLOCKS = 5;
    /** What source B times, one call at a time. */
    public const PUBLISHED = 'igbinary+zlib';
    private const SERIALIZERS = ['php', 'igbinary'];
    private const COMPRESSIONS = ['none', 'zlib', 'lz4', 'zstd'];
    private const VALUES = ['string-1k', 'page', 'list', 'map', 'alloptions', 'post', 'entity', 'product'];
    /** Calls that are timed one by one, of each value and direction. */
    private const SINGLE = 25;

    /** @return array<string, string> */
    public static function titles(): array
    {
        $titles = [];
        foreach (self::SERIALIZERS as $serializer) {
            foreach (self::COMPRESSIONS as $compression) {
                $titles["{$serializer}+{$compression}"] = ($serializer === 'php' ? 'serialize' : 'igbinary') . match ($compression) {
                    'none' => '',
                    'zlib' => ' and gzdeflate',
                    'lz4' => ' and LZ4',
                    'zstd' => ' and Zstandard',
                };
            }
        }

        return $titles;
    }

    public function run(Fields $arguments): array
    {
        $found = [];
        $pairs = [];
        foreach (self::SERIALIZERS as $serializer) {
            foreach (self::COMPRESSIONS as $compression) {
                $name = "{$serializer}+{$compression}";
                $pair = self::pair($serializer, $compression, $arguments->string('socket'));
                if (is_string($pair)) {
                    $found["missing|{$name}"] = $pair;
                } else {
                    $pairs[$name] = $pair;
                }
            }
        }
        foreach (self::VALUES as $value) {
            $found += $this->time($value, $pairs, $arguments->int('microseconds'));
        }

        return [...$found, ...$this->single($pairs)];
    }

    /**
     * @param array<string, array{\Closure(mixed): string, \Closure(mixed): mixed}> $pairs
     * @return array<string, float|int>
     */
    private function time(string $name, array $pairs, int $microseconds): array
    {
        $found = [];
        $value = Values::named($name)->make(0);
        $bytes = [];
        /** @var array<string, array{\Closure(mixed): mixed, mixed}> $calls */
        $calls = [];
        foreach ($pairs as $codec => [$encode, $decode]) {
            $bytes[$codec] = $encode($value);
            $found["bytes|{$codec}|{$name}"] = strlen($bytes[$codec]);
            if (serialize($decode($bytes[$codec])) !== serialize($value)) {
                throw new \UnexpectedValueException("The value {$name} did not survive {$codec}: its figures would be worth nothing.");
            }
            $calls["{$codec}|{$name}|store"] = [$encode, $value];
            $calls["{$codec}|{$name}|fetch"] = [$decode, $bytes[$codec]];
        }
        $rounds = [];
        for ($block = -1; $block < self::BLOCKS; $block++) {
            $names = array_keys($calls);
            shuffle($names);
            foreach ($names as $call) {
                [$function, $argument] = $calls[$call];
                $count = $rounds[$call] ?? 1;
                $meter = CpuMeter::start();
                $begin = hrtime(true);
                for ($round = 0; $round < $count; $round++) {
                    $function($argument);
                }
                $taken = max(1, hrtime(true) - $begin);
                // The first turn only finds out how long a call takes.
                if ($block >= 0) {
                    [$found["cpu|{$call}|{$block}"]] = $meter->perOperation($count);
                    $found["time|{$call}|{$block}"] = round($taken / $count, 1);
                } else {
                    $rounds[$call] = max(1, (int) ($microseconds * 1000 / $taken));
                }
            }
        }

        return $found;
    }

    /**
     * Each call on its own, as a site makes it, on all values in turns.
     *
     * @param array<string, array{\Closure(mixed): string, \Closure(mixed): mixed}> $pairs
     * @return array<string, float|int>
     */
    private function single(array $pairs): array
    {
        $found = [];
        if (!isset($pairs[self::PUBLISHED])) {
            return $found;
        }
        [$encode, $decode] = $pairs[self::PUBLISHED];
        $number = 0;
        for ($call = 0; $call < self::SINGLE; $call++) {
            foreach (self::VALUES as $name) {
                $value = Values::named($name)->make($call);
                $begin = hrtime(true);
                $bytes = $encode($value);
                $middle = hrtime(true);
                $decode($bytes);
                $end = hrtime(true);
                $found['single|' . self::PUBLISHED . "|{$name}|store|{$number}"] = $middle - $begin;
                $found['single|' . self::PUBLISHED . "|{$name}|fetch|{$number}"] = $end - $middle;
                $number++;
            }
        }

        return $found;
    }

    /** @return array{\Closure(mixed): string, \Closure(mixed): mixed}|string what stores and what fetches, or why there is no such pair here */
    private static function pair(string $serializer, string $compression, string $socket): array|string
    {
        if ($serializer === 'igbinary' && !function_exists('igbinary_serialize')) {
            return 'the PHP extension igbinary is not loaded: install php-igbinary';
        }
        $compressor = self::compressor($compression, $socket);
        if (is_string($compressor)) {
            return $compressor;
        }
        [$compress, $uncompress] = $compressor;
        [$serialize, $unserialize] = $serializer === 'php' ? [serialize(...), unserialize(...)] : [igbinary_serialize(...), igbinary_unserialize(...)];

        return $compress === null || $uncompress === null
            ? [static fn(mixed $value): string => (string) $serialize($value), static fn(mixed $bytes): mixed => $unserialize(is_string($bytes) ? $bytes : '')]
            : [static fn(mixed $value): string => $compress((string) $serialize($value)), static fn(mixed $bytes): mixed => $unserialize($uncompress(is_string($bytes) ? $bytes : ''))];
    }

    /** @return array{(\Closure(string): string)|null, (\Closure(string): string)|null}|string */
    private static function compressor(string $compression, string $socket): array|string
    {
        if ($compression === 'none') {
            return [null, null];
        }
        if ($compression === 'zlib') {
            return [static fn(string $bytes): string => (string) gzdeflate($bytes), static fn(string $bytes): string => (string) gzinflate($bytes)];
        }
        foreach ([['zstd', 'zstd_compress', 'zstd_uncompress'], ['lz4', 'lz4_compress', 'lz4_uncompress']] as [$name, $compress, $uncompress]) {
            if ($name === $compression && function_exists($compress) && function_exists($uncompress)) {
                return [
                    static fn(string $bytes): string => is_string($result = $compress($bytes)) ? $result : '',
                    static fn(string $bytes): string => is_string($result = $uncompress($bytes)) ? $result : '',
                ];
            }
        }

        return self::byRedis($compression, $socket);
    }

    /** @return array{\Closure(string): string, \Closure(string): string}|string */
    private static function byRedis(string $compression, string $socket): array|string
    {
        $constant = 'Redis::COMPRESSION_' . strtoupper($compression);
        if ($socket === '' || !defined($constant)) {
            return "neither the PHP extension {$compression} nor a phpredis that has it is here: install one of them, and Redis";
        }
        $client = new Redis();
        $client->connect($socket);
        $client->setOption(Redis::OPT_COMPRESSION, constant($constant));

        return [
            static fn(string $bytes): string => $client->_compress($bytes),
            static fn(string $bytes): string => $client->_uncompress($bytes),
        ];
    }
}
