<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Exception\StoreUnavailable;
use Larder\Store\TagSlot;
use Larder\Store\Verdict;

/**
 * The logical time of the items on one server, and when their tags were last invalidated:
 *
 *     prefix!clock                   epoch 16 | tick 8 | one bit for each slot that there is 256
 *     prefix!<epoch>:t<n>            a slot of tags (see TagSlot)
 *
 * Only invalidations move the tick. An invalidation that reads the tick c kills items with a version of at most c. It writes
 * c + 1 into the slots, and then into the clock, with the slots' bits. A process that reads that clock sees the slots, or that
 * they are lost. A process that reads an older clock has begun before the invalidation ended.
 *
 * Slots are made and lost without a lock. A process that makes a slot first adds an empty one, which means that everything is
 * dead. Then it reads the clock, and swaps the empty slot for a real one. If that clock shows a former slot, the new slot's
 * floor is the tick after the clock's: the lost slot knew nothing younger. Otherwise the floor is 0. Another invalidation may
 * have written into a slot that was lost before its bit was in the clock. It notices, because it reads its slots again when the
 * bits are there, and begins again.
 *
 * A clock that is lost takes its epoch along, and with it all items and slots, whose names have the epoch in them.
 */
final class TagVersions
{
    private const BYTES = 24 + (TagSlot::SLOTS >> 3);

    private string $epoch = '';

    private int $tick = 0;

    private string $bits = '';

    /** @var array<int, ?string> the slots that this operation has read; null: lost */
    private array $slots = [];

    public function __construct(
        private readonly Server $server,
        private readonly string $internal,
    ) {}

    public function name(): string
    {
        return "{$this->internal}clock";
    }

    public function tick(): int
    {
        return $this->tick;
    }

    /**
     * The epoch as far as it is known, for names that are read together with the clock.
     *
     * @throws StoreUnavailable
     */
    public function epoch(): string
    {
        if ($this->epoch === '') {
            $this->refresh();
        }

        return $this->epoch;
    }

    /** The epoch as far as it is known; '': it is not. */
    public function knownEpoch(): string
    {
        return $this->epoch;
    }

    /**
     * Takes over what was read just now.
     *
     * @param ?string $bytes what lies under name()
     */
    public function take(?string $bytes): void
    {
        $this->slots = [];
        $tick = $bytes !== null && \strlen($bytes) === self::BYTES ? unpack('J', $bytes, 16) : false;
        [$this->epoch, $this->tick, $this->bits] = $bytes !== null && $tick !== false && \is_int($tick[1])
            ? [substr($bytes, 0, 16), $tick[1], substr($bytes, 24)]
            : ['', 0, ''];
    }

    /**
     * Reads the clock, and makes one if there is none.
     *
     * @throws StoreUnavailable
     */
    public function refresh(): void
    {
        $this->take($this->server->read([$this->name()])[$this->name()] ?? null);
        while ($this->epoch === '') {
            [$bytes, $cas] = $this->server->swappable([$this->name()])[$this->name()] ?? [null, 0];
            $this->take($bytes);
            if ($this->epoch === '') {
                $outcome = $bytes === null
                    ? $this->server->add($this->name(), self::anew(), null)
                    : $this->server->swap($cas, $this->name(), self::anew(), null);
                $this->insist($outcome);
            }
        }
    }

    /**
     * What an item is that carries these tags.
     *
     * @param list<string> $tags
     *
     * @throws StoreUnavailable
     */
    public function verdict(array $tags, int $version, int $now): Verdict
    {
        if ($tags === [] || $version >= $this->tick) {
            return Verdict::Live;
        }
        $this->load($this->needed($tags, $version));
        $verdict = Verdict::Live;
        foreach ($tags as $tag) {
            [$slot, $name] = TagSlot::place($tag);
            if ($this->has($slot)) {
                $bytes = $this->slots[$slot] ?? null;
                $verdict = $verdict->and($bytes === null ? Verdict::Dead : TagSlot::version($bytes, $name)->verdict($version, $now));
            }
        }

        return $verdict;
    }

    /**
     * The slots that verdict() looks at.
     *
     * @param list<string> $tags
     *
     * @return list<int>
     */
    public function needed(array $tags, int $version): array
    {
        $needed = [];
        foreach ($version >= $this->tick ? [] : $tags as $tag) {
            [$slot] = TagSlot::place($tag);
            if ($this->has($slot)) {
                $needed[$slot] = true;
            }
        }

        return array_keys($needed);
    }

    public function slotName(string $epoch, int $slot): string
    {
        return "{$this->internal}{$epoch}:t{$slot}";
    }

    /**
     * Has these slots at hand; one that is lost is made anew for those who come later.
     *
     * @param list<int>                $numbers
     * @param array<array-key, string> $found   what was read together with the clock, by name
     *
     * @throws StoreUnavailable
     */
    public function load(array $numbers, array $found = []): void
    {
        $names = [];
        foreach ($numbers as $slot) {
            if (!\array_key_exists($slot, $this->slots)) {
                $names[$slot] = $this->slotName($this->epoch, $slot);
            }
        }
        $missing = array_values(array_filter($names, static fn(string $name): bool => !isset($found[$name])));
        $found += $missing === [] ? [] : $this->server->read($missing);
        foreach ($names as $slot => $name) {
            $bytes = $found[$name] ?? null;
            $this->slots[$slot] = $bytes !== null && TagSlot::isOne($bytes) ? $bytes : null;
        }
        $lost = array_keys(array_filter($names, fn(int $slot): bool => $this->has($slot) && $this->isLost($this->slots[$slot] ?? null), \ARRAY_FILTER_USE_KEY));
        if ($lost !== []) {
            $known = [$this->epoch, $this->tick, $this->bits, $this->slots];
            $this->change(array_fill_keys($lost, []), 0, 0);
            // This operation goes on with what it has read in one go.
            [$this->epoch, $this->tick, $this->bits, $this->slots] = $known;
        }
    }

