<?php

declare(strict_types=1);

namespace Larder\Tier;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Key;
use Larder\Log;
use Larder\Log\Beside;
use Larder\Log\Event;
use Larder\Reads;
use Larder\SaveMode;
use Larder\Store;

/**
 * Brings a near store up to date with the log of the far one.
 *
 * The position is kept in the near store itself. So all processes that share the store share the work, and the two are lost together.
 * Beside it lies when the log was asked for it. A process need not ask if another one has since its own request began.
 *
 * A position that another process overwrites with an earlier one does no harm: its events are applied once more.
 */
final class Follower
{
    /** In ns: for so long a position that has not changed is not stored again, only to tell that it was asked for. */
    private const TOLD_EVERY = 1_000_000;

    /** What the near store has followed. */
    private readonly string $followed;

    /** Since when the log cannot be read. */
    private readonly string $failing;

    /** Whether the last time brought anything to forget. */
    private bool $hadNews = false;

    /**
     * @param bool            $isOfTiers whether the far store is a tier itself
     * @param int             $grace     seconds in which the near store may answer while the log cannot be read
     * @param \Closure(): int $clock     the time in Unix seconds
     */
    public function __construct(
        private readonly Store&Reads $near,
        private readonly Log $log,
        private readonly bool $isOfTiers,
        private readonly int $grace,
        private readonly \Closure $clock,
    ) {
        $this->followed = Key::internal('tier', 'followed');
        $this->failing = Key::internal('tier', 'failing');
    }

    /** How far the near store has followed. What it is then asked for is not older. */
    public function followed(): Followed
    {
        try {
            return Followed::read($this->near->read($this->followed));
        } catch (StoreUnavailable) {
            return Followed::nothing();
        }
    }

    /**
     * @param ?Followed $followed as the near store told it; null: it is asked now
     * @param ?int      $sent     when the log was asked along with something else, by hrtime(); null: it is asked now
     *
     * @return bool whether the near store may be read
     */
    public function bringUpToDate(?Followed $followed = null, ?int $sent = null): bool
    {
        try {
            $this->hadNews = true;
            $this->follow($followed ?? Followed::read($this->near->read($this->followed)), $sent ?? (int) hrtime(true));

            return true;
        } catch (StoreUnavailable) {
            return $this->isWithinGrace();
        }
    }

    /** Whether what was read from the near store before the last bringUpToDate() may be out of date. */
    public function hadNews(): bool
    {
        return $this->hadNews;
    }

    /** @return ?int events of the log that the near store has not followed; null: it cannot be told, or the near store has to begin anew */
    public function lag(): ?int
    {
        try {
            $position = $this->followed()->position;
            $news = $position === null ? null : $this->log->since($position);

            return $news?->isComplete === true ? \count($news->events) : null;
        } catch (StoreUnavailable) {
            return null;
        }
    }

    /** @throws StoreUnavailable */
    public function forget(Event $event): void
    {
        $this->apply([$event]);
    }

    /** @throws StoreUnavailable */
    private function follow(Followed $followed, int $sent): void
    {
        $head = $this->log instanceof Beside ? $this->log->head() : null;
        if ($head !== null && $head === $followed->head) {
            $this->hadNews = false;

            return;
        }
        $position = $followed->position;
        $news = ($this->log instanceof Beside && $head !== null && $position !== null ? $this->log->own($head, $position) : null) ?? $this->log->since($position);
        $news->isComplete ? $this->apply($news->events) : $this->near->clear();
        $this->hadNews = !$news->isComplete || $news->events !== [];
        if ($this->hadNews || $this->log instanceof Beside || $sent - $followed->sent > self::TOLD_EVERY || $sent < $followed->sent) {
            $this->near->delete([$this->failing]);
            $this->near->save([new Item($this->followed, Followed::now($head, $news->position, $sent)->toStore())]);
        }
    }

    /**
     * @param list<Event> $events
     *
     * @throws StoreUnavailable
     */
    private function apply(array $events): void
    {
        $keys = $tags = [];
        foreach ($events as $event) {
            if ($event->isEverything) {
                $this->near->clear();

                return;
            }
            $keys += array_fill_keys($event->keys, true);
            $tags += array_fill_keys($event->tags, true);
        }
        if ($tags !== [] && $this->isOfTiers) {
            // The items came from the near store in between, and not every one tells the tags of what it has.
            $this->near->clear();

            return;
        }
        if ($tags !== []) {
            $this->near->invalidateTags(array_map(strval(...), array_keys($tags)));
        }
        if ($keys !== []) {
            $this->near->delete(array_map(strval(...), array_keys($keys)));
        }
    }

    /** Whether the near store may be read although the log cannot. */
    public function isWithinGrace(): bool
    {
        if ($this->grace === 0) {
            return false;
        }
        try {
            $now = ($this->clock)();
            $this->near->save([new Item($this->failing, $now)], SaveMode::Add);
            $since = $this->near->read($this->failing);

            // What has followed nothing yet has nothing to serve.
            return \is_int($since) && $now - $since < $this->grace && $this->near->read($this->followed) !== null;
        } catch (StoreUnavailable) {
            return false;
        }
    }
}
