<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Key;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\Store;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * A store under test, and the promises that it is held to. Extend it for a store of your own; one that several processes share
 * extends SharedStoreCase.
 */
abstract class StoreCase extends TestCase
{
    /**
     * What every store promises. One that promises less, or more, returns suites of its own.
     *
     * @return list<class-string<Suite>>
     */
    public static function suites(): array
    {
        return [
            StoreContract::class,
            ValueContract::class,
            KindContract::class,
            ToldContract::class,
            CounterContract::class,
            InputContract::class,
            TagContract::class,
            TokenContract::class,
            ConflictContract::class,
            LossContract::class,
            CacheContract::class,
            CacheWritesContract::class,
            RememberContract::class,
        ];
    }

    /** @return iterable<string, array{class-string<Suite>, string, string, array<mixed>}> suite, promise, name of the data and the data */
    final public static function promises(): iterable
    {
        foreach (static::suites() as $suite) {
            $class = new \ReflectionClass($suite);
            foreach ($class->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
                if (!str_starts_with($method->name, 'test')) {
                    continue;
                }
                $provider = ($method->getAttributes(DataProvider::class)[0] ?? null)?->newInstance()->methodName();
                $sets = $provider === null ? ['' => []] : $class->getMethod($provider)->invoke(null);
                self::assertIsIterable($sets);
                foreach ($sets as $name => $arguments) {
                    self::assertIsArray($arguments);
                    $name = \is_string($name) || \is_int($name) ? (string) $name : '';
                    yield "{$class->getShortName()}::{$method->name}" . ($provider === null ? '' : " with {$name}") => [$suite, $method->name, $name, $arguments];
                }
            }
        }
    }

    /**
     * @param class-string<Suite> $suite
     * @param array<mixed>        $arguments
     */
    #[DataProvider('promises')]
    final public function testTheStoreKeeps(string $suite, string $promise, string $named, array $arguments): void
    {
        (new \ReflectionMethod($suite, $promise))->invokeArgs(new $suite($this, $named), $arguments);
    }

    /** The store under test, the same one as long as a test runs; empty when the test begins. */
    abstract public function store(): Store;

    /** An empty store in the same place, under another name or prefix. */
    abstract public function neighbour(): Store;

    /**
     * What the store keeps besides the items, in order to judge them, and could lose: by eviction, or because
     * it is deleted.
     *
     * @return iterable<string, \Closure(): void> what loses it, by a name for it; as it is when this is asked for
     */
    public function losses(): iterable
    {
        return [];
    }

    /**
     * Another process does something. A store that does not hold against a process what it did itself has to do this in
     * another one.
     *
     * @param \Closure(Store): void $work
     */
    public function elsewhere(\Closure $work): void
    {
        $work($this->store());
    }

    /** Whether to count may refuse a few fills of other keys. */
    public function countsMoveKeyVersions(): bool
    {
        return false;
    }

    /** Bytes of the longest key, less only for a part of a store. */
    public function longestKey(): int
    {
        return Key::LONGEST;
    }

    /** Whether what is fetched names its tags. */
    public function tellsTags(): bool
    {
        return true;
    }

    /** Whether what invalidateTags() lets be served is served; a store may also kill at once. */
    public function servesStale(): bool
    {
        return true;
    }

    /** Bytes that everything in the store takes; null: it cannot remove what is never asked for. */
    public function footprint(): ?int
    {
        return $this->store()->statistics()->bytes;
    }

    final public function value(string $key): mixed
    {
        $item = $this->store()->fetch([$key])->items[$key] ?? null;
        self::assertNotNull($item, 'The key is missing.');

        return $item->value;
    }

    final public function has(string $key): bool
    {
        return $this->store()->fetch([$key])->items !== [];
    }

    /** Whether time has to pass for what the store itself computes early or serves past its time. */
    public function hasAClock(): bool
    {
        return false;
    }

    /** Those of the store, or those that any store can have. */
    public function leases(): Leases
    {
        $store = $this->store();

        return $store instanceof Leases ? $store : new AddedLeases($store);
    }

    /** Seconds pass. A test of a store with a clock of its own may move that instead. */
    public function waitFor(float $seconds): void
    {
        usleep((int) ($seconds * 1e6));
    }
}
