<?php

declare(strict_types=1);

namespace Larder\Store\Memory;

use Larder\Store\TagStamp;
use Larder\Store\Verdict;
use Larder\Token;

/**
 * The logical time of an ArrayStore. It ticks on every write, delete and invalidation, and remembers by key and by tag when
 * the last of these was. When it has too many of either to remember, it forgets them all and takes the present for the time
 * of each: fills that are under way are then refused, and older items that carry tags are dead.
 */
final class Clock
{
    /** A longer key is remembered by its hash: where two share one, a fill is refused for nothing. */
    private const LONGEST = 64;

    /** The random name of this life of the clock. */
    private readonly string $epoch;

    private int $tick = 1;

    /** @var array<array-key, int> when each key was last written or deleted */
    private array $guards = [];

    /** When the guards that are not there may have moved. */
    private int $guardFloor = 0;

    /** @var array<array-key, TagStamp> */
    private array $tags = [];

    /** The stamp of the tags that are not there. */
    private TagStamp $tagFloor;

    /** @param int $remembered how many keys, and how many tags */
    public function __construct(
        private readonly int $remembered,
    ) {
        $this->epoch = bin2hex(random_bytes(8));
        $this->tagFloor = new TagStamp(0);
    }

    public function now(): int
    {
        return $this->tick;
    }

    public function token(): Token
    {
        return new Token($this->epoch, $this->tick);
    }

    /** The key is written or deleted. */
    public function move(string $key): void
    {
        $this->guards[self::short($key)] = ++$this->tick;
        if (\count($this->guards) > $this->remembered) {
            $this->guards = [];
            $this->guardFloor = $this->tick;
        }
    }

    /** Whether the key was neither written nor deleted since. */
    public function hasNotMoved(string $key, Token $token): bool
    {
        return $token->epoch === $this->epoch && ($this->guards[self::short($key)] ?? $this->guardFloor) <= $token->clock;
    }

    /**
     * @param list<string> $tags
     * @param int          $serveStale seconds
     * @param int          $now        Unix time
     */
    public function invalidate(array $tags, int $serveStale, int $now): void
    {
        $tick = ++$this->tick;
        foreach ($tags as $tag) {
            $this->tags[$tag] = ($this->tags[$tag] ?? $this->tagFloor)->invalidated($tick, $serveStale, $now);
        }
        if (\count($this->tags) > $this->remembered) {
            $this->tags = [];
            $this->tagFloor = new TagStamp($tick);
        }
    }

    /**
     * What an item is that carries these tags.
     *
     * @param list<string> $tags
     * @param int          $now  Unix time
     */
    public function verdict(array $tags, int $stamp, int $now): Verdict
    {
        $verdict = Verdict::Live;
        foreach ($tags as $tag) {
            $verdict = $verdict->and(($this->tags[$tag] ?? $this->tagFloor)->verdict($stamp, $now));
        }

        return $verdict;
    }

    /** Everything was deleted. */
    public function clear(): void
    {
        $this->guards = $this->tags = [];
        $this->guardFloor = ++$this->tick;
        $this->tagFloor = new TagStamp(0);
    }

    /** How many tags are remembered. */
    public function tags(): int
    {
        return \count($this->tags);
    }

    private static function short(string $key): string
    {
        return \strlen($key) > self::LONGEST ? hash('xxh128', $key, true) : $key;
    }
}
