<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Exception\NotACounter;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\Apcu\Wrapping;
use Larder\Store\ApcuStore;
use Larder\Tests\Contract\SharedStoreCase;
use Larder\Tests\Contract\Value\Meddler;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(ApcuStore::class)]
final class ApcuStoreTest extends SharedStoreCase
{
    private ?ApcuStore $store = null;

    protected function setUp(): void
    {
        $this->store()->clear();
    }

    public function store(): Store
    {
        return $this->store ??= new ApcuStore('test');
    }

    public function reopened(): Store
    {
        return new ApcuStore('test');
    }

    public function neighbour(): Store
    {
        return new ApcuStore('tes');
    }

    /** APCu asks the value for its form between the judging and the storing. */
    public function testAFillThatIsOvertakenWhileItIsStoredIsAMiss(): void
    {
        $token = $this->store()->fetch(['key'])->tokens['key'];
        $late = new Meddler(fn(): mixed => $this->reopened()->delete(['key']));
        $this->store()->save([new Item('key', $late, 100, token: $token, fill: true)]);
        self::assertFalse($this->has('key'));
        $token = $this->store()->fetch(['key'])->tokens['key'];
        self::assertSame([], $this->store()->save([new Item('key', 'fresh', 100, token: $token, fill: true)]));
        self::assertSame('fresh', $this->value('key'));
    }

    /** A fill that was overtaken lay dead in the place of the value that had overtaken it. */
    public function testOfAFillAndAWriteThatMeetOneIsThere(): void
    {
        $this->beside(static fn(Store $store, string $key) => $store->save([new Item($key, 'written', 100)]), function (string $key, \Closure $meet): void {
            $token = $this->store()->token($key);
            $meet();
            // To copy it takes a moment.
            $this->store()->save([new Item($key, range(0, 50_000), 100, token: $token, fill: true)]);
        }, fn(string $key) => self::assertSame('written', $this->value($key)), 50);
    }

    /** What was filled died a moment before the write that took its place. */
    public function testWhatWasFilledIsThereUntilAWriteTakesItsPlace(): void
    {
        $this->beside(static fn(Store $store, string $key) => $store->save([new Item($key, 'written', 100)]), function (string $key, \Closure $meet): void {
            $token = $this->store()->token($key);
            self::assertSame([], $this->store()->save([new Item($key, 'filled', 100, token: $token, fill: true)]));
            $meet();
            do {
                $read = $this->store()->fetch([$key])->items[$key]->value ?? null;
            } while ($read === 'filled');
            self::assertSame('written', $read);
        }, static fn(string $key): null => null, 500);
    }

