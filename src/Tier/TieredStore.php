<?php

declare(strict_types=1);

namespace Larder\Tier;

use Larder\Cache\Far;
use Larder\Cache\MissTokens;
use Larder\Capability;
use Larder\Exception\InvalidOption;
use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\Key;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\Log;
use Larder\Log\Away;
use Larder\Log\Beside;
use Larder\Log\Event;
use Larder\Log\NoLog;
use Larder\MayEvict;
use Larder\Near;
use Larder\PerRequest;
use Larder\Pooled;
use Larder\Reads;
use Larder\ReadsFar;
use Larder\ReadsNear;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Serializer\Contents;
use Larder\SharedMemory;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Store\Retention;
use Larder\StoreStatistics;
use Larder\Tidying;
use Larder\Token;
use Larder\Ttl;
use Psr\Log\LoggerAwareInterface;
use Psr\Log\LoggerInterface;

/**
 * A near store in front of a far one. The near store answers reads where it can. The far store answers everything else.
 *
 *     request ── head ──> log                 nothing new: the near store is as good as the far one
 *        │    ── since ─> log                 the events since the near store's position are applied to it
 *        ├── read ──> near ── miss ──> far    what is found is kept in the near store
 *        └── write ─> far + event             in one transaction
 *
 * A request that begins after a write, delete, tag invalidation or clear has finished anywhere sees it. The near store keeps in itself
 * how far it has followed the log. So all processes that share it share the work, and the two are lost together. It is brought up to date
 * before the first read of a request, after each write of its own, and after a miss. A token may tell that it is so already. A request
 * begins with the store itself or with beginRequest().
 *
 * A value from the far store is kept by the token that the near store gave before the far one was asked. An event that was applied to the
 * near store in between refuses it. So nothing in the near store is older than the events that were applied to it, however long any
 * process is delayed. Nor is it kept if another process has begun the near store anew with another far store in the former's place. All writes are events but one kind: fills of keys that are missing in a far store that drops nothing by itself. No
 * near store has anything to forget because of those.
 *
 * The near store is this tier's own. Another cache in it would be read and cleared with it.
 *
 * A value with objects that have a __serialize() or __sleep() is not kept in the near store. To keep it, the store would have to call
 * these on objects that the caller has. Nor is one with a __wakeup() or __unserialize(), which has run when the far store's was read.
 *
 * If the log cannot be read, the near store is left aside, or for the time of grace used as it is.
 */
final class TieredStore implements Store, Reads, ReadsNear, ReadsFar, Leases, PerRequest, RequestTokens, MayEvict, Tidying, LoggerAwareInterface
{
    /** Keys that are remembered as missing in the far store; with more, all are forgotten, and their fills are events. */
    private const MOST_MISSING = 1_024;

    private readonly Leases $leases;

    /** No caller can have this object. */
    private readonly \stdClass $absent;

    private readonly Follower $follower;

    /** Whether what is missing in the far store cannot be in any near one; null: it was not asked yet. */
    private ?bool $isMissingEverywhere = null;

    /** Whether the log was looked at in this request, since the last write. */
    private bool $isUpToDate = false;

    /** Whether the near store may be read. */
    private bool $isTrusted = false;

    /** Of the near store, if it is in one. */
    private readonly ?SharedMemory $pool;

    private readonly Near $direct;

    /** Whether the log is asked together with the first read of the far store. */
    private readonly bool $asksAlong;

    /** In ns: for how long what was read from the log counts as new. */
    private readonly int $staleness;

    /** By hrtime(): an answer of the log counts if it was asked for then or later. */
    private int $notBefore;

    /** @var array<array-key, true> keys that were missing in the far store in this request, where their fills are to be told from writes */
    private array $missing = [];

    /** @var \Closure(): int */
    private readonly \Closure $clock;

