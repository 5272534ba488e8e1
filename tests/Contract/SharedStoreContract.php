<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Cache;
use Larder\Capability;
use Larder\Exception\NotACounter;
use Larder\Item;
use Larder\Numbers;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\SharedMemoryStore;
use Larder\Tests\Contract\Value\Ledger;
use Larder\Tests\Contract\Value\Napper;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Scratch;

/** What a store that several processes share promises besides: the races, run by real processes. Those for leases are in the class above. */
final class SharedStoreContract extends SharedSuite
{
    /** As many as take part in a random history, and what each of them does there at least. */
    private const CROWD = 8;

    private const STEPS = 300;

    /** What a signature is for is held against all stores that have them by PayloadOptionsTest. */
    public function testAPayloadThatIsTruncatedOrForgedIsNeverAnErrorAndIsReplaced(): void
    {
        $original = [new Product('shirt', new Product('tie')), 'text'];
        $item = new Item('key', $original, 1_000);
        $this->store()->save([$item]);
        $length = 0;
        $measure = static function (string $bytes) use (&$length): string {
            $length = \strlen($bytes);

            return $bytes;
        };
        if (!$this->shared()->forge('key', $measure)) {
            self::assertEquals($original, $this->value('key'));

            return;
        }
        $seed = random_int(0, \PHP_INT_MAX);
        $random = new \Random\Randomizer(new \Random\Engine\Mt19937($seed));
        // Noise that no payload begins like: whatever follows the mark of a string, or is a number, is a value.
        $forgeries = ['nothing' => static fn(): string => '', 'noise' => static fn(): string => "\xff" . $random->getBytes(300), 'text' => static fn(): string => 'O:8:"stdClass":0:{}'];
        for ($i = 0; $i < 20; $i++) {
            $end = $random->getInt(1, $length - 1);
            $forgeries["cut after {$end}"] = static fn(string $bytes): string => substr($bytes, 0, $end);
            $changed = $random->getInt(0, $length - 1);
            $forgeries["byte {$changed} changed"] = static fn(string $bytes): string => substr_replace($bytes, \chr(\ord($bytes[$changed]) ^ (1 << $random->getInt(0, 7))), $changed, 1);
        }
        // PHPUnit suppresses all that it can handle itself.
        $reported = error_reporting(\E_ALL);
        set_error_handler(static fn(int $level, string $message): bool => (error_reporting() & $level) === 0 ? true : throw new \ErrorException($message));
        try {
            $mode = SaveMode::Set;
            foreach ($forgeries as $name => $forgery) {
                $name .= ", seed {$seed}";
                $this->shared()->forge('key', $forgery);
                $found = $this->shared()->reopened()->fetch(['key']);
                self::assertCount(1, $found->items + $found->tokens, $name);
                if (!str_starts_with($name, 'byte')) {
                    self::assertSame([], $found->items, $name);
                }
                $this->shared()->reopened()->touch(['key'], 1_000);
                if ($found->items === []) {
                    $fill = new Item('key', 'filled', 1_000, token: $this->store()->fetch(['key'])->tokens['key'] ?? null, fill: true);
                    // By turns.
                    $mode = $mode === SaveMode::Add ? SaveMode::Set : SaveMode::Add;
                    self::assertSame([], $this->store()->save([$fill], $mode), "{$name}, {$mode->name}");
                    self::assertSame('filled', $this->value('key'), $name);
                }
                self::assertSame([], $this->store()->save([$item]), $name);
                self::assertEquals($original, $this->value('key'), $name);
            }
        } finally {
            restore_error_handler();
            error_reporting($reported);
        }
    }

    public function testAValueOfAClassThatIsGoneIsAMissAndReplaced(): void
    {
        $class = 'Gone' . bin2hex(random_bytes(4));
        $this->inProcesses(static function (Store $store) use ($class): array {
            eval("final class {$class} { public array \$a = [1]; public function __serialize(): array { return \$this->a; } public function __unserialize(array \$a): void { \$this->a = \$a; } }");
            eval("final class {$class}Plain { public array \$a = [1]; }");
            eval("enum {$class}Enum { case One; }");
            $objects = ['told' => new $class(), 'plain' => [new ("{$class}Plain")()], 'enum' => [\constant("{$class}Enum::One")]];
            self::assertSame([], $store->save([...array_map(static fn(string $key, mixed $value): Item => new Item($key, $value, 1_000), array_keys($objects), $objects), new Item('other', 1)]));
            self::assertCount(4, $store->fetch(['told', 'plain', 'enum', 'other'])->items);
            self::assertSame(['told', 'plain', 'enum'], $store->touch(['told', 'plain', 'enum'], 2_000));

            return [];
        }, 1);
        $found = $this->store()->fetch(['told', 'plain', 'enum', 'other']);
        self::assertSame(['other'], array_keys($found->items));
        self::assertSame(['told', 'plain', 'enum'], array_keys($found->tokens));
        foreach ($found->tokens as $key => $token) {
            self::assertSame([], $this->store()->save([new Item($key, 'filled', 1_000, token: $token, fill: true)]), $key);
            self::assertSame('filled', $this->value($key));
        }
    }

