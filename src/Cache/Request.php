<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\StoreUnavailable;
use Larder\RequestTokens;
use Larder\Token;

/**
 * What a cache and all its namespaces know of the request in which they are used. It begins for all of them at once. When the
 * request invalidates tags or clears something itself, the store's token is taken anew. The one before stays known: it goes on
 * judging what that change did not concern.
 */
final class Request
{
    /** Earlier tokens that are known. With more, every second is forgotten but the first, and the next one judges in its place. */
    private const MOST_EARLIER = 64;

    /** Seconds after which a process that never says that another request begins has its token taken anew. */
    private const SPAN = 1_800;

    /** How many requests have begun. */
    public int $number = 0;

    /** How many tokens were taken anew in this request. */
    public int $taken = 0;

    private bool $isDue = true;

    private bool $isAnew = false;

    private int $since = 0;

    /** That of OwnTags when the store's token was taken. */
    private int $moment = 0;

    /** The number of tokens taken before the first of the request's own changes that the store has not been told of; null: none. */
    private ?int $undelivered = null;

    /** @var array<int, array{int, Token}> the moment of each earlier token and itself, by how many were taken before it */
    private array $earlier = [];

    public function __construct(
        private readonly RequestTokens $store,
    ) {}

    /** Whether the store is to be told before it is asked for anything. */
    public function isDue(): bool
    {
        return $this->isDue;
    }

    /** Whether it has lasted so long that the process must have forgotten to say that another one begins. */
    public function isOver(): bool
    {
        return self::seconds() - $this->since >= self::SPAN;
    }

    /** @throws StoreUnavailable */
    public function note(): void
    {
        $this->store->noteRequest($this->isAnew);
        $this->isDue = $this->isAnew = false;
        $this->since = self::seconds();
    }

    /** Another request begins. */
    public function begin(): void
    {
        $this->number++;
        $this->taken = 0;
        $this->earlier = [];
        $this->undelivered = null;
        $this->takeAnew();
    }

    /** The store could not be asked: changes before it answers are unknown, unless its token is known already. */
    public function fail(): void
    {
        $isKnown = !$this->isDue && $this->store->requestToken('request') !== null;
        if (!$isKnown && !isset($this->earlier[$this->taken])) {
            $this->earlier[$this->taken] = [$this->moment, MissTokens::unknown()];
        }
    }

    /**
     * The request has changed something itself, which the token of before must not judge.
     *
     * @param ?OwnTags $own if it has invalidated tags
     */
    public function takeNext(?OwnTags $own = null): void
    {
        $token = $this->isDue ? null : $this->store->requestToken('request');
        if ($token !== null && !isset($this->earlier[$this->taken])) {
            $this->earlier[$this->taken] = [$this->moment, $token];
            if (\count($this->earlier) > self::MOST_EARLIER) {
                $this->thin();
            }
        }
        $this->taken++;
        $this->moment = $own->moment ?? $this->moment;
        $this->takeAnew();
    }

    /** The store has not been told of the change for which the next token was taken. */
    public function miss(): void
    {
        $this->undelivered ??= $this->taken;
    }

    /** The store has been told of all changes now, so the tokens taken since the first that it missed are older than they. */
    public function deliver(): void
    {
        if ($this->undelivered !== null) {
            $this->earlier = array_filter($this->earlier, fn(int $number): bool => $number < $this->undelivered, \ARRAY_FILTER_USE_KEY);
            $this->undelivered = null;
            $this->takeAnew();
        }
    }

    /**
     * @param int $moment after which the token must have been taken; one of OwnTags
     * @param int $taken  how many were taken before it at least
     *
     * @return ?Token the first such; null: none is known yet
     */
    public function token(string $key, int $moment, int $taken): ?Token
    {
        foreach ($this->earlier as $number => [$of, $token]) {
            if ($number >= $taken && $of >= $moment) {
                return $token;
            }
        }

        return $this->isDue ? null : $this->store->requestToken($key);
    }

    private function thin(): void
    {
        $isKept = false;
        foreach (array_keys($this->earlier) as $number) {
            $isKept = !$isKept;
            if (!$isKept) {
                unset($this->earlier[$number]);
            }
        }
    }

    private function takeAnew(): void
    {
        $this->isDue = $this->isAnew = true;
        try {
            $this->note();
        } catch (StoreUnavailable) {
            // Then before it is asked the next time.
        }
    }

    /** Of a clock that is never set back. */
    private static function seconds(): int
    {
        return intdiv((int) hrtime(true), 1_000_000_000);
    }
}
