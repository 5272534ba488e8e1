<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\InvalidDsn;

/**
 * The name of a store, as it is written in a configuration:
 *
 *     dsn     = store *( " > " store )                             tiers: the near one first, as it is read
 *     store   = scheme ":" [ place ] [ "?" options ]
 *     place   = name                                                shm, array, apcu; none for absent
 *             | path                                                sqlite, file, php
 *             | [ "//" [ user [ ":" password ] "@" ] ] path           redis+unix
 *             | path *( "," path )                                   memcached+unix
 *             | "//" [ user [ ":" password ] "@" ] server [ "/" database ]
 *                                                                   redis, rediss
 *             | "//" [ user [ ":" password ] "@" ] server *( "," server ) [ "/" database ]
 *                                                                   redis+sentinel, redis+cluster, memcached, and with
 *                                                                   TLS rediss+sentinel, rediss+cluster
 *     server  = host [ ":" port ]
 *     options = name "=" value *( "&" name "=" value )
 *
 * In each scheme of Redis, "valkey" is another name of "redis".
 *
 * Characters with a special meaning are percent-encoded in user, password, name, path and option values. Durations
 * are seconds ("2.5") or milliseconds ("250ms"). Sizes are bytes with an optional K, M or G ("64M"), switches yes or no (1 or 0, on or off).
 *
 *     shm:                     the pool "default"          shm:shop?size=256M&evict=no
 *     array:?items=10000       apcu:?prefix=shop           sqlite:/var/cache/site.db
 *     file:/var/cache/site     redis://127.0.0.1:6379/0    redis+unix:/run/redis.sock?database=2
 *     valkey://127.0.0.1       redis+unix://user:pass@/run/redis.sock
 *     rediss://user:pass@cache.internal                    memcached://cache1,cache2:11212
 *     redis+sentinel://s1,s2,s3:26380/0?service=shop       redis+cluster://n1:7000,n2:7000
 *     apcu: > sqlite:/var/cache/site.db                    array: > shm: > sqlite:/var/cache/site.db
 *     shm: > redis://cache.internal:6379/0                 apcu:?staleness=250ms > redis://cache.internal
 *
 * Stores opens what it names. The options of a scheme are those of its store's fromDsn(), and those of a near store what Tier\Tiers says besides.
 */
final class Dsn
{
    /** The options that Serializer\Payload reads. They stand here so that a store without them need not load it. */
    public const OF_PAYLOADS = ['serializer', 'classes', 'compression', 'compress_above', 'secret'];

    private const SEVERAL = 2;

    /** Schemes, and how many servers their DSNs may name; 0: a name or paths instead. */
    private const SERVERS = [
        'shm' => 0,
        'array' => 0,
        'absent' => 0,
        'apcu' => 0,
        'sqlite' => 0,
        'file' => 0,
        'php' => 0,
        'redis' => 1,
        'rediss' => 1,
        'redis+unix' => 0,
        'redis+sentinel' => self::SEVERAL,
        'rediss+sentinel' => self::SEVERAL,
        'redis+cluster' => self::SEVERAL,
        'rediss+cluster' => self::SEVERAL,
        'memcached' => self::SEVERAL,
        'memcached+unix' => 0,
    ];

    /**
     * @param string                                     $written the scheme as it is written, perhaps by its other name, for messages
     * @param string                                     $path    decoded: a pool's name, a path, or what follows the host
     * @param non-empty-list<array{string, ?int}>        $hosts   each with its port; where there are none, one that is empty
     * @param ?string                                    $paths   encoded: what $path is, where commas may divide it; null: it is one
     * @param array<string, string>                      $options decoded, by name
     * @param ?self                                      $far     what this one is the near store of
     * @param list<string>                               $readBefore options that its opener has read
     */
    private function __construct(
        public readonly string $scheme,
        public readonly string $written,
        public readonly ?string $host,
        public readonly ?int $port,
        public readonly ?string $user,
        #[\SensitiveParameter]
        public readonly ?string $password,
        public readonly string $path,
        public readonly array $hosts,
        private readonly ?string $paths,
        private readonly array $options,
        public readonly ?self $far = null,
        private readonly array $readBefore = [],
    ) {}

