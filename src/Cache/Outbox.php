<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Capability;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Health;
use Larder\Near;
use Larder\PerRequest;
use Larder\SharedMemory;
use Larder\Store;
use Larder\System\Cause;
use Psr\Log\LoggerInterface;
use Psr\Log\NullLogger;

/**
 * The way from a cache to its store. A store that fails answers nothing. The failure is counted and logged (see Outage and Losses), and
 * the store is asked again the next time. Before anything else, it is told the changes that it has missed. These are those that this
 * process remembers, and those in the journal, if there is one. A clear of the whole store replaces them all. It may reach a store that can no
 * longer be told of a single key or tag.
 */
final class Outbox
{
    /** Undelivered keys or tags remembered one by one; beyond, everything is cleared when the store is back. */
    private const MOST_UNDELIVERED = 10_000;

    /**
     * Whether the last call reached the store, and it has missed nothing, nor that a request has begun. To be read only: to
     * call a method would take as long as a read from shared memory.
     */
    public bool $isOpen = true;

    /** The pool to ask without a way round by attempt(): null unless the store is open. To be read only, too. */
    public ?SharedMemory $pool = null;

    /** The near store's memory, which may be read without asking the store: null unless that is open. To be read only. */
    public ?Near $near = null;

    private bool $available = true;

    /** Why some of the store's servers could not be asked when it was last read; null: all could. */
    private ?StoreUnavailable $partly = null;

    private int $failures = 0;

    private bool $clearPending = false;

    /** Whether there is something in the journal. */
    private bool $isJournaled = false;

    /** @var array<array-key, true> */
    private array $keys = [];

    /** @var array<array-key, true> */
    private array $tags = [];

    // Each is made when there is first something to tell of, which there is in few requests.

    private ?Outage $outage = null;

    private ?Outage $partlyOutage = null;

    private ?Outage $journalOutage = null;

    private ?Losses $losses = null;

    /**
     * @param \Closure(): float $clock  Unix time
     * @param ?SharedMemory     $direct the pool that may be asked directly, if the store's items lie in one
     * @param ?RequestToken     $begun  if additions are judged by the beginning of their request
     * @param ?Near             $directNear the memory of the store's near store, if it may be read past the store
     */
    public function __construct(
        private readonly Store $store,
        private readonly ?LoggerInterface $logger,
        private readonly bool $strict,
        private readonly ?Journal $journal,
        private readonly \Closure $clock,
        private readonly ?SharedMemory $direct = null,
        private readonly ?RequestToken $begun = null,
        private readonly ?Near $directNear = null,
    ) {
        $this->readJournal();
    }

    /** Another process may have written into it. */
    public function readJournal(): void
    {
        $this->mark($this->available, $this->journal?->isEmpty() === false);
    }

    /**
     * Asks the store, after telling it what it has missed, and that the request has begun.
     *
     * @template T
     *
     * @param \Closure(Store): T $ask
     * @param list<string>       $keys   the keys whose present values the store must lose
     * @param list<string>       $tags   the tags whose items it must lose
     * @param bool               $clears whether it must lose everything
     *
     * @return ?T null if it is unavailable
     *
     * @throws StoreUnavailable if the cache is strict
     */
    public function attempt(\Closure $ask, array $keys = [], array $tags = [], bool $clears = false): mixed
    {
        $this->begun?->own($keys);
        try {
            if ($clears && !$this->isOpen && $this->clearsWhole()) {
                $answer = $this->supersede($ask);
            } else {
                // Before the clear of a namespace, too, which leaves what the whole has missed.
                if (!$this->isOpen && !$this->isForOthers()) {
                    $this->repair();
                }
                $this->begun === null || $this->noteRequest($this->begun);
                $answer = $ask($this->store);
            }
        } catch (StoreUnavailable $failure) {
            $this->lose($failure, $keys, $tags, $clears);

            return null;
        }
        if (!$this->available) {
            $this->forget();
            $this->mark(true, $this->isJournaled);
            $this->outage?->isOver(['store' => $this->store::class]);
        }
        if ($answer instanceof Fetched) {
            $this->note($answer->failure);
        }

        return $answer;
    }