    /**
     * @param Log              $log   of the far store
     * @param int              $grace seconds in which the near store may answer while the log cannot be read
     * @param ?\Closure(): int $clock the time in Unix seconds; for tests that cannot wait
     * @param float            $staleness seconds for which what was read from the log counts as new to a request that begins
     * @param string           $place of the far store, for those who look after the near one; it is stored there
     *
     * @throws InvalidOption
     * @throws UnsupportedOperation if the near store cannot judge tokens, or keeps no tags while the far one does
     */
    public function __construct(
        public readonly Store&Reads $near,
        public readonly Store $far,
        public readonly Log $log,
        int $grace = 0,
        ?\Closure $clock = null,
        float $staleness = 0.0,
        string $place = '',
    ) {
        // Of APCu before another kind of store it is known, and to load what tells it takes time in each request.
        if (!$near instanceof ApcuStore || $far instanceof self) {
            self::demand($near, $far);
        }
        if ($staleness < 0.0 || $staleness > 86_400.0) {
            throw InvalidOption::range('staleness', $staleness, '0 seconds to a day');
        }
        if ($grace < 0) {
            throw InvalidOption::range('grace', $grace, '0 seconds or more');
        }
        $this->leases = $far instanceof Leases ? $far : new AddedLeases($far);
        $this->absent = new \stdClass();
        $this->clock = $clock ?? time(...);
        $this->pool = $near instanceof Pooled ? $near->pool() : null;
        $this->direct = new Near();
        $this->asksAlong = $log instanceof Away && !$far instanceof self;
        $this->staleness = (int) ($staleness * 1e9);
        $this->notBefore = hrtime(true) - $this->staleness;
        $this->follower = new Follower($near, $log, $far instanceof self, $grace, $this->clock, $place);
    }

    /** @throws UnsupportedOperation|InvalidOption */
    private static function demand(Store $near, Store $far): void
    {
        $nearCan = $near->capabilities();
        foreach ([Capability::Tokens, ...\in_array(Capability::Tags, $far->capabilities(), true) ? [Capability::Tags] : []] as $needed) {
            if (!\in_array($needed, $nearCan, true)) {
                throw UnsupportedOperation::by((new \ReflectionClass($near))->getShortName(), $needed);
            }
        }
        if ($far instanceof self && \in_array(Capability::Sharing, $nearCan, true)) {
            // Changes that another process has applied to the one may not have been applied to the other yet.
            throw InvalidOption::nearOfThree((new \ReflectionClass($near))->getShortName());
        }
    }

    private function isMissingEverywhere(): bool
    {
        return $this->isMissingEverywhere ??= \in_array(Capability::Retention, $this->far->capabilities(), true);
    }

    /** Remarks on the log go there. */
    public function setLogger(LoggerInterface $logger): void
    {
        $this->follower->setLogger($logger);
        if ($this->log instanceof LoggerAwareInterface) {
            $this->log->setLogger($logger);
        }
    }

    public function beginRequest(): void
    {
        $this->mark(false, $this->isTrusted);
        $this->notBefore = hrtime(true) - $this->staleness;
        $this->missing = [];
        foreach ([$this->near, $this->far] as $store) {
            try {
                if ($store instanceof PerRequest) {
                    $store->beginRequest();
                }
            } catch (StoreUnavailable) {
                // A store that has failed is noticed when it is asked for something.
            }
        }
    }

    public function read(string $key, mixed $default = null, ?Fetched &$fetched = null): mixed
    {
        $found = null;
        if (!$this->isUpToDate) {
            if ($this->asksAlong) {
                $value = $this->readFirst($key, $found);
                if ($value !== $this->absent) {
                    return $value;
                }
            } else {
                $this->bringUpToDate();
            }
        }
        if ($found === null && $this->isTrusted) {
            $value = $this->readNear($key);
            if ($value !== $this->absent) {
                return $value;
            }
        }
        $found ??= $this->isTrusted && $this->pool !== null ? $this->fetchBehind($this->pool, $key) : $this->fetch([$key]);
        $value = isset($found->items[$key]) ? $found->items[$key]->value : $default;
        // Of a plain value that was found, there is nothing more to tell.
        $isPlain = isset($found->items[$key]) && $found->failure === null && (!\is_array($value) || !isset($value[0]) || $value[0] !== self::SEAL);
        $fetched = $isPlain ? null : $found;

        return $value;
    }

