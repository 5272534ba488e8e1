<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Cache;
use Redis;
use Symfony\Component\Cache\Adapter\ApcuAdapter;
use Symfony\Component\Cache\Adapter\ChainAdapter;
use Symfony\Component\Cache\Adapter\RedisAdapter;

/** What the hosts of `hosts` read through: how a request begins, reads and writes. */
final readonly class HostCache
{
    public const REDIS = 'redis';
    public const APCU = 'apcu-before-redis';
    public const CHAIN = 'symfony-chain';
    public const TIER_APCU = 'cache-tier-apcu-redis';
    public const TIER_POOL = 'cache-tier-shared-memory-redis';
    public const TITLES = [
        self::REDIS => 'Redis alone',
        self::APCU => 'APCu before Redis, without coherence',
        self::CHAIN => "Symfony's chain of APCu and Redis",
        self::TIER_APCU => 'Larder\Cache over APCu before Redis',
        self::TIER_POOL => 'Larder\Cache over shared memory before Redis',
    ];
    /** Seconds for which a host without coherence keeps what it has read. */
    public const KEPT = 60;

    /**
     * @param \Closure(): mixed $begin
     * @param \Closure(string): mixed $read null: it is not there
     * @param \Closure(string, mixed): mixed $write
     * @param \Closure(list<string>): mixed $readAll so that what is near holds them
     */
    private function __construct(public \Closure $begin, public \Closure $read, public \Closure $write, public \Closure $readAll) {}

    public static function of(string $subject, string $host, int $port): self
    {
        $redis = new Redis();
        $redis->pconnect($host, $port);
        $redis->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_PHP);
        $nothing = static function (): void {};

        return match ($subject) {
            self::REDIS => new self(
                $nothing,
                static fn(string $key): mixed => ($value = $redis->get($key)) === false ? null : $value,
                static fn(string $key, mixed $value): mixed => $redis->set($key, $value),
                $redis->mGet(...),
            ),
            self::APCU => new self(
                $nothing,
                static function (string $key) use ($redis): mixed {
                    $value = apcu_fetch($key, $isFound);
                    if (!$isFound) {
                        $value = $redis->get($key);
                        if ($value === false) {
                            return null;
                        }
                        apcu_store($key, $value, self::KEPT);
                    }

                    return $value;
                },
                static function (string $key, mixed $value) use ($redis): void {
                    $redis->set($key, $value);
                    apcu_store($key, $value, self::KEPT);
                },
                static fn(array $keys): mixed => apcu_store(array_combine($keys, (array) $redis->mGet($keys)), null, self::KEPT),
            ),
            self::CHAIN => self::chain(new ChainAdapter([new ApcuAdapter('', self::KEPT), new RedisAdapter(RedisAdapter::createConnection("redis://{$host}:{$port}"))], self::KEPT)),
            default => self::tier(Cache::open(($subject === self::TIER_POOL ? 'shm:?size=64M' : 'apcu:') . " > redis://{$host}:{$port}", strict: true)),
        };
    }

    private static function chain(ChainAdapter $pool): self
    {
        return new self(
            static function (): void {},
            static fn(string $key): mixed => $pool->getItem($key)->get(),
            static fn(string $key, mixed $value): mixed => $pool->save($pool->getItem($key)->set($value)),
            static fn(array $keys): mixed => iterator_to_array($pool->getItems($keys)),
        );
    }

    private static function tier(Cache $cache): self
    {
        return new self($cache->refresh(...), $cache->get(...), $cache->set(...), $cache->getMany(...));
    }
}