    /**
     * Tells the store that another request begins. That it takes that in says nothing of whether it can be reached.
     *
     * @throws StoreUnavailable if the cache is strict
     */
    public function begin(PerRequest $store): void
    {
        try {
            $store->beginRequest();
        } catch (StoreUnavailable $failure) {
            $this->fail($failure);
        }
    }

    /**
     * What the request does from now on is judged by this moment.
     *
     * @param ?list<string> $tags null: all of it; otherwise only what carries one of these
     */
    public function renewRequest(?array $tags = null): void
    {
        if ($this->begun !== null) {
            $tags === null ? $this->begun->renew() : $this->begun->renewFor($tags);
            $this->mark($this->available, $this->isJournaled);
        }
    }

    /**
     * Records that the store has failed, and did not lose what it should have lost.
     *
     * @param list<string> $keys
     * @param list<string> $tags
     *
     * @throws StoreUnavailable if the cache is strict
     */
    public function lose(StoreUnavailable $failure, array $keys = [], array $tags = [], bool $clears = false): void
    {
        $this->owe($keys, $tags, $clears, $failure);
        $this->fail($failure);
    }

    /**
     * Records that the store has failed.
     *
     * @throws StoreUnavailable if the cache is strict
     */
    public function fail(StoreUnavailable $failure): void
    {
        $this->failures++;
        $this->mark(false, $this->isJournaled);
        $this->outage ??= $this->outageOf('The cache\'s store is unavailable: reads are misses, writes are refused.', 'The cache\'s store is available again.');
        $this->outage->isOn(['store' => $this->store::class, 'exception' => $failure]);
        if ($this->strict) {
            throw $failure;
        }
    }

    /** @throws StoreUnavailable if the cache is strict */
    private function note(?StoreUnavailable $failure): void
    {
        $this->partly = $failure;
        if ($failure === null) {
            $this->partlyOutage?->isOver(['store' => $this->store::class]);

            return;
        }
        $this->failures++;
        $this->partlyOutage ??= $this->outageOf(
            'Some of the servers of the cache\'s store are unavailable: their items are missing.',
            'All servers of the cache\'s store are available again.',
        );
        $this->partlyOutage->isOn(['store' => $this->store::class, 'exception' => $failure]);
        if ($this->strict) {
            throw $failure;
        }
    }

    public function health(): Health
    {
        return new Health($this->available && $this->partly === null, $this->failures, \count($this->keys), \count($this->tags), $this->clearPending, $this->isJournaled);
    }

    /**
     * Has the whole store cleared, which is more than all that it has missed.
     *
     * @template T
     *
     * @param \Closure(Store): T $clear
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    private function supersede(\Closure $clear): mixed
    {
        if (!$this->isJournaled || $this->journal === null) {
            return $clear($this->store);
        }
        $answers = [];
        $isEmpty = $this->journal->deliver(function () use ($clear, &$answers): void {
            $answers[] = $clear($this->store);
        }, waits: false);
        $this->mark($this->available, !$isEmpty);

        // Where another process delivers what is in the journal, that stays its work.
        return $answers === [] ? $clear($this->store) : $answers[0];
    }

    /** @throws StoreUnavailable */
    private function noteRequest(RequestToken $begun): void
    {
        if ($begun->isDue()) {
            $begun->note();
            $this->mark($this->available, $this->isJournaled);
        }
    }

