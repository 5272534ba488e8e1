<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Store\Tags;

/**
 * The bytes of an item on the server:
 *
 *     mark 1 | kind 1 | lineage 8 | version 8 | expiry 8, in seconds, 0: none | length of the key 2 | of the tags 4 |
 *     the key, if the name is only its hash | tags | payload
 *
 * The lineage is a random name of what a value descends from. A write begins another one, a fill goes on with the one it
 * finds. See MemcachedStore.
 */
final class Entry
{
    /** The payload is the value. */
    public const VALUE = 'V';

    /** The payload tells where the pieces of the value are. */
    public const MANIFEST = 'M';

    /** There is no value: a miss has left this for a fill to find. */
    public const HOLE = 'H';

    private const MARK = "\4";

    private const HEAD = 32;

    /**
     * @param string       $lineage 8 bytes
     * @param int          $version   the tick at which the computation of the value began
     * @param ?int         $expiry  in Unix seconds; null: none
     * @param list<string> $tags
     */
    public function __construct(
        public readonly string $kind,
        public readonly string $lineage,
        public readonly int $version,
        public readonly ?int $expiry,
        public readonly array $tags,
        public readonly string $payload,
    ) {}

    public static function hole(?string $lineage = null): self
    {
        return new self(self::HOLE, $lineage ?? random_bytes(8), 0, null, [], '');
    }

    /** @param string $key '' if the name tells it */
    public static function parse(string $bytes, string $key): ?self
    {
        if (\strlen($bytes) < self::HEAD || $bytes[0] !== self::MARK) {
            return null;
        }
        /** @var array{s: int, e: int, k: int, t: int} $numbers */
        $numbers = unpack('Js/Je/nk/Nt', $bytes, 10);
        if (substr($bytes, self::HEAD, $numbers['k']) !== $key) {
            return null;
        }
        $start = self::HEAD + $numbers['k'];

        return new self(
            $bytes[1],
            substr($bytes, 2, 8),
            $numbers['s'],
            $numbers['e'] === 0 ? null : $numbers['e'],
            $numbers['t'] === 0 ? [] : Tags::unpack(substr($bytes, $start, $numbers['t'])),
            substr($bytes, $start + $numbers['t']),
        );
    }

    /** @param string $key '' if the name tells it */
    public function bytes(string $key): string
    {
        $tags = Tags::pack($this->tags);

        return self::MARK . $this->kind . $this->lineage . pack('JJnN', $this->version, $this->expiry ?? 0, \strlen($key), \strlen($tags)) . $key . $tags . $this->payload;
    }

    public function hasExpired(int $now): bool
    {
        return $this->expiry !== null && $this->expiry <= $now;
    }

    /** The same value, with another time to live or another payload for it. */
    public function with(?int $expiry, string $payload, string $lineage): self
    {
        return new self($this->kind, $lineage, $this->version, $expiry, $this->tags, $payload);
    }
}