    /**
     * As fetch() of one key that was just looked for in the pool, in fewer steps.
     *
     * @throws StoreUnavailable
     */
    private function fetchBehind(SharedMemory $pool, string $key): Fetched
    {
        try {
            $tokens = [$key => $pool->token($key)];
        } catch (PoolUnusable) {
            $this->mark($this->isUpToDate, false);
            $tokens = [];
        }
        $far = $this->fetchMissing([$key], $tokens);
        $this->hasReached($far, null) || $this->lookAgain();

        return $far;
    }

    /** @return mixed $this->absent: there is none, or the near store has failed */
    private function readNear(string $key): mixed
    {
        if ($this->pool !== null) {
            try {
                return $this->pool->get($key, $this->absent);
            } catch (\ValueError) {
                // It is no key there, as the store says.
            }
        }
        try {
            return $this->near->read($key, $this->absent);
        } catch (StoreUnavailable) {
            $this->mark($this->isUpToDate, false);

            return $this->absent;
        }
    }

    /**
     * As fetchFirst(), in fewer steps where the value is near, and the log has nothing new.
     *
     * @param ?Fetched $found what it was fetched with, if it was
     *
     * @return mixed $this->absent: it was fetched, or is to be read in a near store that is up to date
     *
     * @throws StoreUnavailable
     */
    private function readFirst(string $key, ?Fetched &$found): mixed
    {
        $followed = $this->follower->followed();
        if ($followed->position !== null && $followed->isSince($this->notBefore)) {
            $this->mark(true, true);

            return $this->absent;
        }
        $sent = (int) hrtime(true);
        $value = $followed->position === null ? $this->absent : $this->readNear($key);
        if ($value === $this->absent) {
            $found = $this->fetchFirst([$key]);

            return $value;
        }
        $this->mark(true, false);
        $this->mark(true, $this->follower->bringUpToDate($followed, $sent, $this->notBefore));

        return $this->isTrusted && !$this->follower->hadNews() ? $value : $this->absent;
    }

    public function near(): Near
    {
        return $this->direct;
    }

    public function readMany(array $keys): Fetched
    {
        $values = $this->allNear($keys);

        return $values === null ? $this->fetch($keys) : new Fetched([], [], values: $values);
    }

    public function allNear(array $keys): ?array
    {
        if ($this->pool === null) {
            return null;
        }
        $followed = $sent = null;
        if (!$this->isUpToDate) {
            // An answer to a later question is newer than that.
            $sent = (int) hrtime(true);
            $followed = $this->asksAlong ? $this->follower->followed() : null;
            $followed?->position !== null && !$followed->isSince($this->notBefore) ? null : $this->bringUpToDate();
        }
        if ($this->isUpToDate && !$this->isTrusted) {
            return null;
        }
        /** @var array<array-key> $keys or others, which the pool refuses */
        $values = $this->pool->getMany($keys, self::SEAL);
        if (\count($values) !== \count($keys)) {
            return null;
        }
        if (!$this->isUpToDate) {
            // Nothing has to be read from the far store that the log could be asked along with.
            $this->mark(true, $this->follower->bringUpToDate($followed, $sent, $this->notBefore));
            if (!$this->isTrusted || $this->follower->hadNews()) {
                return null;
            }
        }
        return $values;
    }

