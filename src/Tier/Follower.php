<?php

declare(strict_types=1);

namespace Larder\Tier;

use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Key;
use Larder\Log;
use Larder\Log\Away;
use Larder\Log\Beside;
use Larder\Log\Event;
use Larder\Log\News;
use Larder\Pooled;
use Larder\Reads;
use Larder\SaveMode;
use Larder\SharedMemory;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Store\SharedMemoryStore;
use Larder\System\Caution;
use Larder\Token;
use Psr\Log\LoggerInterface;

/**
 * Brings a near store up to date with the log of the far one.
 *
 * The position is kept in the near store itself. So all processes that share the store share the work, and the two are lost together.
 * Beside it lies when the log was asked for it. A process need not ask if another one has since its own request began.
 *
 * A position that another process overwrites with an earlier one does no harm: its events are applied once more.
 *
 * Items of a near store expire by this machine's time of day. Where that was set back, and the far store is elsewhere, the near store
 * begins anew: no event tells of an expiry.
 */
final class Follower
{
    /** In ns: for so long a position that has not changed is not stored again, only to tell that it was asked for. */
    private const TOLD_EVERY = 1_000_000;

    /** In ns: the same where a request asks as soon as it begins, as then no other one could use that. It is for those who look after it. */
    private const TOLD_AT_LEAST_EVERY = 1_000_000_000;

    private const UNREAD = 'The log of a near store cannot be read, so all reads go to the far store; run "larder doctor" with the tier\'s DSN.';

    /** What the near store has followed. */
    private readonly string $followed;

    /** Since when the log cannot be read. */
    private readonly string $failing;

    /** Counts of what was done to it. */
    private readonly string $tally;

    /** The position as it was read last: within a request it is seldom another one, and to read it again takes longer. */
    private ?Followed $last = null;

    /** Whether the last time brought anything to forget. */
    private bool $hadNews = false;

    /** Null: PHP's error log. */
    private ?LoggerInterface $logger = null;

    /** Made when there is something to tell, which most requests have not. */
    private ?Caution $caution = null;

    /** The log, if it is on this machine. */
    private readonly ?Beside $beside;

    /** Of the near store, if it is in one: it is asked for the position in each request, and after misses. */
    private readonly ?SharedMemory $pool;

    /** Why the log could not be read the last time. */
    private ?StoreUnavailable $failure = null;

    /**
     * @param bool            $isOfTiers whether the far store is a tier itself
     * @param int             $grace     seconds in which the near store may answer while the log cannot be read
     * @param \Closure(): int $clock     the time in Unix seconds
     * @param string          $place     of the far store, for those who look after the near one
     */
    public function __construct(
        private readonly Store&Reads $near,
        private readonly Log $log,
        private readonly bool $isOfTiers,
        private readonly int $grace,
        private readonly \Closure $clock,
        private readonly string $place,
    ) {
        $this->beside = $log instanceof Beside ? $log : null;
        $this->pool = $near instanceof Pooled ? $near->pool() : null;
        $this->followed = Key::internal('tier', 'followed');
        $this->failing = Key::internal('tier', 'failing');
        $this->tally = Key::internal('tier', 'tally');
    }

    /**
     * @return ?string the place of the far store that this one is the near one of; null: it is of none
     *
     * @throws StoreUnavailable
     */
    public static function placeIn(Reads $store): ?string
    {
        $followed = Followed::read($store->read(Key::internal('tier', 'followed')));

        return $followed->position === null ? null : $followed->place;
    }

    public function setLogger(LoggerInterface $logger): void
    {
        $this->logger = $logger;
    }

    /** How far the near store has followed. Items that it is then asked for are not older. */
    public function followed(): Followed
    {
        try {
            return $this->read();
        } catch (StoreUnavailable) {
            return Followed::nothing();
        }
    }

    /**
     * @param ?Followed $followed as the near store told it; null: it is asked now
     * @param ?int      $sent     when the log was asked along with something else, by hrtime(); null: it is asked now
     * @param int       $since    by hrtime(): a position that was asked for then or later would have done as well
     *
     * @return bool whether the near store may be read
     */
    public function bringUpToDate(?Followed $followed = null, ?int $sent = null, int $since = 0): bool
    {
        $this->failure = null;
        try {
            $this->hadNews = true;

            return $this->follow($followed ?? $this->read(), $sent ?? (int) hrtime(true), $since);
        } catch (StoreUnavailable $failure) {
            if ($this->isWithinGrace()) {
                return true;
            }
            $this->bypass($failure->getMessage());

            return false;
        }
    }

