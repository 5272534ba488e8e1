<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Capability;
use Larder\Exception\StoreUnavailable;
use Larder\Store;
use Larder\System\Cause;
use Psr\Log\LoggerInterface;

/**
 * The changes that a store has missed: those that this process remembers, and those in the journal, if there is one. A clear of the
 * whole store replaces them all. It may reach a store that can no longer be told of a single key or tag.
 */
final class Outbox
{
    /** Undelivered keys or tags remembered one by one; beyond, everything is cleared when the store is back. */
    private const MOST_UNDELIVERED = 10_000;

    /** Whether there is something in the journal. To be read only. */
    public bool $isJournaled = false;

    private bool $clears = false;

    /** @var array<array-key, true> */
    private array $keys = [];

    /** @var array<array-key, true> */
    private array $tags = [];

    private ?Outage $journalOutage = null;

    private ?Losses $losses = null;

    /**
     * @param ?LoggerInterface  $logger null: PHP's error log
     * @param \Closure(): float $clock  Unix time
     */
    public function __construct(
        private readonly Store $store,
        private readonly ?LoggerInterface $logger,
        private readonly ?Journal $journal,
        private readonly \Closure $clock,
    ) {}

    /** Another process may have written into it. */
    public function readJournal(): void
    {
        $this->isJournaled = $this->journal?->isEmpty() === false;
    }

    /**
     * @param list<string>     $keys
     * @param list<string>     $tags
     * @param StoreUnavailable $failure why the store has missed them
     */
    public function add(array $keys, array $tags, bool $clears, StoreUnavailable $failure): void
    {
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
            $this->clears = true;
        }
        if ($this->journal !== null) {
            $isWritten = $this->journal->append($keys, $tags, $clears, $this->isForOthers() ? '' : $failure->getMessage());
            $this->isJournaled = $this->isJournaled || $isWritten;
            if ($isWritten) {
                $this->journalOutage?->isOver([]);
            } else {
                $this->journalOutage ??= new Outage(
                    $this->logger,
                    $this->clock,
                    'The cache\'s journal cannot be written: what the store has missed is forgotten with this process.',
                    'The cache\'s journal can be written again.',
                );
                $this->journalOutage->isOn(array_filter(['why' => $this->journal->distrust()?->reason()]));
            }
        }
        $this->losses ??= new Losses($this->logger, $this->store::class, $this->clock);
        $this->losses->add($keys, $tags, $clears);
    }

    /**
     * Tells the store all of it, unless that is for other processes.
     *
     * @throws StoreUnavailable
     */
    public function deliver(): void
    {
        if ($this->isForOthers()) {
            return;
        }
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
        $this->isJournaled = false;
        $this->tell(array_map(strval(...), array_keys($this->keys)), array_map(strval(...), array_keys($this->tags)), $this->clears);
        $this->forget();
    }

    /** Whether a clear is more than anything that the store may have missed. */
    public function isReplacedByAClear(): bool
    {
        return \in_array(Capability::WholeClear, $this->store->capabilities(), true);
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
    public function replace(\Closure $clear): mixed
    {
        if (!$this->isJournaled || $this->journal === null) {
            return $clear($this->store);
        }
        $answers = [];
        $isEmpty = $this->journal->deliver(function () use ($clear, &$answers): void {
            $answers[] = $clear($this->store);
        }, waits: false);
        $this->isJournaled = !$isEmpty;

        // Where another process delivers what is in the journal, that stays its work.
        return $answers === [] ? $clear($this->store) : $answers[0];
    }

    /** Ends what this process remembers: the store has been told. */
    public function forget(): void
    {
        $this->clears = false;
        $this->keys = $this->tags = [];
        $this->losses?->areDelivered();
    }

    /** Whether this process remembers tags or a clear, and not only keys. */
    public function owes(): bool
    {
        return $this->clears || $this->tags !== [];
    }

    /** Whether the store is to be told something before it is asked, or may be. */
    public function owesAnything(): bool
    {
        return $this->isJournaled || $this->keys !== [] || $this->owes();
    }

    /** The number of changes that this process remembers. */
    public function undelivered(): Undelivered
    {
        return new Undelivered(\count($this->keys), \count($this->tags), $this->clears);
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
            if ($this->isReplacedByAClear()) {
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

    /** Whether what is owed is for other processes to deliver. One that tried would keep them from it for a while. */
    private function isForOthers(): bool
    {
        return \in_array(Capability::Absence, $this->store->capabilities(), true);
    }
}