    public function fetch(array $keys): Fetched
    {
        if (!$this->isUpToDate) {
            if ($this->asksAlong) {
                return $this->fetchFirst($keys);
            }
            $this->bringUpToDate();
        }
        $followed = isset($keys[1]) && $this->log instanceof Away ? $this->follower->followed() : null;
        $near = $this->isTrusted ? $this->nearest($keys) : new Fetched([], []);
        $unknown = self::missingIn($near, $keys);

        $found = new Fetched($near->items, []);
        if ($unknown === []) {
            return $found;
        }
        try {
            $far = $this->fetchMissing($unknown, $near->tokens);
        } catch (StoreUnavailable $failure) {
            return self::without($unknown, $keys, $found, $failure);
        }

        return $this->filled($keys, $found, $far, $followed);
    }

    /**
     * Items that were found near count although the far store cannot be asked for the others.
     *
     * @param list<string> $unknown
     * @param list<string> $keys
     *
     * @throws StoreUnavailable if nothing was found
     */
    private static function without(array $unknown, array $keys, Fetched $found, StoreUnavailable $failure): Fetched
    {
        return $found->items === [] ? throw $failure : self::merged($keys, $found, new Fetched([], array_fill_keys($unknown, MissTokens::unknown()), failure: $failure));
    }

    /**
     * Items that were found near, together with what the far store has answered after that. A missing key is filled with a value that was computed from
     * now on, perhaps from other items. So nothing that is read from now on, or was read with it, may be older than its token.
     *
     * @param list<string> $keys
     * @param ?Followed    $followed from before anything was found near
     */
    private function filled(array $keys, Fetched $near, Fetched $far, ?Followed $followed): Fetched
    {
        if ($this->hasReached($far, $followed)) {
            return self::merged($keys, $near, $far);
        }
        $this->lookAgain();
        $found = self::keysOf($near);

        return self::merged($keys, $found === [] ? $near : $this->fetch($found), $far);
    }

    /** @param ?Followed $followed as of Follower::hasReached() */
    private function hasReached(Fetched $far, ?Followed $followed): bool
    {
        return $far->tokens === [] || $far->failure !== null || !$this->isTrusted || $this->follower->hasReached($far->tokens, $followed) || $this->log instanceof NoLog;
    }

    /** @return list<string> */
    private static function keysOf(Fetched $found): array
    {
        return array_values(array_map(static fn(Item $item): string => $item->key, $found->items));
    }

    /**
     * The first read of a request, where the log is a round trip away: that one is the far read's, too. An item of the near store
     * before counts only if the log has nothing that came after.
     *
     * @param list<string> $keys
     *
     * @throws StoreUnavailable
     */
    private function fetchFirst(array $keys): Fetched
    {
        // It is not trusted until it is known to be: a signal's handler may throw in between.
        $this->mark(true, false);
        $followed = $this->follower->followed();
        if ($followed->position !== null && $followed->isSince($this->notBefore)) {
            $this->mark(true, true);

            return $this->fetch($keys);
        }
        $near = $followed->position === null ? new Fetched([], []) : $this->nearest($keys);
        $unknown = self::missingIn($near, $keys);
        $far = $sent = null;
        if ($followed->position !== null && $unknown !== [] && $this->log instanceof Away) {
            $sent = (int) hrtime(true);
            $this->log->askAlong($followed->position);
            try {
                $far = $this->fetchMissing($unknown, $near->tokens);
            } catch (StoreUnavailable $failure) {
                $this->mark(true, $this->follower->isWithinGrace());

                return self::without($unknown, $keys, new Fetched($this->isTrusted ? $near->items : [], []), $failure);
            } finally {
                if ($far === null) {
                    // Nor does what was answered all the same count at any other time.
                    $this->log->askAlong(null);
                }
            }
        }
        $this->mark(true, $this->follower->bringUpToDate($followed, $sent, $this->notBefore));
        if ($far !== null) {
            $this->follower->farHasAnswered();
        }
        if ($far === null && $unknown !== []) {
            return $this->fetch($keys);
        }
        $found = self::keysOf($near);
        $items = $found === [] || ($this->isTrusted && !$this->follower->hadNews()) ? new Fetched($near->items, []) : $this->fetch($found);

        return match (true) {
            $far === null => $items,
            $this->log->isAskedBehind() => self::merged($keys, $items, $far),
            default => $this->filled($keys, $items, $far, $followed),
        };
    }

