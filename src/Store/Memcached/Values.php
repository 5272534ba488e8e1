<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Exception\StoreUnavailable;
use Larder\Serializer\Payload;

/**
 * The values of entries. A value that is too large for an item of the server is cut into pieces under a random name. The pieces
 * are written before the manifest, which has the name, their number and their checksum. Without any piece, the value is
 * missing. The pieces of a replaced value are left to the server's eviction.
 *
 * Any client of the server can write a manifest. A manifest that this class would not write is a miss, before any name or number
 * in it is used.
 */
final class Values
{
    /** With what else is in an item below the server's usual limit of 1 MiB. */
    private const PIECE = 1_000_000;

    /** What a server has by default (-m 64) would hold no more. */
    private const MOST_PIECES = 64;

    /** The random name, the number of pieces and the checksum. */
    private const MANIFEST = '/^([0-9a-f]{16});([1-9][0-9]?);([0-9a-f]{32})$/D';

    public readonly \stdClass $nothing;

    public function __construct(
        private readonly Server $server,
        private readonly Payload $payload,
        private readonly string $prefix,
    ) {
        $this->nothing = new \stdClass();
    }

    /**
     * @return mixed $nothing if it is missing or cannot be made
     *
     * @throws StoreUnavailable
     */
    public function of(string $key, Entry $entry, string $epoch): mixed
    {
        if ($entry->kind === Entry::VALUE) {
            return $this->payload->decode($entry->payload, $this->nothing, $key);
        }
        $names = $this->pieces($entry, $epoch);
        if ($names === []) {
            return $this->nothing;
        }
        $found = $this->server->read($names);
        $whole = '';
        foreach ($names as $name) {
            $whole .= $found[$name] ?? '';
        }

        return hash_equals(substr($entry->payload, -32), hash('xxh128', $whole)) ? $this->payload->decode($whole, $this->nothing, $key) : $this->nothing;
    }

    /**
     * The entry as it fits into an item.
     *
     * @return ?Entry null if it is too large, or the server has no room for the pieces
     *
     * @throws StoreUnavailable
     */
    public function fitting(Entry $entry, string $epoch): ?Entry
    {
        if (\strlen($entry->payload) <= self::PIECE) {
            return $entry;
        }
        if (\strlen($entry->payload) > self::MOST_PIECES * self::PIECE) {
            return null;
        }
        $random = bin2hex(random_bytes(8));
        $count = 0;
        for ($offset = 0; $offset < \strlen($entry->payload); $offset += self::PIECE) {
            $name = "{$this->prefix}{$epoch}:p:{$random}:{$count}";
            $count++;
            if ($this->server->set($name, substr($entry->payload, $offset, self::PIECE), $entry->expiry) !== Outcome::Stored) {
                return null;
            }
        }
        $manifest = "{$random};{$count};" . hash('xxh128', $entry->payload);

        return new Entry(Entry::MANIFEST, $entry->lineage, $entry->version, $entry->expiry, $entry->tags, $manifest);
    }

    /** @return list<string> the names of its pieces, if it has any */
    public function pieces(Entry $entry, string $epoch): array
    {
        if ($entry->kind !== Entry::MANIFEST || preg_match(self::MANIFEST, $entry->payload, $parts) !== 1 || (int) $parts[2] > self::MOST_PIECES) {
            return [];
        }

        return array_map(fn(int $number): string => "{$this->prefix}{$epoch}:p:{$parts[1]}:{$number}", range(0, (int) $parts[2] - 1));
    }
}
