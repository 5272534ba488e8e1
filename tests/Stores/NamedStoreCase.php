<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Tests\Contract\SharedStoreCase;

/** The contract of a store of which there are several in one place, each with a name or prefix. */
abstract class NamedStoreCase extends SharedStoreCase
{
    private ?Store $store = null;

    abstract protected function named(string $name): Store;

    protected function tearDown(): void
    {
        $this->leave();
    }

    final public function store(): Store
    {
        return $this->store ??= $this->named('test');
    }

    final public function reopened(): Store
    {
        return $this->named('test');
    }

    final public function neighbour(): Store
    {
        return $this->named('tes');
    }

    /** The next time, the store is opened anew. */
    final protected function leave(): void
    {
        $this->store = null;
    }
}
