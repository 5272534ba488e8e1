<?php

declare(strict_types=1);

namespace Larder\Cache;

/**
 * The tags that a process has invalidated itself, for a cache and all its namespaces. They do not kill what it stores afterwards,
 * even if it missed the key before.
 */
final class OwnTags
{
    /** With more, they are forgotten, and all misses until then judge nothing. */
    private const MOST = 10_000;

    /** How many times something was invalidated. */
    public int $moment = 0;

    private int $floor = 0;

    /** @var array<array-key, int> the moment of the last invalidation, by tag */
    private array $moments = [];

    /** @param list<string> $tags */
    public function note(array $tags): void
    {
        $this->moment++;
        foreach ($tags as $tag) {
            $this->moments[$tag] = $this->moment;
        }
        if (\count($this->moments) > self::MOST) {
            $this->moments = [];
            $this->floor = $this->moment;
        }
    }

    /**
     * Whether one of these was invalidated after that moment.
     *
     * @param list<string> $tags
     */
    public function areSince(int $moment, array $tags): bool
    {
        return $moment < $this->lastOf($tags);
    }

    /**
     * The moment at which one of these was invalidated last; 0: never.
     *
     * @param list<string> $tags
     */
    public function lastOf(array $tags): int
    {
        $last = $this->floor;
        foreach ($tags as $tag) {
            $last = max($last, $this->moments[$tag] ?? 0);
        }

        return $last;
    }
}
