<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;

/** Promises of a store that several processes share, seen by real processes. */
abstract class SharedSuite extends Suite
{
    protected const PROCESSES = 4;

    /** Seconds, in which no machine is too slow for what is waited for. */
    protected const TIMEOUT = 300;

    final protected function shared(): SharedStoreCase
    {
        self::assertInstanceOf(SharedStoreCase::class, $this->of);

        return $this->of;
    }

    /** @param \Closure(): bool $isSo */
    final protected static function await(\Closure $isSo): void
    {
        for ($deadline = hrtime(true) + self::TIMEOUT * 1_000_000_000; !$isSo(); usleep(1_000)) {
            self::assertLessThan($deadline, hrtime(true), 'The others do not come.');
        }
    }

    /**
     * Runs the work in several processes that begin at once, each with the store that was open when it was
     * forked.
     *
     * @template T of array<array-key, mixed>
     *
     * @param \Closure(Store, int): T $work      the store and the number of the process
     * @param positive-int            $processes
     *
     * @return non-empty-list<T> what each returned
     */
    final protected function inProcesses(\Closure $work, int $processes = self::PROCESSES): array
    {
        // So that the processes inherit a store that is in use.
        $this->store()->fetch(['key']);

        return Crowd::of($processes, fn(int $number): mixed => $work($this->store(), $number));
    }
}
