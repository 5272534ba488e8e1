<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Health;
use Larder\Near;
use Larder\PerRequest;
use Larder\SharedMemory;
use Larder\Store;
use Psr\Log\LoggerInterface;
use Psr\Log\NullLogger;

/**
 * The way from a cache to its store. A store that fails answers nothing. The failure is counted and logged (see Outage and Losses), and
 * the store is asked again the next time. Before anything else, it is told the changes that it has missed (see Outbox).
 */
final class Gate
{
    /**
     * Whether the last call reached the store, and it has missed nothing, nor that a request has begun. To be read only: to
     * call a method would take as long as a read from shared memory.
     */
    public bool $isOpen = true;

    /** The pool to ask without a way round by attempt(): null unless the gate is open. To be read only, too. */
    public ?SharedMemory $pool = null;

    /** The near store's memory, which may be read without asking the store: null unless the gate is open. To be read only. */
    public ?Near $near = null;

    private bool $isAvailable = true;

    /** Why some of the store's servers could not be asked when it was last read; null: all could. */
    private ?StoreUnavailable $partly = null;

    private int $failures = 0;

    /** Whether the store has missed something of this cache, or of one that it is a namespace of. */
    private bool $owes = false;

    /** That of the cache whose namespace this one's is; null: it is none. */
    private ?self $whole = null;

    /** @var ?\WeakMap<self, true> those of namespaces */
    private ?\WeakMap $parts = null;

    // Each is made when there is first something for it to do, which there is in few requests.

    private ?Outbox $outbox = null;

    private ?Outage $outage = null;

    private ?Outage $partlyOutage = null;

    /**
     * @param \Closure(): float $clock        Unix time
     * @param ?SharedMemory     $poolBehind   the pool that may be asked directly, if the store's items lie in one
     * @param ?Near             $nearBehind   the memory of the store's near store, if it may be read past the store
     * @param ?RequestToken     $requestToken if additions are judged by the beginning of their request
     */
    public function __construct(
        private readonly Store $store,
        private readonly ?LoggerInterface $logger,
        private readonly bool $strict,
        private readonly ?Journal $journal,
        private readonly \Closure $clock,
        private readonly ?SharedMemory $poolBehind = null,
        private readonly ?Near $nearBehind = null,
        private readonly ?RequestToken $requestToken = null,
    ) {
        $this->mark(true);
        if ($journal !== null) {
            $this->readJournal();
        }
    }

    /** What the whole has missed, its namespaces have missed. A tag is in all of them, so the whole remembers those that a namespace has lost. */
    public function join(self $whole): void
    {
        $this->whole = $whole;
        $whole->parts ??= new \WeakMap();
        $whole->parts[$this] = true;
        $this->mark($this->isAvailable);
    }

    /** Another process may have written into it. */
    public function readJournal(): void
    {
        if ($this->journal !== null) {
            $this->outbox()->readJournal();
        } elseif ($this->isOpen && $this->outbox === null && $this->requestToken === null) {
            // So nearly each request begins. All else that closes the gate says so itself, but for what an exception of a signal's handler interrupts.
            return;
        }
        $this->mark($this->isAvailable);
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
        $this->requestToken?->own($keys);
        try {
            if (!$this->isOpen && $clears && $this->outbox?->isReplacedByAClear() === true) {
                $answer = $this->outbox->replace($ask);
            } else {
                if (!$this->isOpen) {
                    // Before the clear of a namespace, too, which leaves what the whole has missed.
                    $this->whole?->deliver();
                    $this->outbox?->deliver();
                    $this->requestToken?->deliver();
                }
                if ($this->requestToken?->isDue() === true) {
                    $this->requestToken->note();
                }
                $answer = $ask($this->store);
            }
        } catch (StoreUnavailable $failure) {
            $this->lose($failure, $keys, $tags, $clears);

            return null;
        }
        if (!$this->isOpen) {
            $this->reopen();
        }
        if ($answer instanceof Fetched) {
            $this->note($answer->failure);
        }

        return $answer;
    }