    public function testAnUnreadableValueIsAddedToByExactlyOneProcess(): void
    {
        $class = 'Gone' . bin2hex(random_bytes(4));
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 19));
        $this->inProcesses(static function (Store $store) use ($class, $keys): array {
            eval("final class {$class} {}");
            self::assertSame([], $store->save(array_map(static fn(string $key): Item => new Item($key, ['x' => [new $class()]], 1_000), $keys)));

            return [];
        }, 1);
        $won = array_merge(...$this->inProcesses(static function (Store $store, int $process) use ($keys): array {
            $won = [];
            foreach ($keys as $key) {
                if ($store->save([new Item($key, "process {$process}", 1_000)], SaveMode::Add) === []) {
                    $won[] = "{$key} by process {$process}";
                }
            }

            return $won;
        }));
        self::assertCount(\count($keys), $won);
        foreach ($keys as $key) {
            $winner = $this->value($key);
            self::assertIsString($winner);
            self::assertContains("{$key} by {$winner}", $won);
        }
    }

    /** Each has begun before any is done. A store that refuses one of them keeps nothing for processes that compute all the time. */
    public function testFillsOfTwoProcessesThatOverlapAreBothStored(): void
    {
        $tags = $this->can(Capability::Tags) ? ['x'] : [];
        $scratch = new Scratch();
        $unsaved = $this->inProcesses(static function (Store $store, int $process) use ($tags, $scratch): array {
            $meet = static function (string $where) use ($process, $scratch): void {
                touch("{$scratch->path}/{$where}, {$process}");
                self::await(static fn(): bool => file_exists("{$scratch->path}/{$where}, " . (1 - $process)));
            };
            $unsaved = [];
            foreach (range(0, 19) as $round) {
                $key = "key {$round}";
                $fill = new Item($key, "by {$process}", 100, $tags, $store->fetch([$key])->tokens[$key], true);
                $meet("began {$round}");
                // At once, or one after the other.
                if ($round % 3 !== 0 && $round % 3 !== $process + 1) {
                    self::await(static fn(): bool => file_exists("{$scratch->path}/stored {$round}"));
                }
                array_push($unsaved, ...$store->save([$fill]));
                touch("{$scratch->path}/stored {$round}");
                $meet("ended {$round}");
                self::assertContains($store->fetch([$key])->items[$key]->value ?? null, match ($round % 3) {
                    0 => ['by 0', 'by 1'],
                    1 => ['by 1'],
                    default => ['by 0'],
                }, $key);
            }

            return $unsaved;
        }, 2);
        self::assertSame([[], []], $unsaved);
    }

    public function testAnotherInstanceSeesEverything(): void
    {
        $this->store()->save([new Item('key', ['value'], 100)]);
        $other = $this->shared()->reopened();
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

    public function testNoUpdateOfAnyProcessIsLost(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $this->store()->increment('warm');
        $unsaved = $this->inProcesses(static function (Store $store, int $process): array {
            $cache = new Cache($store, strict: true);
            $unsaved = [];
            for ($i = 0; $i < 50; $i++) {
                $isStored = $cache->update('list', static function (mixed $list) use ($process, $i): array {
                    self::assertIsArray($list);

                    return [...$list, "{$process}: {$i}"];
                }, 1_000, default: []);
                $isStored || $unsaved[] = $i;
            }

            return $unsaved;
        });
        self::assertSame(array_fill(0, self::PROCESSES, []), $unsaved);
        $list = $this->value('list');
        self::assertIsArray($list);
        $list = array_filter($list, is_string(...));
        self::assertCount(50 * self::PROCESSES, $list);
        self::assertCount(50 * self::PROCESSES, array_unique($list));
    }

    public function testAnUpdateNeverBringsBackAnOlderValue(): void
    {
        if ($this->cannotJudge() || $this->shared()->overtakesPlainWrites()) {
            self::assertTrue($this->cannotJudge() || $this->store() instanceof SharedMemoryStore, 'It is known of no other store.');

            return;
        }
        $this->store()->save([new Item('key', [0], 100)]);
        $reports = $this->inProcesses(static function (Store $store, int $process): array {
            if ($process > 0) {
                $cache = new Cache($store, strict: true);
                for ($i = 1; $i < 100_000 && ($i % 20 > 0 || $store->fetch(['done'])->items === []); $i++) {
                    $cache->update('key', static fn(mixed $same): mixed => $same, 100);
                    usleep(50);
                }

                return [];
            }
            $old = 0;
            for ($i = 1; $i <= 300; $i++) {
                $store->save([new Item('key', [$i], 100)]);
                usleep(50);
                $found = $store->fetch(['key'])->items['key']->value ?? null;
                $old += $found === [$i] ? 0 : 1;
                if ($i % 3 === 0) {
                    $store->delete(['key']);
                    $old += \is_array($store->fetch(['key'])->items['key']->value ?? null) ? 1 : 0;
                }
            }
            $store->save([new Item('done', true)]);

            return [$old];
        });
        self::assertSame([0], $reports[0]);
    }

    public function testNoCountWithALeastSumIsLost(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $this->store()->save([new Item('stock', 60, 1_000)]);
        $sold = array_merge(...$this->inProcesses(static function (Store $store): array {
            $cache = new Cache($store, strict: true);
            $sold = [];
            for ($i = 0; $i < 30; $i++) {
                $sold[] = $cache->decrement('stock', 1, min: 0, create: false);
            }

            return $sold;
        }));
        rsort($sold);
        self::assertSame([...range(59, 0), ...array_fill(0, 30 * self::PROCESSES - 60, 0)], $sold);
        self::assertSame(0, $this->value('stock'));
    }

    public function testNoCountIsLostWhereTheCounterOfANamespaceBegins(): void
    {
        if ($this->lacks(Capability::Tokens, Capability::Tags)) {
            return;
        }
        $rounds = 100;
        $this->inProcesses(static function (Store $store) use ($rounds): array {
            $cache = new Cache($store, strict: true);
            for ($round = 0; $round < $rounds; $round++) {
                $cache->increment("there {$round}");
                $areAllThere = static fn(): bool => $cache->get("there {$round}") === self::PROCESSES;
                for ($looks = 0; $looks < 10_000 && !$areAllThere(); $looks++);
                self::await($areAllThere);
                $cache->namespace('part')->increment("hits {$round}", 1, 0, 1_000, min: random_int(0, 1) === 1 ? 0 : null);
            }

            return [];
        });
        $hits = (new Cache($this->store(), strict: true))->namespace('part')->getMany(array_map(static fn(int $round): string => "hits {$round}", range(0, $rounds - 1)));
        self::assertSame([self::PROCESSES => $rounds], array_count_values(array_filter($hits, is_int(...))));
    }

    public function testNoCountOfANumericStringIsLost(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $rounds = 50;
        for ($round = 0; $round < $rounds; $round++) {
            $this->store()->save([new Item("votes {$round}", '0', 1_000)]);
        }
        $refused = array_merge(...$this->inProcesses(static function (Store $store) use ($rounds): array {
            $cache = new Cache($store, strict: true);
            $refused = [];
            for ($round = 0; $round < $rounds; $round++) {
                // They meet, as only the first counts are those of a string.
                $cache->increment("there {$round}");
                $areAllThere = static fn(): bool => $cache->get("there {$round}") === self::PROCESSES;
                for ($looks = 0; $looks < 10_000 && !$areAllThere(); $looks++);
                self::await($areAllThere);
                for ($count = 0; $count < 5; $count++) {
                    try {
                        $cache->increment("votes {$round}", numbers: Numbers::Numeric);
                    } catch (NotACounter $mistake) {
                        $refused[] = $mistake->getMessage();
                    }
                }
            }

            return $refused;
        }));
        self::assertSame([], $refused);
        for ($round = 0; $round < $rounds; $round++) {
            self::assertSame(5 * self::PROCESSES, $this->value("votes {$round}"));
        }
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

    public function testOfAllProcessesThatDeleteAnItemExactlyOneIsToldThatItExisted(): void
    {
        $balances = array_merge(...$this->inProcesses(static function (Store $store): array {
            $balance = 0;
            for ($i = 0; $i < 200; $i++) {
                $key = 'goods ' . random_int(0, 2);
                if ($store->save([new Item($key, $i, 1_000)], SaveMode::Add) === []) {
                    $balance++;
                } else {
                    $balance -= \count($store->delete([$key]));
                }
            }

            return [$balance];
        }));
        self::assertSame(\count($this->store()->fetch(['goods 0', 'goods 1', 'goods 2'])->items), array_sum($balances));
    }

    /** A store that looks whether an item lives before it deletes may find one there that was added meanwhile. */
    public function testAnItemThatIsAddedWhileADeadOneIsDeletedIsSaidToHaveExistedOrStays(): void
    {
        $this->store()->save([new Item('key', new Napper(), 100, ['tag'])]);
        $this->store()->invalidateTags(['tag']);
        [$existed, $unsaved] = $this->inProcesses(static function (Store $store, int $process): array {
            if ($process === 0) {
                Napper::$nap = 100_000;

                return $store->delete(['key']);
            }
            usleep(30_000);

            return $store->save([new Item('key', 'added', 100)], SaveMode::Add);
        }, 2);
        $stays = \count($this->store()->fetch(['key'])->items);
        self::assertSame(1 - \count($unsaved), \count($existed) + $stays);
    }

    public function testATouchNeverBringsBackAnOlderValue(): void
    {
        $this->store()->save([new Item('key', [0], 100)]);
        $reports = $this->inProcesses(static function (Store $store, int $process): array {
            if ($process > 0) {
                for ($i = 1; $i < 100_000 && ($i % 20 > 0 || $store->fetch(['done'])->items === []); $i++) {
                    $store->touch(['key'], 100 + $i);
                    // A lock that is asked for again at once is hardly ever had by a process that sleeps while it waits for it.
                    usleep(100);
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

    /**
     * The rule of staleness, with processes that are slow at every place, and counters beside it. `make races` lets it go on
     * for a minute, or LARDER_RACE_SECONDS.
     */
    public function testNoHistoryOfReadsFillsAndWritesBringsBackSomethingStaleLosesAnUpdateOrFails(): void
    {
        if (!$this->can(Capability::Tokens)) {
            self::assertNotContains(Capability::Tokens, $this->store()->capabilities());

            return;
        }
        $path = tempnam(sys_get_temp_dir(), 'larder-ledger-');
        self::assertIsString($path);
        $tags = $this->can(Capability::Tags);
        $seconds = (int) getenv('LARDER_RACE_SECONDS');
        // Where no clear takes them along.
        $counters = $this->of->neighbour();
        $counters->fetch(['all']);
        $seed = random_int(0, \PHP_INT_MAX >> 8);
        try {
            $reports = $this->inProcesses(static function (Store $store, int $number) use ($path, $tags, $counters, $seed, $seconds): array {
                mt_srand($seed + $number);
                $history = new History($store, new Ledger($path), $tags);
                $end = hrtime(true) + $seconds * 1_000_000_000;
                $stale = [];
                $counted = 0;
                do {
                    $report = $history->run(self::STEPS);
                    foreach (range(1, 30) as $ignored) {
                        $sum = $counters->increment('all', 1, 0, 1_000);
                        if ($sum <= $counted++) {
                            $stale[] = "the counter was {$sum} after {$counted} increments of one process";
                        }
                    }
                } while (hrtime(true) < $end);

                return ['stale' => [...$report['stale'], ...$stale], 'counted' => $counted] + $report;
            }, self::CROWD);
            $counted = $counters->fetch(['all'])->items['all']->value ?? null;
        } finally {
            $counters->clear();
            array_map(unlink(...), glob("{$path}*") ?: []);
        }
        History::judge($reports, $seed);
        self::assertSame(0, array_sum(array_column($reports, 'unavailable')), "The store was unavailable at times, with seed {$seed}.");
        self::assertSame(array_sum(array_column($reports, 'counted')), $counted, 'An increment was lost.');
    }

    public function testAProcessThatIsKilledBlocksNoOther(): void
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
                    if ($i >= 20 && $this->shared()->isBlockedByTheDead()) {
                        // What holds for such a store: it blocks no other process if it is killed anywhere else.
                        fwrite($ends[1], '!');
                        fread($ends[1], 1);
                    }
                }
            }
            $this->shared()->isBlockedByTheDead() ? self::assertSame('!', fread($ends[0], 1)) : usleep(random_int(20_000, 60_000));
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
}
