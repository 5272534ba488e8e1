<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/**
 * Walks over the names on the server, in steps that stop nobody.
 *
 * The server may bring a name twice, and may not bring one that was made meanwhile.
 */
final class Walk
{
    private const NAMES_AT_ONCE = 1_000;

    /** The shard that pruning has come to, and the server's cursor in it. */
    private int $shard = 0;

    private string $cursor = '0';

    /** The oldest stamp of a living item with tags that pruning has met in this shard. */
    private int $oldest = \PHP_INT_MAX;

    public function __construct(
        private readonly Scripts $scripts,
        private readonly Layout $layout,
    ) {}

    /**
     * Removes what is dead among the next names that have anything dead among them; after the last one of a shard,
     * the stamps of tags that no item there can need.
     *
     * @return int how many items; 0: all were looked at
     *
     * @throws StoreUnavailable
     */
    public function prune(): int
    {
        do {
            $removed = $this->step();
            if ($this->cursor === '0') {
                $this->forget();
                if (++$this->shard >= $this->layout->shards) {
                    $this->shard = 0;

                    return $removed;
                }
            }
        } while ($removed === 0);

        return $removed;
    }

    /**
     * Removes what is dead among about so many names, however often they have been looked at.
     *
     * @throws StoreUnavailable
     */
    public function free(int $names): void
    {
        $shards = max(1, $this->layout->shards);
        for ($shard = 0; $shard < $shards; $shard++) {
            $looked = 0;
            foreach ($this->names($shard, '') as $found) {
                $this->sweep($shard, $found);
                $looked += self::NAMES_AT_ONCE;
                if ($looked >= $names / $shards) {
                    break;
                }
            }
        }
    }

    /**
     * @return list<string> the living keys that begin so
     *
     * @throws StoreUnavailable
     */
    public function keys(string $prefix): array
    {
        $keys = [];
        for ($shard = 0; $shard < max(1, $this->layout->shards); $shard++) {
            foreach ($this->names($shard, $prefix) as $names) {
                [$living] = $names === [] ? [[]] : $this->scripts->run([[Script::Living, [$this->layout->clock($shard), $this->layout->tags($shard), ...$names], []]]);
                foreach (\is_array($living) ? $living : throw Scripts::nonsense() as $i => $lives) {
                    if ($lives === 1 && isset($names[$i])) {
                        $keys[$this->layout->key($shard, $names[$i])] = true;
                    }
                }
            }
        }

        return array_map(strval(...), array_keys($keys));
    }

    /** @return int how many were removed */
    private function step(): int
    {
        [$this->cursor, $names] = $this->page($this->shard, $this->cursor, '');
        [$removed, $oldest] = $this->sweep($this->shard, $names);
        $this->oldest = min($this->oldest, $oldest);

        return $removed;
    }

    /**
     * @param list<string> $names
     *
     * @return array{int, int} how many were removed, and the oldest stamp of a living one with tags
     */
    private function sweep(int $shard, array $names): array
    {
        // Also without names: the reply tells the present tick, which nothing that is made later is older than.
        [$reply] = $this->scripts->run([[Script::Sweep, [$this->layout->clock($shard), $this->layout->tags($shard), ...$names], []]]);

        return \is_array($reply) && \is_int($reply[0] ?? null) && \is_int($reply[1] ?? null) ? [$reply[0], $reply[1]] : throw Scripts::nonsense();
    }

    private function forget(): void
    {
        $tags = $this->layout->tags($this->shard);
        [$epoch] = $this->scripts->send([['HGET', $tags, 'e']]);
        for ($cursor = '0'; \is_string($epoch);) {
            [$cursor] = $this->scripts->run([[Script::Forget, [$this->layout->clock($this->shard), $tags], [$epoch, (string) $this->oldest, $cursor]]]);
            if (!\is_string($cursor) || $cursor === '0') {
                break;
            }
        }
        $this->oldest = \PHP_INT_MAX;
    }

    /** @return iterable<list<string>> names of items, in steps */
    private function names(int $shard, string $beginning): iterable
    {
        $cursor = '0';
        do {
            [$cursor, $names] = $this->page($shard, $cursor, $beginning);
            yield $names;
        } while ($cursor !== '0');
    }

    /** @return array{string, list<string>} where to go on ('0': nowhere), and names */
    private function page(int $shard, string $cursor, string $beginning): array
    {
        $pattern = $this->layout->pattern($shard, $beginning);
        [$reply] = $this->scripts->send([['SCAN', $cursor, 'MATCH', $pattern, 'COUNT', (string) self::NAMES_AT_ONCE]]);
        if (!\is_array($reply) || !\is_string($reply[0] ?? null) || !\is_array($reply[1] ?? null)) {
            throw Scripts::nonsense();
        }

        return [$reply[0], array_values(array_filter($reply[1], is_string(...)))];
    }
}
