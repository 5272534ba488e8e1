<?php

declare(strict_types=1);

namespace Larder\Store\Memory;

use Larder\Store\TagVersion;
use Larder\Store\Verdict;
use Larder\Token;

/**
 * The logical time of an ArrayStore. It ticks on every write, delete and invalidation, and remembers the last of them by key and by
 * tag. When it has too many keys, it forgets them all, and takes the present for the time of each. That refuses the fills in flight.
 * When it has too many tags, it forgets those that no item carries. That refuses fills in flight with such a tag, and no others.
 */
final class Versions
{
    /** A longer key is remembered by its hash: where two share one, a fill is refused for nothing. */
    private const LONGEST = 64;

    /** The epoch: a random name of the contents. */
    private readonly string $epoch;

    private int $tick = 1;

    /** @var array<array-key, int> when each key was last written or deleted */
    private array $keyVersions = [];

    /** When the key versions that are not there may have moved. */
    private int $keyVersionFloor = 0;

    /** @var array<array-key, TagVersion> */
    private array $tags = [];

    /** When the tags that are not there, which no item carries, may have been invalidated. */
    private int $tagFloor = 0;

    /** How many tags there are to be before it is looked which of them are carried. */
    private int $most;

    /** @param int $remembered how many keys, and how many tags */
    public function __construct(
        private readonly int $remembered,
    ) {
        $this->epoch = bin2hex(random_bytes(8));
        $this->most = $remembered;
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
        $this->keyVersions[self::short($key)] = ++$this->tick;
        if (\count($this->keyVersions) > $this->remembered) {
            $this->keyVersions = [];
            $this->keyVersionFloor = $this->tick;
        }
    }

    /** Whether the key was neither written nor deleted since. */
    public function hasNotMoved(string $key, Token $token): bool
    {
        return $token->epoch === $this->epoch && ($this->keyVersions[self::short($key)] ?? $this->keyVersionFloor) <= $token->version;
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
            $this->tags[$tag] = ($this->tags[$tag] ?? new TagVersion(0))->invalidated($tick, $serveStale, $now);
        }
    }

    /** Whether there are so many tags that keepTags() should be told which of them are carried. */
    public function hasManyTags(): bool
    {
        return \count($this->tags) > $this->most;
    }

    /** @param array<array-key, mixed> $carried by the tags that items carry */
    public function keepTags(array $carried): void
    {
        $this->tags = array_intersect_key($this->tags, $carried);
        $this->most = max($this->remembered, 2 * \count($this->tags));
        $this->tagFloor = $this->tick;
    }

    /**
     * What an item is that carries these tags.
     *
     * @param list<string> $tags
     * @param int          $now  Unix time
     */
    public function verdict(array $tags, int $version, int $now): Verdict
    {
        $verdict = Verdict::Live;
        foreach ($tags as $tag) {
            $verdict = $verdict->and(isset($this->tags[$tag]) ? $this->tags[$tag]->verdict($version, $now) : Verdict::Live);
        }

        return $verdict;
    }

    /**
     * Whether none of these tags was invalidated since a computation began.
     *
     * @param list<string> $tags
     * @param int          $now  Unix time
     */
    public function allows(array $tags, Token $token, int $now): bool
    {
        return $tags === [] || ($token->version >= $this->tagFloor && $this->verdict($tags, $token->version, $now) === Verdict::Live);
    }

    /** Everything was deleted. */
    public function clear(): void
    {
        $this->keyVersions = $this->tags = [];
        $this->keyVersionFloor = ++$this->tick;
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
