<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;

/** A store that several processes share: it promises what every store does, and holds in the races of real processes. */
abstract class SharedStoreCase extends StoreCase
{
    public static function suites(): array
    {
        return [...parent::suites(), SharedLeaseContract::class, SharedStoreContract::class];
    }

    /** The store under test once more, as another process would open it. */
    abstract public function reopened(): Store;

    /** Whether a process that is killed in the middle of an operation may block it for good. Say so in its documentation. */
    public function isBlockedByTheDead(): bool
    {
        return false;
    }

    /** Whether an update may overtake a plain write that is in flight. Say so in its documentation. */
    public function overtakesPlainWrites(): bool
    {
        return false;
    }

    /**
     * Changes the bytes of an item behind the store's back.
     *
     * @param \Closure(string): string $forge
     *
     * @return bool false: it keeps none that another user could write
     */
    public function forge(string $key, \Closure $forge): bool
    {
        return false;
    }
}
