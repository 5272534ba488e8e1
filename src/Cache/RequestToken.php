<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\StoreUnavailable;
use Larder\RequestTokens;
use Larder\Token;

/**
 * The token that judges additions of keys which this request has never asked for. It is of the request's first use of the
 * cache, or of refresh(). What the request has written or deleted itself is its own word, and not judged by it.
 */
final class RequestToken
{
    /** Keys of a request's own writes that are remembered. With more, the token is taken anew. */
    private const MOST_OWN = 32_768;

    /** Seconds after which a process that never says that another request begins has its token taken anew. */
    private const SPAN = 1_800;

    private bool $isDue = true;

    private bool $isAnew = false;

    private int $since = 0;

    /** @var array<array-key, true> */
    private array $own = [];

    /** Of before the request invalidated tags. It judges what carries none of them; null: there are none, or it is not known. */
    private ?Token $first = null;

    /** That of OwnTags before the first of them was invalidated. */
    private int $moment = 0;

    public function __construct(
        private readonly RequestTokens $store,
    ) {}

    /** Whether the store is to be told before it is asked for anything. */
    public function isDue(): bool
    {
        return $this->isDue;
    }

    /** @throws StoreUnavailable */
    public function note(): void
    {
        $this->store->noteRequest($this->isAnew);
        $this->isDue = $this->isAnew = false;
        $this->since = self::seconds();
    }

    /** What the request does from now on is judged by this moment, not by an earlier one. */
    public function renew(): void
    {
        $this->first = null;
        $this->own = [];
        $this->takeAnew();
    }

    /** The request has invalidated tags itself: what carries one of them is judged by this moment, and nothing else. */
    public function renewFor(OwnTags $own): void
    {
        $this->keepFor($own);
        $this->takeAnew();
    }

    /** Before the store's token is taken anew for what carries one of the tags that were just invalidated. */
    public function keepFor(OwnTags $own): void
    {
        if ($this->first === null && !$this->isDue) {
            $this->first = $this->store->requestToken('request');
            $this->moment = $own->moment - 1;
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

    /** @param list<string> $keys that the request writes or deletes itself */
    public function own(array $keys): void
    {
        // One by one: PHP would copy the whole of a typed property to add an array to it.
        foreach ($keys as $key) {
            $this->own[$key] = true;
        }
        if (\count($this->own) > self::MOST_OWN) {
            $this->renew();
            $this->own = array_fill_keys($keys, true);
        }
    }

    /**
     * @param list<string> $tags of the item
     * @param ?OwnTags     $own  what the process has invalidated itself; null: nothing
     *
     * @return ?Token null: nothing judges the key's addition
     */
    public function of(string $key, array $tags, ?OwnTags $own): ?Token
    {
        if ($this->isDue || isset($this->own[$key])) {
            return null;
        }
        if (self::seconds() - $this->since >= self::SPAN) {
            $this->renew();

            return null;
        }

        return $this->first !== null && $own?->areSince($this->moment, $tags) !== true ? $this->first : $this->store->requestToken($key);
    }

    /** Of a clock that is never set back. */
    private static function seconds(): int
    {
        return intdiv((int) hrtime(true), 1_000_000_000);
    }
}