    /**
     * @param list<string> $keys
     *
     * @return list<string>
     */
    private static function missingIn(Fetched $near, array $keys): array
    {
        return $near->items === [] ? $keys : array_values(array_filter($keys, static fn(string $key): bool => !isset($near->items[$key])));
    }

    /**
     * @param list<string> $keys the order of what is found
     * @param Fetched      $near what was found near, or was looked for once more; the keys of the other are others
     */
    private static function merged(array $keys, Fetched $near, Fetched $far): Fetched
    {
        if ($near->items === [] && $near->tokens === []) {
            return $far;
        }
        $items = [];
        foreach ($keys as $key) {
            $item = $near->items[$key] ?? $far->items[$key] ?? null;
            if ($item !== null) {
                $items[$key] = $item;
            }
        }

        return new Fetched($items, $near->tokens + $far->tokens, $near->stale + $far->stale, $far->failure ?? $near->failure);
    }

    /**
     * @param list<string>            $keys
     * @param array<array-key, Token> $tokens of the near store
     *
     * @throws StoreUnavailable
     */
    private function fetchMissing(array $keys, array $tokens): Fetched
    {
        $far = $this->far->fetch($keys);
        $this->follower->farHasAnswered();
        if ($far->items !== []) {
            $this->keep($far->items, $tokens);
        }
        if ($far->tokens !== [] && $far->failure === null && !$this->log instanceof Away) {
            foreach ($far->tokens as $key => $_) {
                $this->missing[$key] = true;
            }
            if (\count($this->missing) > self::MOST_MISSING) {
                $this->missing = [];
            }
        }

        return $far;
    }

    public function fetchFar(array $keys): Fetched
    {
        return Far::fetch($this->far, $keys);
    }

    public function noteRequest(bool $anew = false): void
    {
        $store = $this->far;
        $store instanceof RequestTokens ? $store->noteRequest($anew) : throw UnsupportedOperation::by((new \ReflectionClass($store))->getShortName(), Capability::RequestTokens);
        if ($this->log instanceof NoLog) {
            return;
        }
        // Nothing that is read from now on is older than the token.
        $this->lookAgain();
        if ($this->asksAlong) {
            try {
                // It is of the first read of the far store, which would come later where all is near. The log is asked along, as it would be anyway.
                $this->fetch([Key::internal('tier', 'request')]);
            } catch (StoreUnavailable) {
                // Nothing can be added to it either.
            }
        }
    }

    public function requestToken(string $key): ?Token
    {
        return $this->far instanceof RequestTokens ? $this->far->requestToken($key) : null;
    }

    public function token(string $key): Token
    {
        $token = $this->far->token($key);
        if (!$this->isUpToDate || !$this->follower->hasReached([$token])) {
            // Values that are read from now on are not older than the token.
            $this->lookAgain();
        }

        return $token;
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        if ($items === []) {
            return [];
        }
        // Where there are more than two tiers, the last of them knows; and so does a far store that records its writes itself.
        $tellsNothing = $mode === SaveMode::Set && $this->isMissingEverywhere() && $this->log instanceof Beside && !$this->far instanceof self;
        $keys = [];
        foreach ($items as $item) {
            $keys[] = $item->key;
            $tellsNothing = $tellsNothing && $item->fill && $item->token !== null && isset($this->missing[$item->key]);
            unset($this->missing[$item->key]);
        }
        if ($tellsNothing) {
            // Another process may have stored something since, which near stores may have by now.
            $keys = $this->far->save($items, SaveMode::Add);
            if ($keys === []) {
                return [];
            }
            $isLeft = array_flip($keys);
            $items = array_values(array_filter($items, static fn(Item $item): bool => isset($isLeft[$item->key])));
        }

        return $this->record(Event::keys($keys), fn(): array => $this->far->save($items, $mode));
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        return $keys === [] ? [] : $this->record($token === null ? Event::deletion($keys) : Event::keys($keys), fn(): array => $this->far->delete($keys, $token));
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->record(Event::keys([$key]), fn(): int => $this->far->increment($key, $by, $initial, $ttl));
    }

