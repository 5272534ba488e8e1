<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;
use Larder\Cache;
use Larder\Laravel\LarderStore;
use Larder\SharedMemory;
use Larder\Symfony\LarderAdapter;
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Contracts\Cache\CacheInterface;
use Symfony\Contracts\Cache\ItemInterface;

/**
 * The cost of reading one item through our adapters. They are measured by Symfony's array that serialises nothing, and by the
 * library's own get().
 *
 * All read the same item in turns, in one process.
 */
final class AdapterReads implements Task
{
    private const BLOCKS = 20;
    private const READS = 5_000;
    private const KEY = 'item';

    public function run(Fields $arguments): array
    {
        $name = 'bench-' . bin2hex(random_bytes(6));
        $laravel = $arguments->string('laravel');
        try {
            $cache = Cache::open("shm:{$name}?size={$arguments->int('bytes')}");
            $value = str_repeat('value ', 80);
            $loops = self::symfony($cache, $value) + (LaravelTags::lack($laravel, false) === null ? self::laravel($cache, $laravel, $value) : []);
            $found = [];
            // The first is for what is done for the first time.
            for ($block = -1; $block < self::BLOCKS; $block++) {
                foreach ($block % 2 === 0 ? $loops : array_reverse($loops) as $which => $loop) {
                    $begin = hrtime(true);
                    $last = $loop();
                    $time = (hrtime(true) - $begin) / self::READS;
                    if ($last !== $value) {
                        throw new \UnexpectedValueException("What {$which} reads is not what was stored: its figures would be worth nothing.");
                    }
                    if ($block >= 0) {
                        $found["{$which} {$block}"] = round($time, 1);
                    }
                }
            }

            return $found;
        } finally {
            SharedMemory::remove($name);
        }
    }

    /** @return array<string, \Closure(): mixed> what reads the item many times and returns what it read last, by subject */
    private static function symfony(Cache $cache, string $value): array
    {
        $compute = static function (ItemInterface $item) use ($value): string {
            $item->expiresAfter(3_600);

            return $value;
        };
        $reads = static function (CacheInterface $pool) use ($compute): \Closure {
            $pool->get(self::KEY, $compute);

            return static function () use ($pool, $compute): mixed {
                for ($read = 1; $read < self::READS; $read++) {
                    $pool->get(self::KEY, $compute);
                }

                return $pool->get(self::KEY, $compute);
            };
        };

        return ['symfony-shared-memory' => $reads(new LarderAdapter($cache, 'symfony')), 'symfony-array' => $reads(new ArrayAdapter(0, false))];
    }

    /** @return array<string, \Closure(): mixed> as of symfony() */
    private static function laravel(Cache $cache, string $directory, string $value): array
    {
        LaravelTags::autoload($directory);
        $store = new LarderStore($cache, 'laravel:');
        $store->put(self::KEY, $value, 3_600);
        $cache->set(self::KEY, $value, 3_600);

        return [
            'laravel-shared-memory' => static function () use ($store): mixed {
                for ($read = 1; $read < self::READS; $read++) {
                    $store->get(self::KEY);
                }

                return $store->get(self::KEY);
            },
            'cache-shared-memory' => static function () use ($cache): mixed {
                for ($read = 1; $read < self::READS; $read++) {
                    $cache->get(self::KEY);
                }

                return $cache->get(self::KEY);
            },
        ];
    }
}
