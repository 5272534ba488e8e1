<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Memcached;

/** Memcached by the extension of its name. */
final class MemcachedSubjects
{
    public static function over(bool $tcp): Subject
    {
        $server = $tcp ? '$place->host(), $place->port()' : '$place->socket(), 0';

        return new Subject(
            name: $tcp ? 'memcached-tcp' : 'memcached-unix',
            title: 'Memcached ' . ($tcp ? 'over TCP' : 'over a Unix socket'),
            family: Family::Server,
            open: static fn(Place $place): Memcached => self::client($place, $tcp),
            read: static fn(): string => '$client->get($key)',
            write: static fn(): string => '$client->set($key, $value);',
            close: static function (mixed $client): void {
                if ($client instanceof Memcached) {
                    $client->flush();
                    $client->quit();
                }
            },
            connect: static fn(): string => "\$fresh = new \\Memcached(); \$fresh->addServer({$server});"
                . ' $value = $fresh->get($key); $fresh->quit();',
            missing: static fn(): ?string => Extension::missing('memcached', 'php-memcached'),
            server: $tcp ? ServerKind::MemcachedPort : ServerKind::MemcachedSocket,
        );
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