    public function touch(array $keys, ?int $ttl): array
    {
        return $keys === [] ? [] : $this->record(Event::keys($keys), fn(): array => $this->far->touch($keys, $ttl));
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        if ($tags !== []) {
            $this->record(Event::tags($tags), function () use ($tags, $serveStale): void {
                $this->far->invalidateTags($tags, $serveStale);
            });
        }
    }

    public function clear(): void
    {
        $this->record(Event::everything(), function (): void {
            $this->far->clear();
        });
    }

    public function prune(): int
    {
        return $this->far->prune() + $this->near->prune();
    }

    public function tidy(): int
    {
        $removed = 0;
        foreach ([$this->far, $this->near] as $store) {
            $removed += $store instanceof Tidying ? $store->tidy() : 0;
        }

        return $removed;
    }

    public function keys(string $prefix = ''): iterable
    {
        return $this->far->keys($prefix);
    }

    /** Of the far store; those of the near one are among the details. */
    public function statistics(): StoreStatistics
    {
        $far = $this->far->statistics();

        return new StoreStatistics($far->items, $far->bytes, $far->capacity, $far->hits, $far->misses, $far->evictions, $far->expired, [...$far->details, ...$this->nearDetails()]);
    }

    /**
     * What the near store knows, also while the far one cannot be asked: then all but how much of the log there is to follow.
     *
     * @return array<string, mixed>
     *
     * @throws StoreUnavailable
     */
    public function nearDetails(): array
    {
        $near = $this->near->statistics();
        $details = $this->follower->details();

        return [
            'near items' => $near->items,
            'near bytes' => $near->bytes,
            'near capacity' => $near->capacity,
            'near hits' => $near->hits,
            'near misses' => $near->misses,
            'near evictions' => $near->evictions,
            'near expired' => $near->expired,
            ...array_combine(array_map(static fn(string $name): string => "near {$name}", array_keys($details)), $details),
            'near name' => $near->details['name'] ?? null,
            'near path' => $near->details['path'] ?? null,
            'near private_pages' => $near->details['private_pages'] ?? null,
        ];
    }

    public function evicts(): ?string
    {
        return Retention::evicts($this->far);
    }

    public function capabilities(): array
    {
        return $this->far->capabilities();
    }

    /** The holder of a lease has to see what its holders before have done. */
    public function acquire(string $name, string $owner, float $seconds): bool
    {
        $this->lookAgain();

        return $this->leases->acquire($name, $owner, $seconds);
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->leases->refresh($name, $owner, $seconds);
    }

    public function fence(string $name, string $owner): ?int
    {
        return $this->leases->fence($name, $owner);
    }

    public function release(string $name, string $owner): bool
    {
        return $this->leases->release($name, $owner);
    }

    /**
     * @template T
     *
     * @param \Closure(): T $write into the far store
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    private function record(Event $event, \Closure $write): mixed
    {
        if ($this->log instanceof Beside) {
            try {
                // A far store that is a tier itself has the same log.
                return $this->far instanceof self ? $write() : $this->log->record($event, $write);
            } finally {
                $this->lookAgain();
            }
        }
        try {
            $result = $write();
        } catch (StoreUnavailable $failure) {
            // It may have been written all the same.
            $this->lookAgain();

            throw $failure;
        } finally {
            $this->forget($event);
        }

        return $result;
    }

    /** The near store forgets at once what this process has changed. It need not ask the log for that. */
    private function forget(Event $event): void
    {
        try {
            $this->follower->forget($event);
        } catch (StoreUnavailable) {
            // The log has it, and tells it before the store is read again.
            $this->lookAgain();
        }
    }

