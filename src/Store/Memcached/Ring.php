<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

/**
 * Tells which of several servers has a key: the next one on a circle on which each server has many places. (Karger et al.,
 * "Consistent Hashing and Random Trees", 1997. The number of places is that of libketama.) So a server that is added
 * takes over its share of the keys, and the others stay where they are.
 */
final class Ring
{
    private const PLACES = 160;

    /** @var list<int> places on the circle, in order */
    private array $places = [];

    /** @var list<int> which server each belongs to */
    private array $servers = [];

    /** @param non-empty-list<string> $names of the servers, in any order */
    public function __construct(array $names)
    {
        $circle = [];
        foreach (\count($names) === 1 ? [] : $names as $server => $name) {
            for ($i = 0; $i < self::PLACES; $i++) {
                $circle[self::hash("{$name}-{$i}")] = $server;
            }
        }
        ksort($circle);
        $this->places = array_keys($circle);
        $this->servers = array_values($circle);
    }

    /** @return int the number of the server */
    public function server(string $key): int
    {
        $place = $this->places === [] ? 0 : self::hash($key);
        $low = 0;
        for ($high = \count($this->places); $low < $high;) {
            $middle = $low + $high >> 1;
            if ($this->places[$middle] < $place) {
                $low = $middle + 1;
            } else {
                $high = $middle;
            }
        }

        return $this->servers[$low] ?? $this->servers[0] ?? 0;
    }

    private static function hash(string $bytes): int
    {
        $hash = unpack('J', hash('xxh3', $bytes, true));

        return \is_int($hash[1] ?? null) ? $hash[1] : 0;
    }
}
