<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\Cache\Envelope;
use Larder\Cache\Gate;
use Larder\Cache\Lifetimes;
use Larder\Event\Computed;
use Larder\Event\Hit;
use Larder\Event\Missed;
use Larder\Event\Written;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Item;
use Larder\Key;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\PendingItem;
use Larder\Reads;
use Larder\Store;
use Larder\Token;
use Larder\Ttl;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;

/**
 * Finds a value, or computes it while others wait or serve the stale one: what Cache::remember() does.
 *
 * A value is computed anew a little before it expires, by chance. It is likelier the nearer the expiry and the longer the computation took.
 * (XFetch, of Vattani, Chierichetti and Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB 2015.) In each case, a process
 * takes the key's lease before it computes, and looks again.
 *
 * Waiting processes read a note: a counter of the computations that have just come to nothing. If the store refused a value, because
 * something was invalidated meanwhile, the next process computes and the others go on waiting. If that value was refused, too, or there is
 * no lease to wait for, all processes compute at once. Otherwise the waiting might never end.
 */
final class Remembering implements Remembers
{
    /** Below this many seconds a computation is not worth being done early. */
    private const CHEAP = 0.001;

    /** -log() of the least number that chance() returns, rounded up. */
    private const EARLIEST = 44.0;

    private const POLL = 0.001;

    private const LONGEST_POLL = 0.05;

    /** Seconds in which no process waits for others after computations of which nothing was stored. */
    private const VAIN_TTL = 2;

    /** From how many refusals on no process waits. */
    private const IN_VAIN = 2;

    private readonly Leases $leases;

    /** The store, if it tells values and hits need not be told. */
    private readonly ?Reads $reads;

    /** No caller can have this object: a value that is identical to it was not in the store. */
    private readonly \stdClass $absent;

    /** @var array<array-key, true> keys that this process is computing */
    private array $computing = [];

    /** @param \Closure(): float $clock Unix time */
    public function __construct(
        Store $store,
        private readonly Gate $gate,
        private readonly \Closure $clock,
        private readonly Lifetimes $lifetimes,
        private readonly AtTheEnd $atTheEnd,
        private readonly ?LoggerInterface $logger,
        private readonly ?EventDispatcherInterface $events,
    ) {
        $this->leases = $store instanceof Leases ? $store : new AddedLeases($store);
        $this->reads = $store instanceof Reads && $events === null ? $store : null;
        $this->absent = new \stdClass();
    }

    public function remember(string $key, callable $compute, int|\DateInterval|Ttl|null $ttl, array $tags, int $grace, float $beta, ?StampedeOptions $stampede): mixed
    {
        $found = $fetched = null;
        if ($this->reads !== null && $this->gate->isOpen) {
            $found = $this->read($this->reads, $key, $fetched);
            if ($found !== null && ($found->freshUntil === \INF || $this->isFresh($found, $beta))) {
                return $found->value;
            }
        }

        return $this->value(new Recipe($key, $compute(...), $ttl, $tags, $grace, $beta, $stampede ?? new StampedeOptions()), $found, $fetched);
    }

    /** @param ?Fetched $fetched as of Reads::read(); null if the key has to be fetched to tell more */
    private function read(Reads $reads, string $key, ?Fetched &$fetched): ?Envelope
    {
        try {
            $value = $reads->read($key, $this->absent, $fetched);
        } catch (StoreUnavailable $failure) {
            $this->gate->fail($failure);

            return null;
        }

        return $fetched !== null || $value === $this->absent ? null : Envelope::open($value);
    }

    /** Whether a value is still to be served, and not to be computed early this time. */
    private function isFresh(Envelope $found, float $beta): bool
    {
        $left = $found->freshUntil - ($this->clock)();
        $spread = $found->cost * $beta;

        return $left > 0.0 && ($left > $spread * self::EARLIEST || $left > -$spread * log(self::chance()));
    }