    private function mark(bool $isUpToDate, bool $isTrusted): void
    {
        if (!$isUpToDate && $this->asksAlong && $this->log instanceof Away) {
            // An answer that was not taken, as a signal's handler threw, is from before.
            $this->log->askAlong(null);
        }
        $this->isUpToDate = $isUpToDate;
        $this->isTrusted = $isTrusted;
        $this->direct->pool = $isUpToDate && $isTrusted ? $this->pool : null;
    }

    /** Values that are read from now on are not older than this moment, however much staleness is allowed. */
    private function lookAgain(): void
    {
        $this->mark(false, $this->isTrusted);
        $this->notBefore = hrtime(true);
    }

    private function bringUpToDate(): void
    {
        // Once, whatever comes of it: a store that is down is not asked on and on. Nor is the near one read if a signal's handler throws.
        $this->mark(true, false);
        $isTrusted = $this->isRead() || $this->follower->bringUpToDate(since: $this->notBefore);
        if ($this->far instanceof self) {
            // Nothing that comes from there may be older than what this near store has followed.
            $this->far->lookAgain();
        }
        $this->mark(true, $isTrusted);
    }

    /** Whether the log was read so lately that it need not be read for this request. */
    private function isRead(): bool
    {
        if ($this->staleness === 0 && $this->log instanceof Beside) {
            return false;
        }
        $followed = $this->follower->followed();

        return $followed->position !== null && $followed->isSince($this->notBefore);
    }

    /** @param list<string> $keys */
    private function nearest(array $keys): Fetched
    {
        try {
            return $this->near instanceof ApcuStore ? $this->near->fetchCopies($keys) : $this->near->fetch($keys);
        } catch (StoreUnavailable) {
            $this->mark($this->isUpToDate, false);

            return new Fetched([], []);
        }
    }

    /**
     * Keeps in the near store what the far one has found.
     *
     * As copies; else as writes that are judged by their tokens, not as fills, which some stores have to store in another form. As
     * additions, so that of several processes that have found the same the second does no harm.
     *
     * @param array<array-key, Item>  $items
     * @param array<array-key, Token> $tokens of the near store, from before the far one was asked
     */
    private function keep(array $items, array $tokens): void
    {
        $now = ($this->clock)();
        $kept = [];
        try {
            foreach ($items as $key => $item) {
                // The caller has these very objects: they are not asked what they are made of. Nor are they woken a second time.
                if (isset($tokens[$key]) && ($item->expiry === null || $item->expiry > $now) && (\is_scalar($item->value) || !Contents::isMadeByUser($item->key, $item->value))) {
                    $kept[] = $item;
                }
            }
            if ($kept === [] || !$this->follower->isOfHistory()) {
                return;
            }
            if ($this->near instanceof ApcuStore) {
                $this->near->keep($kept, $tokens, $now);
            } elseif ($this->pool !== null) {
                foreach ($kept as $item) {
                    $this->pool->add($item->key, $item->value, $item->expiry === null || $item->expiry - $now > Ttl::LONGEST ? null : $item->expiry - $now, $item->tags, $tokens[$item->key]);
                }
            } else {
                $this->near->save(array_map(static fn(Item $item): Item => new Item($item->key, $item->value, $item->expiry === null ? null : $item->expiry - $now, $item->tags, $tokens[$item->key]), $kept), SaveMode::Add);
            }
            if (($this->clock)() !== $now) {
                // Their seconds may have been counted from the next one on: nothing shall live longer here than there.
                $keys = array_column($kept, 'key');
                $this->near instanceof ApcuStore ? $this->near->forget($keys) : $this->near->delete($keys);
            }
        } catch (StoreUnavailable|PoolUnusable|Unstorable) {
            // The far store has them.
        }
    }
}