    /**
     * Another process does something with a key whenever this one calls what it is given.
     *
     * @param \Closure(Store, string): mixed         $theirs
     * @param \Closure(string, \Closure(): mixed): void $ours
     * @param \Closure(string): mixed                $judge  when both are done
     */
    private function beside(\Closure $theirs, \Closure $ours, \Closure $judge, int $rounds): void
    {
        $ends = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0);
        self::assertIsArray($ends);
        $child = pcntl_fork();
        if ($child === 0) {
            fclose($ends[0]);
            while (($key = fgets($ends[1])) !== false) {
                $theirs($this->store(), rtrim($key));
                fwrite($ends[1], "\n");
            }
            posix_kill(posix_getpid(), \SIGKILL);
        }
        fclose($ends[1]);
        try {
            for ($round = 0; $round < $rounds; $round++) {
                $ours("key {$round}", static fn(): int|false => fwrite($ends[0], "key {$round}\n"));
                fgets($ends[0]);
                $judge("key {$round}");
            }
        } finally {
            fclose($ends[0]);
            pcntl_waitpid($child, $status);
        }
    }

    public function testWhatIsReadIsFetchedToTheEndOfItsLife(): void
    {
        $this->store()->save([new Item('key', 'value', 2)]);
        while (isset($this->store()->fetch(['key'])->items['key'])) {
            usleep(1_000);
        }
        // APCu may ask the kernel's coarse clock, which is up to a tick behind that of time().
        usleep(20_000);
        self::assertNull((new ApcuStore('test'))->read('key'), 'It is not read any more, either.');
    }

    public function testWhatIsFilledAgainOutlivesTheFirstFill(): void
    {
        foreach ([1, 100] as $ttl) {
            $token = $this->store()->token('key');
            self::assertSame([], $this->store()->save([new Item('key', $ttl, $ttl, token: $token, fill: true)]));
        }
        $this->store()->save([new Item('other', 'value', 3)]);
        while ($this->has('other')) {
            usleep(1_000);
        }
        self::assertSame(100, $this->value('key'));
    }

    /** With apc.slam_defense, APCu does not store what another process has stored within the same second. */
    public function testACounterThatIsNotStoredIsNotSaidToBeCounted(): void
    {
        $code = <<<'PHP'
            require $argv[1];
            $store = new Larder\Store\ApcuStore('test');
            for ($round = 0; $round < 10; $round++) {
                $store->save([new Larder\Item("n {$round}", 5, 1_000, ['tag'])]);
                $ends = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
                $child = pcntl_fork();
                if ($child === 0) {
                    try {
                        $sum = $store->increment("n {$round}");
                    } catch (Larder\Exception\StoreUnavailable) {
                        $sum = 5;
                    }
                    fwrite($ends[1], $sum === ($store->fetch(["n {$round}"])->items["n {$round}"]->value ?? 5) ? '.' : '!');
                    posix_kill(getmypid(), SIGKILL);
                }
                fclose($ends[1]);
                echo stream_get_contents($ends[0]);
                pcntl_waitpid($child, $status);
            }
            PHP;
        $words = [\PHP_BINARY, '-d', 'apc.enable_cli=1', '-d', 'apc.slam_defense=1', '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php'];
        exec(implode(' ', array_map(escapeshellarg(...), $words)) . ' 2>&1', $output);
        self::assertSame('..........', implode("\n", $output));
    }

    /** Another site of the same web server may write into APCu, too. */
    public function testAWrappingThatNoStoreOfOursHasMadeIsNeverAnError(): void
    {
        $mark = Wrapping::MARK;
        $wrappings = [
            [$mark], [$mark, 1 => null], [2 => 'value', 0 => $mark], [$mark, 'soon', 'value', 'now', 'tag', 'marked', 'yes'],
            [$mark, null, 'value', 1.5, [1, null, ['tag']], [], 1], [$mark, new \stdClass(), [], new \stdClass(), new \stdClass(), new \stdClass(), true],
            [$mark, null, 'no payload', 0, [], null, true], [$mark, null, 'Pb:', 0, [], null, true], [$mark, \PHP_INT_MIN, 'value', \PHP_INT_MIN, ['tag'], \PHP_INT_MAX, false],
            [$mark, null, new \ArrayObject(), -1, [str_repeat('t', 70_000)], -1, false],
        ];
        foreach ($wrappings as $i => $wrapping) {
            foreach ([
                fn(): mixed => $this->store()->fetch(['key']),
                fn(): mixed => (new ApcuStore('test'))->read('key'),
                fn(): mixed => $this->store()->touch(['key'], 100),
                fn(): mixed => $this->store()->save([new Item('key', 'added', 100)], SaveMode::Add),
                fn(): mixed => $this->store()->save([new Item('key', 'replaced', 100, ['tag'])], SaveMode::Replace),
                fn(): mixed => $this->store()->delete(['key']),
                fn(): mixed => [...$this->store()->keys()],
                fn(): mixed => $this->store()->prune(),
            ] as $use) {
                self::assertTrue(apcu_store('test:key', $wrapping));
                $use();
            }
            self::assertTrue(apcu_store('test:key', $wrapping));
            try {
                $this->store()->increment('key');
            } catch (NotACounter) {
            }
            self::assertSame([], $this->store()->save([new Item('key', "value {$i}", 100, ['tag'])]));
            self::assertSame("value {$i}", $this->value('key'));
        }
    }

    public function losses(): iterable
    {
        foreach (['clock', 'm', 'g', 'k', 'tags', 's'] as $kind) {
            yield $kind => static function () use ($kind): void {
                apcu_delete(new \APCUIterator("/^test!{$kind}/", \APC_ITER_KEY));
            };
        }
    }

    public function isBlockedByTheDead(): bool
    {
        return true;
    }
}
