<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Larder\Bench\Server\RedisFlavour;
use Predis\Client;
use Redis;

/** Redis and Valkey, by phpredis and by Predis, over each kind of link. */
final class RedisSubjects
{
    public static function over(RedisLink $link, RedisFlavour $flavour): Subject
    {
        return new Subject(
            name: "{$flavour->value}-{$link->value}",
            title: "{$flavour->title()} {$link->title()}",
            family: Family::Server,
            open: static fn(Place $place, Value $value): object => $link->isPredis()
                ? self::predis($place, $link->usesTcp())
                : self::phpredis($place, $value, $link->usesTcp()),
            read: static fn(Value $value): string => self::read($link, $value),
            write: static fn(Value $value): string => $link->isPredis() && !$value->isString
                ? '$client->set($key, ' . Extension::serialize('$value') . ');'
                : '$client->set($key, $value);',
            close: static function (mixed $client): void {
                if ($client instanceof Redis) {
                    $client->flushAll();
                    $client->close();
                }
                if ($client instanceof Client) {
                    $client->flushall();
                    $client->disconnect();
                }
            },
            connect: $link === RedisLink::Pipelined || $link->isConnecting()
                ? null
                : static fn(Value $value): string => self::connect($link, $value),
            missing: static fn(): ?string => $link->isPredis()
                ? (class_exists(Client::class) ? null : 'the Composer package predis/predis is not installed: run `composer install`')
                : Extension::missing('redis', 'php-redis'),
            exempt: static fn(Operation $operation, Value $value): ?string => match (true) {
                $operation === Operation::Set && ($link === RedisLink::Pipelined || $link->isConnecting())
                    => 'its writes are those of the subject without the pipeline or with a lasting connection',
                $link->isConnecting() && $operation !== Operation::Get => 'what follows the read is as without connecting',
                default => null,
            },
            server: $flavour === RedisFlavour::Redis ? ServerKind::Redis : ServerKind::Valkey,
            batch: $link === RedisLink::Pipelined ? 100 : 1,
        );
    }

    /** For comparison with the library. */
    public static function many(): Subject
    {
        return new Subject(
            name: 'redis-mget',
            title: 'Redis over a Unix socket, ' . LibrarySubjects::BATCH . ' keys an MGET',
            family: Family::Server,
            open: static fn(Place $place, Value $value): Redis => self::phpredis($place, $value, false),
            read: static fn(): string => '$client->mget($keys)',
            write: static fn(): string => '$client->set($key, $value);',
            close: static function (mixed $client): void {
                if ($client instanceof Redis) {
                    $client->flushAll();
                    $client->close();
                }
            },
            missing: static fn(): ?string => Extension::missing('redis', 'php-redis'),
            exempt: LibrarySubjects::exceptReadsOfPosts(...),
            server: ServerKind::Redis,
            batch: LibrarySubjects::BATCH,
        );
    }

    public static function phpredis(Place $place, Value $value, bool $tcp): Redis
    {
        $client = new Redis();
        $tcp ? $client->connect($place->host(), $place->port()) : $client->connect($place->socket());
        if (!$value->isString) {
            $client->setOption(Redis::OPT_SERIALIZER, self::serializer());
        }

        return $client;
    }

    private static function predis(Place $place, bool $tcp): Client
    {
        return new Client(self::predisParameters($place, $tcp));
    }

    /** @return array<string, string|int> */
    public static function predisParameters(Place $place, bool $tcp): array
    {
        return $tcp
            ? ['scheme' => 'tcp', 'host' => $place->host(), 'port' => $place->port()]
            : ['scheme' => 'unix', 'path' => $place->socket()];
    }

    /** A pipeline of reads. */
    private static function read(RedisLink $link, Value $value): string
    {
        return match (true) {
            $link === RedisLink::Pipelined => '\Larder\Bench\Subject\RedisSubjects::pipeline($client, $keys)',
            $link->isConnecting() => '(static function () use ($place, $key) { '
                . self::connect($link, $value) . ' return $value; })()',
            $link->isPredis() && !$value->isString => Extension::unserialize('$client->get($key)'),
            default => '$client->get($key)',
        };
    }

    /**
     * @param list<string> $keys
     * @return list<mixed>
     */
    public static function pipeline(Redis $client, array $keys): array
    {
        $pipeline = $client->pipeline();
        foreach ($keys as $key) {
            $pipeline->get($key);
        }
        $values = $pipeline->exec();

        return is_array($values) ? array_values($values) : [];
    }

    private static function connect(RedisLink $link, Value $value): string
    {
        $tcp = var_export($link->usesTcp(), true);
        if ($link->isPredis()) {
            return "\$fresh = new \\Predis\\Client(\\Larder\\Bench\\Subject\\RedisSubjects::predisParameters(\$place, {$tcp})); \$value = "
                . ($value->isString ? '$fresh->get($key)' : Extension::unserialize('$fresh->get($key)')) . '; $fresh->disconnect();';
        }

        return '$fresh = new \Redis(); '
            . ($link->usesTcp() ? '$fresh->connect($place->host(), $place->port());' : '$fresh->connect($place->socket());')
            . ($value->isString ? '' : ' $fresh->setOption(\Redis::OPT_SERIALIZER, ' . self::serializer() . ');')
            . ' $value = $fresh->get($key); $fresh->close();';
    }

    private static function serializer(): int
    {
        // phpredis can be built without igbinary while igbinary is loaded.
        return Extension::hasIgbinary() && defined('Redis::SERIALIZER_IGBINARY') ? Redis::SERIALIZER_IGBINARY : Redis::SERIALIZER_PHP;
    }
}