    /** @throws InvalidDsn */
    public static function parse(#[\SensitiveParameter] string $dsn): self
    {
        $dsn = trim($dsn);
        if (str_contains($dsn, '>') && preg_match('/^(.*?)\s>(?:\s(.*))?$/s', $dsn, $tiers) === 1) {
            return self::parse($tiers[1])->inFrontOf(self::parse($tiers[2] ?? ''));
        }
        [$scheme, $rest] = explode(':', $dsn, 2) + [1 => null];
        $written = (string) $scheme;
        if (!isset($rest, self::SERVERS[$scheme])) {
            $scheme = self::scheme($dsn);
            $written = strtolower($written);
        }
        if (str_contains($dsn, '>') && \in_array($scheme, ['shm', 'apcu', 'array'], true)) {
            throw InvalidDsn::part(self::masked($dsn), 'has a ">" without a space on each side', 'write tiers as "near > far"');
        }
        $servers = self::SERVERS[$scheme];
        [$place, $query] = explode('?', (string) $rest, 2) + [1 => ''];
        $options = self::options($query);
        if ($servers === 0) {
            [$user, $password, $place] = $scheme === 'redis+unix' ? self::onASocket($place) : [null, null, $place];

            return new self($scheme, $written, null, null, $user, $password, rawurldecode($place), [['', null]], $place, $options);
        }
        $pattern = '~^//(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/]+)(?:/(?<path>[^@]*))?$~is';
        if (preg_match($pattern, $place, $match, \PREG_UNMATCHED_AS_NULL) !== 1) {
            throw self::withoutServer($dsn, $scheme, $written);
        }
        $hosts = array_map(static fn(#[\SensitiveParameter] string $place): array => self::host($place, $scheme, $written, $dsn), explode(',', (string) $match['hosts']));
        if (\count($hosts) > 1 && $servers < self::SEVERAL) {
            throw InvalidDsn::part(self::masked($dsn), 'names several servers', 'name one');
        }

        return new self(
            $scheme,
            $written,
            $hosts[0][0],
            $hosts[0][1],
            self::decoded($match['user']),
            self::decoded($match['password']),
            rawurldecode((string) $match['path']),
            $hosts,
            null,
            $options,
        );
    }

    /** What tells the place from others: scheme, servers, path, database and service. A place that is written otherwise is another. */
    public function place(): string
    {
        return implode(' ', [$this->scheme, ...array_map(static fn(array $host): string => "{$host[0]}:{$host[1]}", $this->hosts), $this->path, $this->text('database', ''), $this->text('service', '')]);
    }

    /** Without some of the options, which are known ones all the same. */
    public function without(string ...$options): self
    {
        return $this->with($this->path, array_diff_key($this->options, array_flip($options)), $this->far, array_values($options));
    }

    /** With another path. */
    public function named(string $path): self
    {
        return $this->with($path, $this->options, $this->far);
    }

    /** Whether it has any, which allow() judges. */
    public function hasOptions(): bool
    {
        return $this->options !== [];
    }

    /**
     * The options are these or some of them.
     *
     * @throws InvalidDsn naming the nearest known one
     */
    public function allow(string ...$known): void
    {
        // PHP has made an int of a name like "7".
        foreach (array_keys($this->options) as $option) {
            if (!\in_array((string) $option, $known, true)) {
                throw InvalidDsn::unknownOption((string) $option, $this->written, [...array_values($known), ...$this->readBefore]);
            }
        }
    }

    /** @throws InvalidDsn if there is a path where the scheme has none */
    public function withoutPath(): void
    {
        if ($this->path !== '') {
            throw InvalidDsn::part(self::masked($this->written . ':' . $this->path), 'has a path, but its store has none', 'remove the path');
        }
    }

    /** @throws InvalidDsn */
    public function absolutePath(): string
    {
        return $this->absolute($this->path);
    }

    /**
     * Several of them, with commas in between.
     *
     * @return non-empty-list<string>
     *
     * @throws InvalidDsn
     */
    public function absolutePaths(): array
    {
        return $this->paths === null ? [$this->absolutePath()] : array_map(fn(#[\SensitiveParameter] string $path): string => $this->absolute(rawurldecode($path)), explode(',', $this->paths));
    }

    /** @throws InvalidDsn */
    private function absolute(#[\SensitiveParameter] string $path): string
    {
        $path = str_starts_with($path, '///') ? substr($path, 2) : $path;
        if (!str_starts_with($path, '/') || str_contains($path, "\0") || str_starts_with($path, '//')) {
            throw InvalidDsn::part(self::masked($this->written . ':' . $this->path), 'has no absolute path', \sprintf('write it as "%s:/path"', $this->written));
        }

        return $path;
    }

    public function hasAny(string ...$options): bool
    {
        return array_intersect_key($this->options, array_flip($options)) !== [];
    }

    public function text(string $option, string $default): string
    {
        return $this->options[$option] ?? $default;
    }

    /** @throws InvalidDsn */
    public function integer(string $option, int $default): int
    {
        $value = $this->options[$option] ?? null;
        if ($value === null) {
            return $default;
        }
        $integer = filter_var($value, \FILTER_VALIDATE_INT);

        return \is_int($integer) ? $integer : throw InvalidDsn::option($option, $value, 'an integer');
    }

    /** @throws InvalidDsn */
    public function seconds(string $option, float $default): float
    {
        $value = $this->options[$option] ?? null;
        if ($value === null) {
            return $default;
        }
        if (preg_match('/^\d{1,9}(\.\d{1,9})?(ms)?$/D', $value, $parts) !== 1) {
            throw InvalidDsn::option($option, $value, 'seconds, such as "2.5", or milliseconds, such as "250ms"');
        }

        return isset($parts[2]) ? (float) $value / 1_000 : (float) $value;
    }

    /** @throws InvalidDsn */
    public function bytes(string $option): ?int
    {
        $value = $this->options[$option] ?? null;
        if ($value === null) {
            return null;
        }
        if (preg_match('/^(\d{1,12})([kmg]?)b?$/i', $value, $match) !== 1) {
            throw InvalidDsn::option($option, $value, 'bytes, such as "64M"');
        }

        return (int) $match[1] << match (strtolower($match[2])) {
            'k' => 10,
            'm' => 20,
            'g' => 30,
            default => 0,
        };
    }

    /** @throws InvalidDsn */
    public function switch(string $option, bool $default): bool
    {
        $value = $this->options[$option] ?? null;
        if ($value === null) {
            return $default;
        }

        return match (strtolower($value)) {
            '1', 'yes', 'on', 'true' => true,
            '0', 'no', 'off', 'false' => false,
            default => throw InvalidDsn::option($option, $value, 'yes or no'),
        };
    }

    private function inFrontOf(self $far): self
    {
        return $this->with($this->path, $this->options, $far);
    }

    /**
     * @param array<string, string> $options
     * @param list<string>          $readBefore
     */
    private function with(string $path, array $options, ?self $far, array $readBefore = []): self
    {
        $readBefore = [...$this->readBefore, ...$readBefore];

        return new self($this->scheme, $this->written, $this->host, $this->port, $this->user, $this->password, $path, $this->hosts, $path === $this->path ? $this->paths : null, $options, $far, $readBefore);
    }

    /**
     * @return array<string, string>
     *
     * @throws InvalidDsn
     */
    private static function options(#[\SensitiveParameter] string $query): array
    {
        $options = [];
        foreach ($query === '' ? [] : explode('&', $query) as $pair) {
            [$name, $value] = explode('=', $pair, 2) + [1 => null];
            if ($name === '' || $value === null || str_contains((string) $name, '@')) {
                // With an "@" in it, it is the rest of a password that has a question mark in it.
                throw InvalidDsn::option(str_contains($pair, '@') ? '…' : $pair, '', 'it as name=value');
            }
            $options[$name] = rawurldecode($value);
        }

        return $options;
    }

    /**
     * The scheme of a DSN that is not written as in SERVERS.
     *
     * @return key-of<self::SERVERS>
     *
     * @throws InvalidDsn
     */
    private static function scheme(#[\SensitiveParameter] string $dsn): string
    {
        if (preg_match('/^([a-z][a-z0-9+.-]*):/i', $dsn, $match) !== 1) {
            throw InvalidDsn::withoutScheme(self::masked($dsn), self::schemes());
        }
        $named = strtolower($match[1]);
        $scheme = preg_replace('/^valkey(?=s?(?:\+|$))/D', 'redis', $named) ?? '';

        return isset(self::SERVERS[$scheme]) ? $scheme : throw InvalidDsn::unknownScheme($named, self::schemes());
    }

    /** @return non-empty-list<string> also by their other names */
    private static function schemes(): array
    {
        $schemes = array_keys(self::SERVERS);

        return [...$schemes, ...str_replace('redis', 'valkey', array_values(array_filter($schemes, static fn(string $scheme): bool => str_starts_with($scheme, 'redis'))))];
    }

    /** @return array{?string, ?string, string} user, password and path; a path with an "@" in it is one all the same */
    private static function onASocket(#[\SensitiveParameter] string $place): array
    {
        return str_contains($place, '@') && preg_match('~^//(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@(?<path>/.*)$~s', $place, $match, \PREG_UNMATCHED_AS_NULL) === 1
            ? [self::decoded($match['user']), self::decoded($match['password']), (string) $match['path']]
            : [null, null, $place];
    }

    /**
     * @return array{string, ?int} host and port
     *
     * @throws InvalidDsn
     */
    private static function host(#[\SensitiveParameter] string $place, string $scheme, string $written, #[\SensitiveParameter] string $dsn): array
    {
        if (preg_match('~^(?<host>\[[0-9a-f:.]+\]|[^:\[\]]+)(?::(?<port>\d{1,5}))?$~iD', $place, $match, \PREG_UNMATCHED_AS_NULL) !== 1) {
            throw self::withoutServer($dsn, $scheme, $written);
        }
        $port = $match['port'] === null ? null : (int) $match['port'];
        if ($port === 0 || $port > 65_535) {
            throw InvalidDsn::part(self::masked($dsn), 'has a port that does not exist', 'give one from 1 to 65535');
        }

        return [trim((string) $match['host'], '[]'), $port];
    }

    private static function withoutServer(#[\SensitiveParameter] string $dsn, string $scheme, string $written): InvalidDsn
    {
        // A path is a socket's.
        $isSocket = isset(self::SERVERS["{$scheme}+unix"]) && preg_match('~^[a-z]+:/[^/]~i', $dsn) === 1;

        return InvalidDsn::part(self::masked($dsn), 'names no server', \sprintf($isSocket ? 'write it as "%s+unix:/path"' : 'write it as "%s://host:port"', $written));
    }

    private static function decoded(?string $part): ?string
    {
        return $part === null || $part === '' ? null : rawurldecode($part);
    }

    /**
     * A password never appears in a message, nor any part of one that should have been percent-encoded: it may reach to the
     * last "@", and where there is none, from the colon on if no port follows that. A user alone may be meant as a password. Where the "//" before
     * a user is missing, the scheme alone is shown.
     *
     * @internal
     */
    public static function masked(#[\SensitiveParameter] string $dsn): string
    {
        return preg_replace(
            ['~^(?!(?:[a-z][a-z0-9+.-]*:?)?//)((?:redis|valkey|memcached)[a-z+]*[ /]|[a-z][a-z0-9+.-]*:/?|).*@~is', '~(//[^:@]*):.*@~s', '~//[^:/][^:]*@~', '~((?://|^(?:redis|valkey|memcached)[a-z+]*:/?(?!/))[^:@\[]*):(?!…@|\d+(?:[,/?]|$))[^@]*$~i', '~([?&](?:secret|sentinel_password)=)[^&]*~'],
            ['$1…@', '$1:…@', '//…@', '$1:…', '$1…'],
            $dsn,
        ) ?? '';
    }
}