    /**
     * @param list<string> $tags
     *
     * @throws StoreUnavailable
     */
    public function invalidate(array $tags, int $serveStale): void
    {
        $this->refresh();
        $slots = [];
        foreach ($tags as $tag) {
            [$slot, $name] = TagSlot::place($tag);
            $slots[$slot][] = $name;
        }
        $this->change($slots, $this->tick + 1, $serveStale);
    }

    /** @throws StoreUnavailable */
    public function clear(): void
    {
        // On a connection that still works, if it can be had.
        $this->server->read([$this->name()]);
        $bytes = self::anew();
        $this->insist($this->server->set($this->name(), $bytes, null));
        $this->take($bytes);
    }

    /**
     * Writes a tick into slots, and makes those that are lost.
     *
     * @param array<int, list<string>> $slots the names of tags in each slot
     * @param int                      $tick  0: none of them is invalidated
     */
    private function change(array $slots, int $tick, int $serveStale): void
    {
        $epoch = $this->epoch;
        $now = time();
        do {
            $reached = $tick;
            foreach ($slots as $slot => $names) {
                $reached = max($reached, $this->changeSlot($slot, function (string $bytes) use ($names, $tick, $serveStale, $now): string {
                    foreach ($names as $name) {
                        $bytes = TagSlot::with($bytes, $name, TagSlot::version($bytes, $name)->invalidated($tick, $serveStale, $now));
                    }

                    return $bytes;
                }));
                if ($this->epoch !== $epoch) {
                    return;
                }
            }
            if (!$this->advance($epoch, $reached, array_keys($slots))) {
                return;
            }
        } while (!$this->hasReached($slots, $tick, $now));
    }

    /**
     * @param \Closure(string): string $change
     *
     * @return int the floor of the slot, if it had to be made; 0: it was there
     */
    private function changeSlot(int $slot, \Closure $change): int
    {
        $epoch = $this->epoch;
        $name = $this->slotName($epoch, $slot);
        while (true) {
            [$bytes, $cas] = $this->server->swappable([$name])[$name] ?? [null, 0];
            if ($bytes === null) {
                if ($this->server->add($name, TagSlot::made(\PHP_INT_MAX), null) === Outcome::NoRoom) {
                    $this->insist(Outcome::NoRoom);
                }
                continue;
            }
            $floor = 0;
            if ($this->isLost($bytes)) {
                $this->refresh();
                if ($this->epoch !== $epoch) {
                    return 0;
                }
                $floor = $this->has($slot) || !TagSlot::isOne($bytes) ? $this->tick + 1 : 0;
                $bytes = TagSlot::made($floor);
            }
            $outcome = $this->server->swap($cas, $name, $change($bytes), null);
            if ($outcome === Outcome::Stored) {
                return $floor;
            }
            if ($outcome === Outcome::NoRoom) {
                // A version that cannot be told is lost: that kills more, but nothing less.
                $this->server->delete($name);
                $this->insist($outcome);
            }
        }
    }

    /**
     * @param list<int> $slots
     *
     * @return bool false: another epoch has begun, and everything is dead
     */
    private function advance(string $epoch, int $reached, array $slots): bool
    {
        while (true) {
            [$bytes, $cas] = $this->server->swappable([$this->name()])[$this->name()] ?? [null, 0];
            $this->take($bytes);
            if ($this->epoch !== $epoch) {
                return false;
            }
            $bits = $this->bits;
            foreach ($slots as $slot) {
                $bits[$slot >> 3] = \chr(\ord($bits[$slot >> 3]) | 1 << ($slot & 7));
            }
            $next = $epoch . pack('J', max($this->tick, $reached)) . $bits;
            if ($next === $bytes) {
                return true;
            }
            $outcome = $this->server->swap($cas, $this->name(), $next, null);
            if ($outcome === Outcome::Stored) {
                return true;
            }
            if ($outcome === Outcome::NoRoom) {
                $this->insist($outcome);
            }
        }
    }

    /**
     * Whether no slot is there that does not know of the tick, now that the clock tells of all of them.
     *
     * @param array<int, list<string>> $slots
     */
    private function hasReached(array $slots, int $tick, int $now): bool
    {
        $names = array_map(fn(int $slot): string => $this->slotName($this->epoch, $slot), array_keys($slots));
        $found = $names === [] ? [] : $this->server->read($names);
        foreach ($slots as $slot => $tags) {
            $bytes = $found[$this->slotName($this->epoch, $slot)] ?? null;
            if ($bytes === null) {
                continue;
            }
            if ($this->isLost($bytes)) {
                return false;
            }
            foreach ($tags as $tag) {
                if (TagSlot::version($bytes, $tag)->verdict($tick - 1, $now) === Verdict::Live) {
                    return false;
                }
            }
        }

        return true;
    }

    private function isLost(?string $bytes): bool
    {
        return $bytes === null || !TagSlot::isOne($bytes) || str_starts_with($bytes, TagSlot::made(\PHP_INT_MAX));
    }

    private function has(int $slot): bool
    {
        return $this->bits !== '' && (\ord($this->bits[$slot >> 3]) & 1 << ($slot & 7)) !== 0;
    }

    private static function anew(): string
    {
        return bin2hex(random_bytes(8)) . pack('J', 1) . str_repeat("\0", TagSlot::SLOTS >> 3);
    }

    /** @throws StoreUnavailable */
    private function insist(Outcome $outcome): void
    {
        if ($outcome === Outcome::NoRoom) {
            throw $this->server->hasNoRoom();
        }
    }
}
