<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/**
 * Walks over the names on the server, in steps that hold up no other client.
 *
 * The server may bring a name twice, and may not bring one that was made meanwhile.
 */
final class Walk
{
    private const NAMES_AT_ONCE = 1_000;

    /** The shard that pruning has come to, and the server's cursor in it. */
    private int $shard = 0;

    private string $cursor = '0';

    /** The oldest version of a living item with tags that pruning has met in this shard. */
    private int $oldest = \PHP_INT_MAX;

    public function __construct(
        private readonly Scripts $scripts,
        private readonly Layout $layout,
    ) {}

    /**
     * Removes what is dead among the next names that have anything dead among them; after the last one of a shard,
     * the versions of tags that no item there can need.
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
     * Begins another epoch in every shard, in one round trip; that kills everything. With it goes the first look at what is dead now,
     * of which so many names at most are freed, however often they have been looked at: two round trips for each thousand. Where there are
     * several shards, all begin twice. A value in the first may have been made of items in one that was not reached yet.
     *
     * @throws StoreUnavailable
     */
    public function clear(int $names): void
    {
        $shards = $this->layout->all();
        // Each names other epochs.
        $ends = fn(): array => array_map(fn(int $shard): array => $this->scripts->commandByText([Script::Clear, $this->layout->names($shard), []]), $shards);
        if (\count($shards) > 1) {
            $this->scripts->send($ends());
        }
        $ends = $ends();
        $cursors = array_fill_keys($shards, '0');
        for ($looked = 0; $cursors !== [] && $looked < $names; $looked += self::NAMES_AT_ONCE * \count($shards)) {
            $looks = array_map(fn(int $shard): array => $this->look($shard, $cursors[$shard], ''), array_keys($cursors));
            $replies = \array_slice($this->scripts->send([...$ends, ...$looks]), \count($ends));
            $ends = $sweeps = [];
            foreach (array_keys($cursors) as $i => $shard) {
                [$cursors[$shard], $found] = self::page($replies[$i]);
                if ($cursors[$shard] === '0') {
                    unset($cursors[$shard]);
                }
                if ($found !== []) {
                    $sweeps[] = $this->sweeping($shard, $found);
                }
            }
            $this->scripts->run($sweeps);
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
                [$living] = $names === [] ? [[]] : $this->scripts->run([[Script::Living, [...$this->layout->names($shard), ...$names], []]]);
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
        [$reply] = $this->scripts->send([$this->look($this->shard, $this->cursor, '')]);
        [$this->cursor, $names] = self::page($reply);
        [$removed, $oldest] = $this->sweep($this->shard, $names);
        $this->oldest = min($this->oldest, $oldest);

        return $removed;
    }

    /**
     * @param list<string> $names
     *
     * @return array{int, int} how many were removed, and the oldest version of a living one with tags
     */
    private function sweep(int $shard, array $names): array
    {
        // Also without names: the reply tells the present tick, which nothing that is made later is older than.
        [$reply] = $this->scripts->run([$this->sweeping($shard, $names)]);

        return \is_array($reply) && \is_int($reply[0] ?? null) && \is_int($reply[1] ?? null) ? [$reply[0], $reply[1]] : throw Scripts::nonsense();
    }

    private function forget(): void
    {
        [$epoch] = $this->scripts->send([['HGET', $this->layout->tags($this->shard), 'e']]);
        for ($cursor = '0'; \is_string($epoch);) {
            [$cursor] = $this->scripts->run([[Script::Forget, $this->layout->names($this->shard), [$epoch, (string) $this->oldest, $cursor]]]);
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
            [$reply] = $this->scripts->send([$this->look($shard, $cursor, $beginning)]);
            [$cursor, $names] = self::page($reply);
            yield $names;
        } while ($cursor !== '0');
    }

    /**
     * @param list<string> $names
     *
     * @return array{Script, non-empty-list<string>, list<string>}
     */
    private function sweeping(int $shard, array $names): array
    {
        return [Script::Sweep, [...$this->layout->names($shard), ...$names], []];
    }

    /** @return non-empty-list<string> */
    private function look(int $shard, string $cursor, string $beginning): array
    {
        return ['SCAN', $cursor, 'MATCH', $this->layout->pattern($shard, $beginning), 'COUNT', (string) self::NAMES_AT_ONCE];
    }

    /** @return array{string, list<string>} where to go on ('0': nowhere), and names */
    private static function page(mixed $reply): array
    {
        if (!\is_array($reply) || !\is_string($reply[0] ?? null) || !\is_array($reply[1] ?? null)) {
            throw Scripts::nonsense();
        }

        return [$reply[0], array_values(array_filter($reply[1], is_string(...)))];
    }
}
