<?php

declare(strict_types=1);

namespace Larder\Tier;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Key;
use Larder\Log;
use Larder\Log\News;
use Larder\Reads;
use Larder\SaveMode;
use Larder\Store;

/**
 * Brings a near store up to date with the log of the far one.
 *
 * The position is kept in the near store itself. So all processes that share the store share the work, and the two are lost together.
 */
final class Follower
{
    /** What the near store has followed: the log's head, if it had one, and the position. */
    private readonly string $followed;

    /** Since when the log cannot be read. */
    private readonly string $failing;

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

    /** @return bool whether the near store may be read */
    public function bringUpToDate(): bool
    {
        try {
            $this->follow();

            return true;
        } catch (StoreUnavailable) {
            return $this->isWithinGrace();
        }
    }

    /** @throws StoreUnavailable */
    private function follow(): void
    {
        $followed = $this->near->read($this->followed);
        [$then, $position] = \is_array($followed) && \count($followed) === 2 ? array_values($followed) : [null, null];
        $head = $this->log->head();
        if ($head !== null && $head === $then) {
            return;
        }
        $position = \is_string($position) ? $position : null;
        $news = ($head === null || $position === null ? null : $this->log->own($head, $position)) ?? $this->log->since($position);
        $this->apply($news);
        $this->near->delete([$this->failing]);
        $this->near->save([new Item($this->followed, [$head, $news->position])]);
    }

    private function apply(News $news): void
    {
        $keys = $tags = [];
        foreach ($news->events as $event) {
            if ($event->isEverything) {
                $this->near->clear();

                return;
            }
            $keys += array_fill_keys($event->keys, true);
            $tags += array_fill_keys($event->tags, true);
        }
        if (!$news->isComplete) {
            $this->near->clear();

            return;
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

    private function isWithinGrace(): bool
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