    /** @throws StoreUnavailable */
    private function repair(): void
    {
        if ($this->isJournaled && $this->journal?->deliver($this->tell(...)) !== true) {
            $distrust = $this->journal?->distrust();
            $why = $this->journal?->why() ?? '';
            if ($distrust === null && $why !== '') {
                throw new StoreUnavailable(Cause::again($why));
            }
            throw StoreUnavailable::because(
                'The journal of the cache',
                $distrust?->reason() ?? 'it cannot be delivered now: another process is at it, or failed a moment ago, or it cannot be read',
                $distrust->remedy ?? 'try again, and see that it is this user\'s, or remove it and clear the store',
            );
        }
        $this->mark($this->available, false);
        $this->tell(array_map(strval(...), array_keys($this->keys)), array_map(strval(...), array_keys($this->tags)), $this->clearPending);
        $this->forget();
    }

    /**
     * @param list<string> $keys
     * @param list<string> $tags
     *
     * @throws StoreUnavailable
     */
    private function tell(array $keys, array $tags, bool $clears): void
    {
        if ($clears) {
            $this->store->clear();
            if ($this->clearsWhole()) {
                return;
            }
        }
        if ($tags !== []) {
            $this->store->invalidateTags($tags);
        }
        if ($keys !== []) {
            $this->store->delete($keys);
        }
    }

    /**
     * @param list<string> $keys
     * @param list<string> $tags
     */
    private function owe(array $keys, array $tags, bool $clears, StoreUnavailable $failure): void
    {
        if ($keys === [] && $tags === [] && !$clears) {
            return;
        }
        // One by one: PHP would copy the whole of a typed property to add an array to it.
        foreach ($keys as $key) {
            $this->keys[$key] = true;
        }
        foreach ($tags as $tag) {
            $this->tags[$tag] = true;
        }
        if ($clears || \count($this->keys) + \count($this->tags) > self::MOST_UNDELIVERED) {
            // The tags may be those of items that a clear of a namespace does not reach.
            $this->tags = \count($this->tags) <= self::MOST_UNDELIVERED ? $this->tags : [];
            $this->keys = [];
            $this->clearPending = true;
        }
        if ($this->journal !== null) {
            $isWritten = $this->journal->append($keys, $tags, $clears, $this->isForOthers() ? '' : $failure->getMessage());
            $this->mark($this->available, $this->isJournaled || $isWritten);
            if ($isWritten) {
                $this->journalOutage?->isOver([]);
            } else {
                $this->journalOutage ??= $this->outageOf(
                    'The cache\'s journal cannot be written: what the store has missed is forgotten with this process.',
                    'The cache\'s journal can be written again.',
                );
                $this->journalOutage->isOn(array_filter(['why' => $this->journal->distrust()?->reason()]));
            }
        }
        $this->losses ??= new Losses($this->logger(), $this->store::class, $this->clock);
        $this->losses->add($keys, $tags, $clears);
    }

    /** Whether a clear is more than anything that the store may have missed. */
    private function clearsWhole(): bool
    {
        return \in_array(Capability::WholeClear, $this->store->capabilities(), true);
    }

    /** Whether what is owed is for other processes to deliver. One that tried would keep them from it for a while. */
    private function isForOthers(): bool
    {
        return \in_array(Capability::Absence, $this->store->capabilities(), true);
    }

    private function outageOf(string $begun, string $over): Outage
    {
        return new Outage($this->logger(), $this->clock, $begun, $over);
    }

    /** @return ?LoggerInterface null: PHP's error log. A strict cache tells by an exception */
    private function logger(): ?LoggerInterface
    {
        return $this->logger ?? ($this->strict ? new NullLogger() : null);
    }

    private function mark(bool $available, bool $isJournaled): void
    {
        $this->available = $available;
        $this->isJournaled = $isJournaled;
        $this->isOpen = $available && !$isJournaled && $this->begun?->isDue() !== true;
        $this->pool = $this->isOpen ? $this->direct : null;
        $this->near = $this->isOpen ? $this->directNear : null;
    }

    private function forget(): void
    {
        $this->clearPending = false;
        $this->keys = $this->tags = [];
        $this->losses?->areDelivered();
    }
}
