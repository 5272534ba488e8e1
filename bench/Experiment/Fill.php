<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Report\Fields;
use Larder\SharedMemory;
use Memcached;
use Redis;

/**
 * Fills a store of limited size until it evicts or refuses, and then counts what it really holds.
 *
 * The count is made by asking for the keys, not by believing the store's own figure.
 */
final class Fill implements Task
{
    private const BATCH = 500;

    public function run(Fields $arguments): array
    {
        $value = str_repeat('v', $arguments->int('length'));
        $megabytes = $arguments->int('megabytes');
        $endpoint = $arguments->string('endpoint');
        // More than can fit, even if an item cost no more than its value and key.
        $most = intdiv($megabytes << 20, $arguments->int('length') + 20);

        return ['items' => match ($arguments->string('store')) {
            'shared-memory' => $this->sharedMemory($value, $megabytes, $most),
            'apcu' => $this->apcu($value, $most),
            'redis' => $this->redis($value, $endpoint, $most),
            'memcached' => $this->memcached($value, $endpoint, $most),
            default => throw new \OutOfBoundsException('There is no store ' . $arguments->string('store') . ' to fill.'),
        }];
    }

    /**
     * A pool evicts some items before it is full and whole segments when it is, so it holds most at some moment in
     * between. The first pool is filled beyond that and finds the moment; the second is filled up to it and counted.
     */
    private function sharedMemory(string $value, int $megabytes, int $most): int
    {
        $name = 'bench-' . bin2hex(random_bytes(6));
        $items = $stored = $moment = 0;
        $fill = function (string $name, int $most) use ($value, $megabytes, &$items, &$stored, &$moment): int {
            try {
                $pool = SharedMemory::open($name, $megabytes << 20);

                return $this->fill(
                    $most,
                    static function (array $keys) use ($pool, $value, &$items, &$stored, &$moment): bool {
                        $pool->setMany(array_fill_keys($keys, $value));
                        $stored += count($keys);
                        $held = $pool->statistics()['items'];
                        if ($held > $items) {
                            [$items, $moment] = [$held, $stored];
                        }

                        return true;
                    },
                    static fn(array $keys): int => count($pool->getMany($keys)),
                );
            } finally {
                SharedMemory::remove($name);
            }
        };
        $fill("{$name}-1", $most);

        return $fill("{$name}-2", $moment);
    }

    private function apcu(string $value, int $most): int
    {
        return $this->fill(
            $most,
            static function (array $keys) use ($value): bool {
                foreach ($keys as $key) {
                    // APCu empties itself when it is full: what it held just before is what it can hold.
                    $info = apcu_sma_info(true);
                    if (!is_array($info) || $info['avail_mem'] < 2 * strlen($value) + 4096 || !apcu_store($key, $value)) {
                        return false;
                    }
                }

                return true;
            },
            static function (array $keys): int {
                $found = apcu_fetch($keys);

                return is_array($found) ? count($found) : 0;
            },
        );
    }

    private function redis(string $value, string $socket, int $most): int
    {
        $client = new Redis();
        $client->connect($socket);
        $evicted = static function () use ($client): int {
            $statistics = $client->info('stats');

            return is_array($statistics) && is_numeric($statistics['evicted_keys'] ?? null) ? (int) $statistics['evicted_keys'] : 0;
        };

        return $this->fill(
            $most,
            static function (array $keys) use ($client, $value, $evicted): bool {
                $client->mset(array_fill_keys($keys, $value));

                return $evicted() === 0;
            },
            static fn(array $keys): int => count(array_filter($client->mget($keys), is_string(...))),
        );
    }

    private function memcached(string $value, string $socket, int $most): int
    {
        $client = new Memcached();
        $client->setOption(Memcached::OPT_COMPRESSION, false);
        $client->addServer($socket, 0);

        return $this->fill(
            $most,
            static function (array $keys) use ($client, $value): bool {
                $client->setMulti(array_fill_keys($keys, $value));
                $servers = $client->getStats();
                $server = reset($servers);

                return is_array($server) && ($server['evictions'] ?? 0) === 0;
            },
            static function (array $keys) use ($client): int {
                $found = $client->getMulti($keys);

                return is_array($found) ? count($found) : 0;
            },
        );
    }

    /**
     * @param \Closure(non-empty-list<string>): bool $store stores items under these keys; false when the store is full
     * @param \Closure(non-empty-list<string>): int $count how many of these are there
     */
    private function fill(int $most, \Closure $store, \Closure $count): int
    {
        $batches = [];
        for ($first = 0; $first < $most; $first += self::BATCH) {
            $keys = array_map(static fn(int $number): string => sprintf('key-%016d', $number), range($first, $first + self::BATCH - 1));
            $batches[] = $keys;
            if (!$store($keys)) {
                break;
            }
        }
        $items = 0;
        foreach ($batches as $keys) {
            $items += $count($keys);
        }

        return $items;
    }
}
