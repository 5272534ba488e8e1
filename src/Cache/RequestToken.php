<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\StoreUnavailable;
use Larder\Token;

/**
 * The token that judges additions of keys which this request has never asked for, in a cache or in one of its namespaces. It is of
 * the request's first use of any of them, or of refresh(). What the request has written or deleted itself is its own word, and not
 * judged by it.
 */
final class RequestToken
{
    /** Keys of a request's own writes that are remembered. With more, the token is taken anew. */
    private const MOST_OWN = 32_768;

    /** The number of the request that the following belongs to. */
    private int $number = 0;

    /** @var array<array-key, true> */
    private array $own = [];

    /** How many tokens were taken before the first that judges this part, as its keys were too many, or as it was cleared. */
    private int $forgot = 0;

    private int $cleared = 0;

    /** Null: it is no namespace. */
    private ?self $whole = null;

    public function __construct(
        private Request $request,
    ) {}

    /** The request of a namespace begins and ends with that of the cache that it is in. */
    public function join(self $whole): void
    {
        $this->request = $whole->request;
        $this->whole = $whole;
    }

    /** Whether the store is to be told before it is asked for anything. */
    public function isDue(): bool
    {
        return $this->request->isDue();
    }

    /** @throws StoreUnavailable */
    public function note(): void
    {
        $this->request->note();
    }

    /** The store could not be asked. */
    public function fail(): void
    {
        $this->catchUp();
        $this->request->fail();
    }

    /** The store has missed what the request has just invalidated or cleared. */
    public function miss(): void
    {
        $this->request->miss();
    }

    /** It has been told of it now. */
    public function deliver(): void
    {
        $this->request->deliver();
    }

    /** Another request begins, for the whole cache. */
    public function begin(): void
    {
        $this->request->begin();
    }

    /** The request has invalidated tags itself: what carries one of them is judged by this moment, and nothing else. */
    public function invalidated(OwnTags $own): void
    {
        $this->request->takeNext($own);
    }

    /** The request has cleared this part, and the namespaces in it: they are judged by this moment, and nothing else. */
    public function cleared(): void
    {
        $this->catchUp();
        $this->request->takeNext();
        $this->cleared = $this->request->taken;
        $this->own = [];
    }

    /** @param list<string> $keys that the request writes or deletes itself */
    public function own(array $keys): void
    {
        $this->catchUp();
        // One by one: PHP would copy the whole of a typed property to add an array to it.
        foreach ($keys as $key) {
            $this->own[$key] = true;
        }
        if (\count($this->own) > self::MOST_OWN) {
            $this->request->takeNext();
            $this->forgot = $this->request->taken;
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
        $this->catchUp();
        if (isset($this->own[$key])) {
            return null;
        }
        if (!$this->isDue() && $this->request->isOver()) {
            $this->request->begin();

            return null;
        }

        return $this->request->token($key, $own?->lastOf($tags) ?? 0, max($this->forgot, $this->clearedAt()));
    }

    private function clearedAt(): int
    {
        $this->catchUp();

        return max($this->cleared, $this->whole?->clearedAt() ?? 0);
    }

    private function catchUp(): void
    {
        if ($this->number !== $this->request->number) {
            $this->number = $this->request->number;
            $this->own = [];
            $this->forgot = $this->cleared = 0;
        }
    }
}