    /**
     * As attempt() of what the store has fetched already.
     *
     * @throws StoreUnavailable if the cache is strict
     */
    public function take(Fetched $fetched): ?Fetched
    {
        // Nearly each miss of a cache is one, and there is nothing to do.
        return $this->isOpen && $fetched->failure === null && $this->partly === null ? $fetched : $this->attempt(static fn(): Fetched => $fetched);
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
     * What the request has changed itself is judged by this moment from now on.
     *
     * @param ?OwnTags $own if it has invalidated tags; null: it has cleared the cache
     */
    public function takeNextToken(?OwnTags $own): void
    {
        if ($this->requestToken !== null) {
            $own === null ? $this->requestToken->cleared() : $this->requestToken->invalidated($own);
            if ($this->owesTags()) {
                $this->requestToken->miss();
            }
            $this->mark($this->isAvailable);
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
        if ($this->whole !== null && $tags !== []) {
            $this->whole->owe($tags, $failure);
            $tags = [];
        }
        if ($keys !== [] || $tags !== [] || $clears) {
            $this->outbox()->add($keys, $tags, $clears, $failure);
        }
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
        $this->requestToken?->fail();
        $this->mark(false);
        $this->outage ??= $this->outageOf('The cache\'s store is unavailable: reads are misses, writes are refused.', 'The cache\'s store is available again.');
        $this->outage->isOn(['store' => $this->store::class, 'exception' => $failure]);
        if ($this->strict) {
            throw $failure;
        }
    }

    public function health(): Health
    {
        $missed = $this->outbox?->undelivered();
        $whole = $this->whole?->health();

        return new Health(
            $this->isAvailable && $this->partly === null,
            $this->failures,
            ($missed->keys ?? 0) + ($whole->undelivered ?? 0),
            ($missed->tags ?? 0) + ($whole->undeliveredTags ?? 0),
            ($missed->clears ?? false) || ($whole->clearPending ?? false),
            ($this->outbox->isJournaled ?? false) || ($whole->journaled ?? false),
        );
    }

    /** Whether the store has missed something of this cache, apart from the one that it is a namespace of. */
    public function owesItself(): bool
    {
        return $this->outbox?->owesAnything() === true;
    }

    /** Whether this process remembers tags or a clear that the store has missed, of the whole, too. */
    private function owesTags(): bool
    {
        return $this->outbox?->owes() === true || $this->whole?->owesTags() === true;
    }

    /** @param list<string> $tags that a namespace has lost */
    private function owe(array $tags, StoreUnavailable $failure): void
    {
        if ($this->whole !== null) {
            $this->whole->owe($tags, $failure);

            return;
        }
        $this->outbox()->add([], $tags, false, $failure);
        $this->mark($this->isAvailable);
    }

    /**
     * For a namespace, before it asks the store.
     *
     * @throws StoreUnavailable
     */
    private function deliver(): void
    {
        $this->whole?->deliver();
        if ($this->owesItself()) {
            $this->outbox?->deliver();
            $this->mark($this->isAvailable);
        }
    }

    private function reopen(): void
    {
        $this->outbox?->forget();
        if (!$this->isAvailable) {
            $this->outage?->isOver(['store' => $this->store::class]);
        }
        $this->mark(true);
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

    private function outbox(): Outbox
    {
        return $this->outbox ??= new Outbox($this->store, $this->logger(), $this->journal, $this->clock);
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

    private function mark(bool $isAvailable): void
    {
        $this->isAvailable = $isAvailable;
        $owes = $this->owesItself() || $this->whole?->owes === true;
        $this->isOpen = $isAvailable && !$owes && $this->requestToken?->isDue() !== true;
        $this->pool = $this->isOpen ? $this->poolBehind : null;
        $this->near = $this->isOpen ? $this->nearBehind : null;
        if ($owes !== $this->owes) {
            $this->owes = $owes;
            foreach ($this->parts ?? [] as $part => $_) {
                $part->mark($part->isAvailable);
            }
        }
    }
}
