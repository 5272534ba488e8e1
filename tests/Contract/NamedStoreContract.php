<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;

/** The contract of a store of which there are several in one place, each with a name or prefix. */
abstract class NamedStoreContract extends SharedStoreContract
{
    private ?Store $store = null;

    abstract protected function named(string $name): Store;

    protected function tearDown(): void
    {
        $this->leave();
    }

    final protected function store(): Store
    {
        return $this->store ??= $this->named('test');
    }

    final protected function reopened(): Store
    {
        return $this->named('test');
    }

    final protected function neighbour(): Store
    {
        return $this->named('tes');
    }

    /** The next time, the store is opened anew. */
    final protected function leave(): void
    {
        $this->store = null;
    }
}
