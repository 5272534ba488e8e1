<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Capability;
use Larder\Key;
use Larder\Store;
use PHPUnit\Framework\TestCase;

/** A store under test. */
abstract class StoreCase extends TestCase
{
    /** The store under test, the same one as long as a test runs; empty when the test begins. */
    abstract protected function store(): Store;

    /** An empty store in the same place, under another name or prefix. */
    abstract protected function neighbour(): Store;

    /**
     * What the store keeps besides the items, in order to judge them, and could lose: by eviction, or because
     * somebody deletes it.
     *
     * @return iterable<string, \Closure(): void> what loses it, by a name for it; as it is when this is asked for
     */
    protected function losses(): iterable
    {
        return [];
    }

    /**
     * Somebody else does something. A store that does not hold against a process what it did itself has to do this in
     * another one.
     *
     * @param \Closure(Store): void $work
     */
    protected function elsewhere(\Closure $work): void
    {
        $work($this->store());
    }

    /** Whether to count may refuse a few fills of other keys. */
    protected function countsMoveGuards(): bool
    {
        return false;
    }

    /** Bytes of the longest key, less only for a part of a store. */
    protected function longestKey(): int
    {
        return Key::LONGEST;
    }

    /** Whether what is fetched names its tags. */
    protected function tellsTags(): bool
    {
        return true;
    }

    /** Bytes that everything in the store takes; null: it cannot remove what nobody asks for. */
    protected function footprint(): ?int
    {
        return $this->store()->statistics()->bytes;
    }

    protected function can(Capability $capability): bool
    {
        return \in_array($capability, $this->store()->capabilities(), true);
    }

    protected function value(string $key): mixed
    {
        $item = $this->store()->fetch([$key])->items[$key] ?? null;
        self::assertNotNull($item, 'The key is missing.');

        return $item->value;
    }

    protected function has(string $key): bool
    {
        return $this->store()->fetch([$key])->items !== [];
    }

    /** Seconds pass. A test of a store with a clock of its own may move that instead. */
    protected function waitFor(float $seconds): void
    {
        usleep((int) ($seconds * 1e6));
    }
}
