<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Cache;
use Redis;

/** A request of one host reads 200 pages: from its own memory once it has asked the log, or from Redis. */
final class HostPages implements Task
{
    public const PAGES = 200;
    public const TIER = 'the log and the near store';
    public const GET = 'one GET';
    public const MGET = 'one MGET';
    public const GETS = '200 GETs';
    public const NEAR = 'near hit';
    public const ALONE = 'hit without a far store';
    /** Bytes of half a page. */
    private const HALF = 15_000;
    /** Pages that are stored at once: each of so few may take a good part of the time that the client waits at most. */
    private const TOGETHER = 4;
    /** Requests whose median is a sample; of the slowest ways, one is. */
    private const REQUESTS = 9;
    private const HITS = 20_000;

    public function run(Fields $arguments): array
    {
        [$host, $port] = [$arguments->string('address'), $arguments->int('port')];
        $redis = new Redis();
        $redis->connect($host, $port);
        $tier = Cache::open("shm:?size=64M > redis://{$host}:{$port}", strict: true);
        $alone = Cache::open('shm:alone?size=64M', strict: true);
        $keys = $pages = [];
        for ($page = 0; $page < self::PAGES; $page++) {
            $keys[] = "page{$page}";
            $pages["page{$page}"] = random_bytes(self::HALF) . str_repeat('x', self::HALF);
        }
        $redis->mSet(array_combine(array_map(static fn(string $key): string => "plain:{$key}", $keys), $pages));
        foreach (array_chunk($pages, self::TOGETHER, true) as $some) {
            $tier->setMany($some);
        }
        $alone->setMany($pages);
        $tier->getMany($keys);
        $plain = array_map(static fn(string $key): string => "plain:{$key}", $keys);
        $ways = [
            self::TIER => static function () use ($tier, $keys): mixed {
                $tier->refresh();

                return array_values($tier->getMany($keys));
            },
            self::GET => static fn(): mixed => [$redis->get('plain:page7')],
            self::MGET => static fn(): mixed => $redis->mGet($plain),
            self::GETS => static fn(): mixed => array_map($redis->get(...), $plain),
        ];
        foreach ($ways as $name => $way) {
            if ($way() !== ($name === self::GET ? [$pages['page7']] : array_values($pages))) {
                throw new \UnexpectedValueException("{$name} returns something else than the pages.");
            }
        }
        $blocks = [];
        for ($block = 0; $block < $arguments->int('blocks'); $block++) {
            foreach (Shuffled::of($ways) as $name => $way) {
                $blocks[$block][$name] = self::median($way, in_array($name, [self::MGET, self::GETS], true) ? 1 : self::REQUESTS);
            }
            foreach (Shuffled::of([self::NEAR => $tier, self::ALONE => $alone]) as $name => $cache) {
                $blocks[$block][$name] = self::hits($cache, $keys);
            }
        }

        return ['blocks' => $blocks];
    }

    /** @param \Closure(): mixed $way */
    private static function median(\Closure $way, int $times): int
    {
        $taken = [];
        for ($i = 0; $i < $times; $i++) {
            $began = hrtime(true);
            $way();
            $taken[] = hrtime(true) - $began;
        }
        sort($taken);

        return $taken[intdiv($times, 2)];
    }

    /**
     * @param list<string> $keys
     * @return float ns of one
     */
    private static function hits(Cache $cache, array $keys): float
    {
        // The first read of a request asks the log.
        $cache->get($keys[0]);
        $order = [];
        for ($i = 0; $i < self::HITS; $i++) {
            $order[] = $keys[mt_rand(0, self::PAGES - 1)];
        }
        $began = hrtime(true);
        foreach ($order as $key) {
            $cache->get($key);
        }

        return (hrtime(true) - $began) / self::HITS;
    }
}