    /**
     * Whether what was just read of the far store may be kept in the near one. Another process may have begun that anew since this
     * request has looked at the log, after a failover that this process has not noticed.
     *
     * @throws StoreUnavailable
     */
    public function isOfHistory(): bool
    {
        $position = $this->read()->position;

        return $position !== null && $this->log->isOfHistory($position);
    }

    /**
     * Whether the near store is no older than tokens of the far one, as these tell themselves.
     *
     * @param array<array-key, Token> $tokens
     * @param ?Followed               $followed from before something was read from the near store; null: nothing was, and it is asked now
     */
    public function hasReached(array $tokens, ?Followed $followed = null): bool
    {
        if (!$this->log instanceof Away) {
            return false;
        }
        $position = ($followed ?? $this->followed())->position;
        if ($position === null) {
            return false;
        }
        $last = null;
        foreach ($tokens as $token) {
            // Those of one answer are mostly one object.
            if ($token !== $last && !$this->log->reaches($position, $token)) {
                return false;
            }
            $last = $token;
        }

        return $last !== null;
    }

    /** Whether what was read from the near store before the last bringUpToDate() may be out of date. */
    public function hadNews(): bool
    {
        return $this->hadNews;
    }

    /**
     * The far store has answered. If its log did not, that would go unnoticed otherwise: everything is right, only slower. Where it does
     * not answer either, the cache tells that.
     */
    public function farHasAnswered(): void
    {
        if ($this->failure !== null && !$this->isOfTiers) {
            $this->tell(self::UNREAD, ['exception' => $this->failure]);
        }
        $this->failure = null;
    }

    /**
     * For those who look after the near store.
     *
     * @return array<string, int|float|string|null> lag: events of the log that the near store has not followed, null if that cannot be told, or
     *                                              the near store has to begin anew; position; age of that in seconds; and the tally
     */
    public function details(): array
    {
        $followed = $this->followed();
        $position = $followed->position;
        $tally = new Tally();
        $news = null;
        try {
            $tally = $this->tally();
            $news = $position === null ? null : $this->log->since($position);
        } catch (StoreUnavailable) {
            // The rest cannot be told.
        }

        return [
            'lag' => $news?->isComplete === true ? \count($news->events) : null,
            'position' => $position,
            'age' => $followed->age(),
            'events' => $tally->events + $followed->events,
            'beginnings' => $tally->beginnings,
            'bypasses' => $tally->bypasses,
            'bypassed at' => $tally->when,
            'bypassed because' => $tally->why,
        ];
    }

    /** @throws StoreUnavailable */
    public function forget(Event $event): void
    {
        $this->apply([$event]);
    }

    /**
     * @return bool whether the near store may be read
     *
     * @throws StoreUnavailable
     */
    private function follow(Followed $followed, int $sent, int $since): bool
    {
        [$head, $news] = $this->news($followed);
        if ($news === null) {
            $this->hadNews = false;

            return true;
        }
        $isGoneOn = $news->isComplete && !($this->log instanceof Away && $followed->isBeforeSetBack());
        if (!$isGoneOn) {
            $this->beginAnew();
        } elseif ($news->events !== []) {
            $this->apply($news->events);
        }
        $this->hadNews = !$isGoneOn || $news->events !== [];
        $every = $this->grace > 0 || $sent - $since >= self::TOLD_EVERY ? self::TOLD_EVERY : self::TOLD_AT_LEAST_EVERY;
        if ($this->hadNews || $this->beside !== null || $sent - $followed->sent > $every || $sent < $followed->sent) {
            $this->grace === 0 || $this->near->delete([$this->failing]);

            return $this->advance($followed, Followed::now($head, $news->position, $sent, $this->place, $isGoneOn ? $followed->events + \count($news->events) : 0), $isGoneOn);
        }

        return true;
    }

    /**
     * Keeps how far the near store has followed, unless another process has done so since: with another history of the far store, what
     * it has by now is of that one. If not, no harm is done. It has followed as far, or has begun anew in this request.
     *
     * @param bool $isGoneOn false: it begins
     *
     * @return bool whether the near store may be read
     *
     * @throws StoreUnavailable
     */
    private function advance(Followed $from, Followed $to, bool $isGoneOn): bool
    {
        $token = $isGoneOn ? $this->token() : null;
        if ($isGoneOn && ($is = $this->read()) !== $from && $is->stored !== $from->stored) {
            return $this->isOfHistory();
        }

        if (!$this->put($to, $token)) {
            return $this->isOfHistory();
        }
        $this->last = $to;

        return true;
    }

