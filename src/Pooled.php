<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\InvalidKey;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;

/**
 * A store that controls stampedes itself, as its items lie in a pool of shared memory. The pool keeps the facts that remember() needs with
 * each item. It also notes the misses of a request, and judges later writes by them. So a cache neither seals values nor keeps tokens of
 * misses, and asks the pool directly.
 */
interface Pooled
{
    /** The pool, or the part of one, that has this store's items and nothing else. */
    public function pool(): SharedMemory;

    /**
     * The same as Store::save(), but an item without a token, whose key this request has missed, is a fill and is judged by that miss.
     *
     * @param list<Item> $items
     *
     * @return list<string> the keys that were not saved
     *
     * @throws InvalidKey
     * @throws StoreUnavailable
     * @throws Unstorable
     */
    public function saveAsMissed(array $items): array;

    /**
     * Says what is wrong with a key that the pool has refused.
     *
     * @throws InvalidKey if something is
     */
    public function check(string $key): void;
}
