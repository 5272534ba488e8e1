<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Exception\StoreUnavailable;
use Larder\Serializer\Payload;

/**
 * The values of entries. One that is too large for an item of the server is cut into pieces under a random name, which are
 * written before the manifest that tells the name, their number and their checksum; without any one of them, the value is
 * missing. The pieces of what was replaced are left to the server's eviction.
 */
final class Values
{
    /** With what else is in an item below the server's usual limit of 1 MiB. */
    private const PIECE = 1_000_000;

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
    public function of(string $key, Entry $entry, string $generation): mixed
    {
        if ($entry->kind === Entry::VALUE) {
            return $this->payload->decode($entry->payload, $this->nothing, $key);
        }
        $names = $this->pieces($entry, $generation);
        if ($names === []) {
            return $this->nothing;
        }
        $found = $this->server->read($names);
        $whole = '';
        foreach ($names as $name) {
            $whole .= $found[$name] ?? '';
        }
        $checksum = (string) substr((string) strrchr($entry->payload, ';'), 1);

        return hash('xxh128', $whole) === $checksum ? $this->payload->decode($whole, $this->nothing, $key) : $this->nothing;
    }

    /**
     * The entry as it fits into an item.
     *
     * @return ?Entry null if the server has no room for the pieces
     *
     * @throws StoreUnavailable
     */
    public function fitting(Entry $entry, string $generation): ?Entry
    {
        if (\strlen($entry->payload) <= self::PIECE) {
            return $entry;
        }
        $random = bin2hex(random_bytes(8));
        $count = 0;
        for ($offset = 0; $offset < \strlen($entry->payload); $offset += self::PIECE) {
            $name = "{$this->prefix}{$generation}:p:{$random}:{$count}";
            $count++;
            if ($this->server->set($name, substr($entry->payload, $offset, self::PIECE), $entry->expiry) !== Outcome::Stored) {
                return null;
            }
        }
        $manifest = "{$random};{$count};" . hash('xxh128', $entry->payload);

        return new Entry(Entry::MANIFEST, $entry->lineage, $entry->stamp, $entry->expiry, $entry->tags, $manifest);
    }

    /** @return list<string> the names of its pieces, if it has any */
    public function pieces(Entry $entry, string $generation): array
    {
        if ($entry->kind !== Entry::MANIFEST) {
            return [];
        }
        [$random, $count] = explode(';', $entry->payload) + ['', '0'];

        return array_map(fn(int $number): string => "{$this->prefix}{$generation}:p:{$random}:{$number}", range(0, max(0, (int) $count - 1)));
    }
}
