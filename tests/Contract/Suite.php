<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Capability;
use Larder\Store;
use Larder\Store\ChaosStore;
use PHPUnit\Framework\Assert;

/**
 * A set of promises: each of its public methods whose name begins with `test` is one, which StoreCase holds its store to.
 * Suites know nothing of each other.
 */
abstract class Suite extends Assert
{
    /**
     * @param StoreCase $of    makes the store, and says what is particular to it
     * @param string    $named the data set's name, if the promise has data
     */
    final public function __construct(protected readonly StoreCase $of, protected readonly string $named = '') {}

    final protected function store(): Store
    {
        return $this->of->store();
    }

    /** Whether the store need not hold fills against what came after them; then it has to say so. */
    final protected function cannotJudge(): bool
    {
        return $this->lacks(Capability::Tokens);
    }

    /** Whether the store need not keep a promise, as it says that it cannot do one of these. */
    final protected function lacks(Capability ...$needed): bool
    {
        foreach ($needed as $capability) {
            if (!$this->can($capability)) {
                self::assertNotContains($capability, $this->store()->capabilities());

                return true;
            }
        }

        return false;
    }

    final protected function can(Capability $capability): bool
    {
        return \in_array($capability, $this->store()->capabilities(), true);
    }

    final protected function value(string $key): mixed
    {
        return $this->of->value($key);
    }

    final protected function has(string $key): bool
    {
        return $this->of->has($key);
    }

    /**
     * The store under test, where another process does something just before it is asked for something the first time.
     *
     * @param list<string>           $questions
     * @param \Closure(Store): mixed $overtake
     */
    final protected function overtakenBefore(array $questions, \Closure $overtake): ChaosStore
    {
        $store = new ChaosStore($this->store());
        $store->before = function (string $call) use ($store, $questions, $overtake): void {
            if (\in_array($call, $questions, true)) {
                $store->before = null;
                $this->of->elsewhere(static function (Store $store) use ($overtake): void {
                    $overtake($store);
                });
            }
        };

        return $store;
    }
}
