<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Capability;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store;
use Larder\Tests\Contract\Value\Ledger;

/** What a store that several processes share promises besides: the races, run by real processes. */
abstract class SharedStoreContract extends StoreContract
{
    private const PROCESSES = 4;

    /** What each process does in a random history. */
    private const STEPS = 1_000;

    /** The store under test once more, as another process would open it. */
    abstract protected function reopened(): Store;

    /** Whether whoever is killed in the middle of an operation may block it for good. Say so in its documentation. */
    protected function isBlockedByTheDead(): bool
    {
        return false;
    }

    public function testAnotherInstanceSeesEverything(): void
    {
        $this->store()->save([new Item('key', ['value'], 100)]);
        $other = $this->reopened();
        self::assertSame(['value'], $other->fetch(['key'])->items['key']->value ?? null);
        $other->clear();
        self::assertFalse($this->has('key'));
        $this->store()->save([new Item('key', 'after the clear')]);
        self::assertSame('after the clear', $this->value('key'));
        self::assertSame('after the clear', $other->fetch(['key'])->items['key']->value ?? null);
        $this->store()->clear();
        // Without a read in between that could have told it of the clear.
        $other->save([new Item('key', 'by the other')]);
        self::assertSame('by the other', $this->value('key'));
        $this->store()->clear();
        $this->store()->save([new Item('key', 'x')]);
        self::assertSame(['key'], $other->delete(['key']));
        self::assertFalse($this->has('key'));
        $other->fetch(['key']);
        $this->store()->clear();
        $this->store()->save([new Item('key', 'x')]);
        self::assertSame(['key'], $other->touch(['key'], 100));
        $other->clear();
        $this->store()->save([new Item('key', 'x')]);
        self::assertSame(['key'], $other->delete(['key']));
        self::assertFalse($this->has('key'));
        $this->store()->clear();
        self::assertSame(1, $other->increment('n'));
        self::assertSame(2, $this->store()->increment('n'));
    }

    public function testNoIncrementOfAnyProcessIsLost(): void
    {
        $this->store()->increment('warm');
        $seen = array_merge(...$this->inProcesses(static function (Store $store): array {
            $seen = [];
            for ($i = 0; $i < 200; $i++) {
                $seen[] = $store->increment('counter', 1, 1_000, 100);
            }

            return $seen;
        }));
        sort($seen);
        self::assertSame(range(1_001, 1_000 + 200 * self::PROCESSES), $seen);
        self::assertSame(1_000 + 200 * self::PROCESSES, $this->value('counter'));
    }

    public function testAnAddIsWonByExactlyOneProcess(): void
    {
        $won = $this->inProcesses(static function (Store $store, int $process): array {
            $won = [];
            for ($i = 0; $i < 50; $i++) {
                if ($store->save([new Item("round {$i}", $process, 100)], SaveMode::Add) === []) {
                    $won[$i] = $process;
                }
            }

            return $won;
        });
        for ($i = 0; $i < 50; $i++) {
            $winners = array_values(array_filter(array_column($won, $i), is_int(...)));
            self::assertCount(1, $winners, "round {$i}");
            self::assertSame($winners[0], $this->value("round {$i}"));
        }
    }

    public function testATouchNeverBringsBackAnOlderValue(): void
    {
        $this->store()->save([new Item('key', [0], 100)]);
        $reports = $this->inProcesses(static function (Store $store, int $process): array {
            if ($process > 0) {
                for ($i = 1; $i < 100_000 && ($i % 20 > 0 || $store->fetch(['done'])->items === []); $i++) {
                    $store->touch(['key'], 100 + $i);
                }

                return [];
            }
            $stale = 0;
            for ($i = 1; $i <= 200; $i++) {
                $store->save([new Item('key', [$i], 100)]);
                usleep(50);
                $found = $store->fetch(['key'])->items['key']->value ?? null;
                $stale += $found === [$i] ? 0 : 1;
            }
            $store->save([new Item('done', true)]);

            return [$stale];
        });
        self::assertSame([0], $reports[0]);
        self::assertSame([200], $this->value('key'));
    }

    /** The rule of staleness, with processes that are slow at every place. */
    public function testNoHistoryOfReadsFillsAndWritesBringsBackSomethingStale(): void
    {
        if (!$this->can(Capability::Tokens)) {
            self::assertNotContains(Capability::Tokens, $this->store()->capabilities());

            return;
        }
        $path = tempnam(sys_get_temp_dir(), 'larder-ledger-');
        self::assertIsString($path);
        $tags = $this->can(Capability::Tags);
        try {
            $reports = $this->inProcesses(static function (Store $store) use ($path, $tags): array {
                mt_srand((int) getmypid());

                return (new History($store, new Ledger($path), $tags))->run(self::STEPS);
            });
        } finally {
            array_map(unlink(...), glob("{$path}*") ?: []);
        }
        self::assertSame([], array_merge(...array_column($reports, 'stale')));
        foreach (['hits', 'stored', 'refused'] as $outcome) {
            self::assertGreaterThan(0, array_sum(array_column($reports, $outcome)), "There were no {$outcome}: the history tells nothing.");
        }
    }

    public function testAProcessThatIsKilledBlocksNobody(): void
    {
        $this->store()->fetch(['key']);
        for ($round = 0; $round < 5; $round++) {
            $ends = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0);
            self::assertIsArray($ends);
            $process = pcntl_fork();
            if ($process === 0) {
                for ($i = 0; ; $i++) {
                    $this->store()->save([new Item('key', ["{$i}", $i], 100), new Item('other', "{$i}")]);
                    $this->store()->increment('counter');
                    $token = $this->store()->fetch(['filled'])->tokens['filled'] ?? null;
                    if ($token !== null) {
                        $this->store()->save([new Item('filled', $i, token: $token, fill: true)]);
                    }
                    $this->store()->delete(['other', 'filled']);
                    if ($i >= 20 && $this->isBlockedByTheDead()) {
                        // What holds for such a store: it blocks nobody if it is killed anywhere else.
                        fwrite($ends[1], '!');
                        fread($ends[1], 1);
                    }
                }
            }
            $this->isBlockedByTheDead() ? self::assertSame('!', fread($ends[0], 1)) : usleep(random_int(20_000, 60_000));
            posix_kill($process, \SIGKILL);
            pcntl_waitpid($process, $status);
            $found = $this->store()->fetch(['key'])->items['key']->value ?? null;
            if (\is_array($found)) {
                self::assertIsInt($found[1]);
                self::assertSame((string) $found[1], $found[0]);
            }
            self::assertSame([], $this->store()->save([new Item('key', "round {$round}", 100)]));
            self::assertSame("round {$round}", $this->value('key'));
            self::assertGreaterThan(0, $this->store()->increment('counter'));
        }
    }

    /**
     * Runs the work in several processes that begin at once, each with the store that was open when it was
     * forked.
     *
     * @template T of array<array-key, mixed>
     *
     * @param \Closure(Store, int): T $work the store and the number of the process
     *
     * @return non-empty-list<T> what each returned
     */
    protected function inProcesses(\Closure $work): array
    {
        // So that the processes inherit a store that is in use.
        $this->store()->fetch(['key']);

        return Crowd::of(self::PROCESSES, fn(int $number): mixed => $work($this->store(), $number));
    }
}