    /**
     * @param ?Envelope $due   what was found already, and is not fresh: a second chance would make it seem so
     * @param ?Fetched  $known what the store has fetched already
     */
    private function value(Recipe $recipe, ?Envelope $due, ?Fetched $known): mixed
    {
        $look = $this->look($recipe, known: $known);
        if ($look->live !== null && $look->live->freshUntil !== $due?->freshUntil && $this->isFresh($look->live, $recipe->beta)) {
            $this->events?->dispatch(new Hit($recipe->key));

            return $look->live->value;
        }
        $this->events?->dispatch($look->live === null ? new Missed($recipe->key) : new Hit($recipe->key));
        if ($recipe->stampede->lease <= 0.0 || !$this->gate->isOpen || isset($this->computing[$recipe->key])) {
            return $this->compute($recipe, $look, null);
        }
        $lease = $this->lease($recipe);
        if ($lease->acquire($recipe->stampede->lease)) {
            return $this->computeUnder($lease, $recipe, $look);
        }
        try {
            return $this->wait($lease, $recipe, $look);
        } finally {
            $lease->giveUp();
        }
    }

    private function computeUnder(Held $lease, Recipe $recipe, Look $before): mixed
    {
        $look = $this->look($recipe);
        // Another process may have computed it between the look and the lease.
        if ($look->live !== null && $look->live->freshUntil > ($before->live->freshUntil ?? 0.0)) {
            $lease->release();

            return $look->live->value;
        }
        $old = $look->servable();
        if ($old === null || !$recipe->stampede->afterResponse) {
            return $this->compute($recipe, $look, $lease);
        }
        $lease->defer();
        $this->atTheEnd->add(function () use ($recipe, $look, $lease): void {
            try {
                $this->compute($recipe, $look, $lease);
            } catch (\Throwable $failure) {
                $this->logFailure($recipe, $failure);
            }
        });

        return $old->value;
    }

    private function wait(Held $lease, Recipe $recipe, Look $before): mixed
    {
        $old = $before->servable();
        if ($old !== null && $recipe->stampede->staleWait <= 0.0) {
            return $old->value;
        }
        $deadline = hrtime(true) + (int) (1e9 * ($old === null ? $recipe->stampede->missWait : $recipe->stampede->staleWait));
        $look = $this->look($recipe, waiting: true);
        for ($pause = self::POLL; ; $pause = min(1.5 * $pause, self::LONGEST_POLL)) {
            if ($look->live !== null && $look->live->freshUntil > ($before->live->freshUntil ?? 0.0)) {
                return $look->live->value;
            }
            $left = ($deadline - hrtime(true)) / 1e9;
            if ($left <= 0 || $look->isVain || !$this->gate->isOpen) {
                break;
            }
            if ($lease->acquire($recipe->stampede->lease)) {
                return $this->computeUnder($lease, $recipe, $before);
            }
            if ($lease->isOutOfReach()) {
                // Here it ends: unless its owner till now has left a value, no other process will.
                $deadline = 0;
            } else {
                usleep((int) (1e6 * min($left, $pause * (0.5 + self::chance()))));
            }
            $look = $this->look($recipe, waiting: true);
        }
        $old = $look->servable();

        return $old === null ? $this->compute($recipe, $look, null) : $old->value;
    }

    private function compute(Recipe $recipe, Look $look, ?Held $lease): mixed
    {
        $key = $recipe->key;
        // The computed value is as old as this moment.
        $token = $look->isThere ? $this->gate->attempt(static fn(Store $store): Token => $store->token($key)) : $look->token;
        $pending = new PendingItem($key, $recipe->ttl, $recipe->tags);
        $isNested = isset($this->computing[$key]);
        $this->computing[$key] = true;
        $outcome = Outcome::InVain;
        $cost = 0.0;
        $began = hrtime(true);
        try {
            $value = ($recipe->compute)($pending);
            $cost = (hrtime(true) - $began) / 1e9;
            $this->events?->dispatch(new Computed($key, $cost));
            $outcome = $this->store($recipe, $pending, $value, $token, $cost);

            return $value;
        } catch (\Throwable $failure) {
            $old = $look->servable();
            if ($old === null) {
                throw $failure;
            }
            $this->logFailure($recipe, $failure);
            $lease?->holdOthersOff($recipe->stampede->retry);

            return $old->value;
        } finally {
            if (!$isNested) {
                unset($this->computing[$key]);
            }
            if ($lease !== null && $lease->isHeld()) {
                $this->tellThoseWhoWait($key, $outcome, $cost);
                $lease->release();
            }
        }
    }

