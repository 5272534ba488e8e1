<?php

declare(strict_types=1);

namespace Larder\Store\Apcu;

use Larder\Exception\StoreUnavailable;
use Larder\Store\TagSlot;
use Larder\Store\Verdict;

/**
 * The logical time of a prefix, and the tags' versions in it:
 *
 *     clock    a counter that begins at the machine's monotonic time, and so is never lower than it was
 *     tags     the tick of the last invalidation of a tag, that before which nothing is known, and which slots there are
 *     s<n>     a slot of tags (see TagSlot)
 */
final class TagVersions
{
    /** @param string $internal what begins the names */
    public function __construct(
        private readonly string $internal,
        private readonly Section $section,
    ) {}

    public function now(): int
    {
        $now = apcu_fetch("{$this->internal}clock");

        return \is_int($now) ? $now : $this->tick();
    }

    /**
     * The next tick, which no other process gets.
     *
     * @throws StoreUnavailable
     */
    public function tick(): int
    {
        $clock = "{$this->internal}clock";
        for ($tries = 0; ; $tries++) {
            $now = apcu_fetch($clock);
            if (\is_int($now)) {
                if (apcu_cas($clock, $now, $now + 1)) {
                    return $now + 1;
                }
            } elseif ($tries > 100) {
                throw self::full();
            } else {
                apcu_add($clock, (int) hrtime(true));
            }
        }
    }

    /** An item that is judged by its tags has to be younger than the beginning of all that is known of tags. */
    public function beginTags(): void
    {
        $name = "{$this->internal}tags";
        if (!apcu_exists($name)) {
            $this->section->atomically(function () use ($name): void {
                $now = $this->tick();
                apcu_add($name, pack('J2', $now, $now) . str_repeat("\0", TagSlot::SLOTS >> 3));
            });
        }
    }

    /**
     * What an item is that carries these tags.
     *
     * @param list<string> $tags
     */
    public function verdict(array $tags, int $version): Verdict
    {
        $last = $this->lastInvalidation();
        if ($last === null || $version < $last[1]) {
            return Verdict::Dead;
        }
        $verdict = Verdict::Live;
        foreach ($version >= $last[0] ? [] : $tags as $tag) {
            [$slot, $name] = TagSlot::place($tag);
            if (self::has($last[2], $slot)) {
                $bytes = apcu_fetch("{$this->internal}s{$slot}");
                $verdict = $verdict->and(\is_string($bytes) ? TagSlot::version($bytes, $name)->verdict($version, time()) : Verdict::Dead);
            }
        }

        return $verdict;
    }

    /**
     * @param list<string> $tags
     *
     * @throws StoreUnavailable
     */
    public function invalidate(array $tags, int $serveStale): void
    {
        $this->section->atomically(function () use ($tags, $serveStale): void {
            $tick = $this->tick();
            $this->beginTags();
            [, $base, $bits] = $this->lastInvalidation() ?? [0, $tick, str_repeat("\0", TagSlot::SLOTS >> 3)];
            foreach ($tags as $tag) {
                [$slot, $name] = TagSlot::place($tag);
                $bytes = apcu_fetch("{$this->internal}s{$slot}");
                $bytes = \is_string($bytes) ? $bytes : TagSlot::made(self::has($bits, $slot) ? $tick - 1 : $base);
                $version = TagSlot::version($bytes, $name)->invalidated($tick, $serveStale, time());
                if (!apcu_store("{$this->internal}s{$slot}", TagSlot::with($bytes, $name, $version))) {
                    throw self::full();
                }
                $bits[$slot >> 3] = \chr(\ord($bits[$slot >> 3]) | 1 << ($slot & 7));
            }
            if (!apcu_store("{$this->internal}tags", pack('J2', $tick, $base) . $bits)) {
                throw self::full();
            }
        });
    }

    public static function full(): StoreUnavailable
    {
        return StoreUnavailable::because('APCu', 'its memory is full, or apc.slam_defense refuses what several processes store', 'raise apc.shm_size, and set apc.slam_defense=0');
    }

    /** @return ?array{int, int, string} its tick, the tick before which nothing is known, and which slots there are */
    private function lastInvalidation(): ?array
    {
        $bytes = apcu_fetch("{$this->internal}tags");
        $ticks = \is_string($bytes) ? unpack('J2', $bytes) : false;

        return \is_string($bytes) && $ticks !== false && \is_int($ticks[1]) && \is_int($ticks[2]) ? [$ticks[1], $ticks[2], substr($bytes, 16)] : null;
    }

    private static function has(string $bits, int $slot): bool
    {
        return (\ord($bits[$slot >> 3]) & 1 << ($slot & 7)) !== 0;
    }
}
