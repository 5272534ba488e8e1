<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Memcached;

/** Memcached by the extension of its name. */
final class MemcachedSubjects
{
    /** @param int $batch how many keys a read asks for; more than 1 over the Unix socket only */
    public static function over(bool $tcp, int $batch = 1): Subject
    {
        $server = $tcp ? '$place->host(), $place->port()' : '$place->socket(), 0';

        return new Subject(
            name: $batch > 1 ? 'memcached-multi' : ($tcp ? 'memcached-tcp' : 'memcached-unix'),
            title: 'Memcached ' . ($tcp ? 'over TCP' : 'over a Unix socket') . ($batch > 1 ? ", {$batch} reads a getMulti" : ''),
            family: Family::Server,
            open: static fn(Place $place): Memcached => self::client($place, $tcp),
            read: static fn(): string => $batch > 1 ? '\Larder\Bench\Subject\MemcachedSubjects::multi($client, $keys)' : '$client->get($key)',
            write: static fn(): string => '$client->set($key, $value);',
            close: static function (mixed $client): void {
                if ($client instanceof Memcached) {
                    $client->flush();
                    $client->quit();
                }
            },
            connect: $batch > 1 ? null : static fn(): string => "\$fresh = new \\Memcached(); \$fresh->addServer({$server});"
                . ' $value = $fresh->get($key); $fresh->quit();',
            missing: static fn(): ?string => Extension::missing('memcached', 'php-memcached'),
            exempt: static fn(Operation $operation): ?string => $batch > 1 && $operation === Operation::Set ? 'its writes are those of the subject that asks one by one' : null,
            server: $tcp ? ServerKind::MemcachedPort : ServerKind::MemcachedSocket,
            batch: $batch,
        );
    }

    /**
     * @param list<string> $keys one may be asked for several times, which the server answers as often
     * @return list<mixed>
     */
    public static function multi(Memcached $client, array $keys): array
    {
        $found = $client->getMulti($keys);

        return array_map(static fn(string $key): mixed => $found[$key] ?? null, $keys);
    }

    private static function client(Place $place, bool $tcp): Memcached
    {
        $client = new Memcached();
        $client->setOption(
            Memcached::OPT_SERIALIZER,
            Extension::hasIgbinary() && Memcached::HAVE_IGBINARY ? Memcached::SERIALIZER_IGBINARY : Memcached::SERIALIZER_PHP,
        );
        // Compression has its own experiment; here everyone stores the value as it is.
        $client->setOption(Memcached::OPT_COMPRESSION, false);
        $client->setOption(Memcached::OPT_TCP_NODELAY, true);
        $tcp ? $client->addServer($place->host(), $place->port()) : $client->addServer($place->socket(), 0);

        return $client;
    }
}