    private function store(Recipe $recipe, PendingItem $pending, mixed $value, ?Token $token, float $cost): Outcome
    {
        $ttl = $this->lifetimes->seconds($pending->ttl());
        $ttl = $ttl !== null && $ttl > Ttl::LONGEST ? null : $ttl;
        // Without a token the store was not there when the computation began, and it is unknown what has happened since.
        if ($token === null || !$pending->isStored() || ($ttl !== null && $ttl <= 0)) {
            return Outcome::InVain;
        }
        $grace = $ttl === null || \is_int($value) ? 0 : $recipe->grace;
        $isSealed = $ttl !== null && !\is_int($value) && ($grace > 0 || ($recipe->beta > 0.0 && $cost >= self::CHEAP));
        $stored = $isSealed
            ? (new Envelope($value, $cost, ($this->clock)() + $ttl, $grace))->sealed()
            : Envelope::plain($value);
        // A sum of more, also one that is no int any more, is no end.
        $lifetime = $ttl === null ? null : (int) min($ttl + $grace, Ttl::LONGEST + 1);
        $item = new Item($recipe->key, $stored, $lifetime, $pending->tags(), $token, true, $cost);
        $unsaved = $this->gate->attempt(static fn(Store $store): array => $store->save([$item]));
        if ($unsaved === []) {
            $this->events?->dispatch(new Written([$recipe->key]));
        }

        return $unsaved === [] ? Outcome::Stored : Outcome::Refused;
    }

    private function look(Recipe $recipe, bool $waiting = false, ?Fetched $known = null): Look
    {
        $key = $recipe->key;
        $note = self::note($key);
        $keys = $waiting ? [$key, $note] : [$key];
        $fetched = $this->gate->attempt(static fn(Store $store): Fetched => $known ?? $store->fetch($keys));
        if ($fetched === null) {
            return new Look();
        }
        $isVain = isset($fetched->items[$note]) && $fetched->items[$note]->value >= self::IN_VAIN;
        if (isset($fetched->items[$key])) {
            $found = Envelope::of($fetched->items[$key]);
            $now = ($this->clock)();

            return match (true) {
                $now < $found->freshUntil => new Look(live: $found, isThere: true, isVain: $isVain),
                $now < $found->freshUntil + $recipe->grace => new Look(stale: $found, isThere: true, isVain: $isVain),
                default => new Look(isThere: true, isVain: $isVain),
            };
        }
        $stale = isset($fetched->stale[$key]) ? Envelope::open($fetched->stale[$key]->value) : null;

        return new Look(stale: $stale, token: $fetched->tokens[$key] ?? null, isVain: $isVain);
    }

    private function lease(Recipe $recipe): Held
    {
        return new Held($this->leases, $this->gate, $this->atTheEnd, Key::internal('computing', $recipe->key));
    }

    /** @param float $cost seconds that the computation took */
    private function tellThoseWhoWait(string $key, Outcome $outcome, float $cost): void
    {
        $note = self::note($key);
        if ($outcome === Outcome::Refused) {
            // It lasts until the next one has been computed.
            $ttl = self::VAIN_TTL + (int) min(ceil(2 * $cost), 172_800.0);
            $times = $this->gate->attempt(static function (Store $store) use ($note, $ttl): int {
                try {
                    return $store->increment($note, 1, 0, $ttl);
                } catch (StoreUnavailable $failure) {
                    // A full store refuses everything, and has not failed.
                    return $failure->takesNothing ? self::IN_VAIN : throw $failure;
                }
            });
            $outcome = ($times ?? self::IN_VAIN) < self::IN_VAIN ? $outcome : Outcome::InVain;
        }
        if ($outcome === Outcome::InVain) {
            $vain = new Item($note, self::IN_VAIN, self::VAIN_TTL);
            $this->gate->attempt(static fn(Store $store): array => $store->save([$vain]));
        }
    }

    private static function note(string $key): string
    {
        return Key::internal('in-vain', $key);
    }

    private function logFailure(Recipe $recipe, \Throwable $failure): void
    {
        $this->logger?->warning('A value could not be computed anew; the stale one is served.', [
            'key' => $recipe->key,
            'exception' => $failure,
        ]);
    }

    /** A number from 0 to 1, 0 excluded. Not from a seed, which processes made by fork have in common. */
    private static function chance(): float
    {
        return random_int(1, \PHP_INT_MAX) / \PHP_INT_MAX;
    }
}
