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

    /** Of before the tags below were invalidated. It judges what carries none of them; null: there are none, or it is not known. */
    private ?Token $first = null;

    /** @var array<array-key, true> that the request has invalidated itself */
    private array $ownTags = [];

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
        $this->own = $this->ownTags = [];
        $this->takeAnew();
    }

    /** @param list<string> $tags that the request has invalidated itself: what carries them is judged by this moment, and nothing else */
    public function renewFor(array $tags): void
    {
        $this->keepFor($tags);
        $this->takeAnew();
    }

    /**
     * Before the store's token is taken anew for what carries one of these tags.
     *
     * @param list<string> $tags
     */
    public function keepFor(array $tags): void
    {
        if ($this->isDue) {
            return;
        }
        $this->first ??= $this->store->requestToken('request');
        foreach ($tags as $tag) {
            $this->ownTags[$tag] = true;
        }
        if (\count($this->ownTags) > self::MOST_OWN) {
            $this->first = null;
            $this->ownTags = [];
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
     *
     * @return ?Token null: nothing judges the key's addition
     */
    public function of(string $key, array $tags): ?Token
    {
        if ($this->isDue || isset($this->own[$key])) {
            return null;
        }
        if (self::seconds() - $this->since >= self::SPAN) {
            $this->renew();

            return null;
        }

        if ($this->first !== null && array_intersect_key($this->ownTags, array_fill_keys($tags, true)) === []) {
            return $this->first;
        }

        return $this->store->requestToken($key);
    }

    /** Of a clock that is never set back. */
    private static function seconds(): int
    {
        return intdiv((int) hrtime(true), 1_000_000_000);
    }
}