    /**
     * Of the position.
     *
     * @throws StoreUnavailable
     */
    private function token(): Token
    {
        try {
            return $this->pool === null ? $this->near->token($this->followed) : $this->pool->token($this->followed);
        } catch (PoolUnusable $failure) {
            throw SharedMemoryStore::unavailable($failure);
        }
    }

    /**
     * In a pool without the steps of a store of anything.
     *
     * @param ?Token $token from before the present position was read; null: only if there is none
     *
     * @return bool whether it was stored
     *
     * @throws StoreUnavailable
     */
    private function put(Followed $to, ?Token $token): bool
    {
        try {
            return match (true) {
                $this->pool === null => $this->near->save([new Item($this->followed, $to->stored, token: $token)], $token === null ? SaveMode::Add : SaveMode::Set) === [],
                $token === null => $this->pool->add($this->followed, $to->stored),
                default => $this->pool->set($this->followed, $to->stored, null, [], $token, false),
            };
        } catch (PoolUnusable $failure) {
            throw SharedMemoryStore::unavailable($failure);
        }
    }

    /**
     * @return array{?string, ?News} the log's head, and what came after what was followed; null: nothing
     *
     * @throws StoreUnavailable
     */
    private function news(Followed $followed): array
    {
        try {
            $head = $this->beside?->head();
            if ($head !== null && $head === $followed->head) {
                return [$head, null];
            }
            $position = $followed->position;
            $own = $this->beside !== null && $head !== null && $position !== null ? $this->beside->own($head, $position) : null;

            return [$head, $own ?? $this->log->since($position)];
        } catch (StoreUnavailable $failure) {
            throw $this->failure = $failure;
        }
    }

    /** @throws StoreUnavailable */
    private function read(): Followed
    {
        $stored = $this->pool === null ? $this->near->read($this->followed) : $this->pool->get($this->followed);
        $last = $this->last;

        return $last !== null && $stored === $last->stored ? $last : $this->last = Followed::read($stored);
    }

    /** @throws StoreUnavailable */
    private function tally(): Tally
    {
        return Tally::read($this->near->read($this->tally));
    }

    /** @param array{exception: \Throwable} $context */
    private function tell(string $says, array $context): void
    {
        ($this->caution ??= new Caution($this->logger))->tell($says, $context);
    }

    private function bypass(string $why): void
    {
        try {
            $this->keep($this->tally, $this->tally()->withBypass($why, ($this->clock)())->toStore());
        } catch (StoreUnavailable) {
            // It is only for those who look after it.
        }
    }

    /**
     * Deletes the position first. Items that another process keeps from then on are judged by its absence.
     *
     * @throws StoreUnavailable
     */
    private function beginAnew(): void
    {
        $tally = $this->tally()->withBeginning($this->read()->events);
        $this->near->delete([$this->followed]);
        $this->near->clear();
        $this->keep($this->tally, $tally->toStore());
    }

    /**
     * The old position is not too much to claim of a store with nothing in it.
     *
     * @throws StoreUnavailable
     */
    private function empty(): void
    {
        [$followed, $tally] = [$this->read(), $this->tally()];
        $this->near->clear();
        $this->keep($this->tally, $tally->toStore());
        if ($followed->position !== null) {
            $this->near->save([new Item($this->followed, $followed->stored)], SaveMode::Add);
        }
    }

    /**
     * @param list<mixed> $value
     *
     * @throws StoreUnavailable
     */
    private function keep(string $key, array $value): void
    {
        $this->near->save([new Item($key, $value)]);
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
                $this->empty();

                return;
            }
            $keys += array_fill_keys($event->keys, true);
            $tags += array_fill_keys($event->tags, true);
        }
        if ($tags !== [] && $this->isOfTiers) {
            // The items came from the near store in between, and not every one tells the tags of what it has.
            $this->empty();

            return;
        }
        if ($tags !== []) {
            $this->near->invalidateTags(array_map(strval(...), array_keys($tags)));
        }
        if ($keys !== []) {
            $keys = array_map(strval(...), array_keys($keys));
            $this->forgetKeys($keys);
        }
    }

    /**
     * @param list<string> $keys
     *
     * @throws StoreUnavailable
     */
    private function forgetKeys(array $keys): void
    {
        if ($this->pool === null) {
            $this->near instanceof ApcuStore ? $this->near->forget($keys) : $this->near->delete($keys);

            return;
        }
        try {
            foreach ($keys as $key) {
                $this->pool->delete($key);
            }
        } catch (PoolUnusable $failure) {
            throw SharedMemoryStore::unavailable($failure);
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

            // A store that has followed nothing yet has nothing to serve.
            return \is_int($since) && abs($now - $since) < $this->grace && $this->read()->position !== null;
        } catch (StoreUnavailable) {
            return false;
        }
    }
}
