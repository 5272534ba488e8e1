<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Cache;
use Larder\Cache\Gate;
use Larder\Cache\Journal;
use Larder\Cache\Outbox;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Store\AbsentStore;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\System\Cause;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Log\NullLogger;

/** Two caches over one store are to each other like two processes, of which one has ended. */
#[CoversClass(Journal::class)]
#[CoversClass(Gate::class)]
#[CoversClass(Outbox::class)]
final class JournalTest extends TestCase
{
    private Scratch $scratch;

    private string $path;

    private ChaosStore $chaos;

    private float $now = 1_700_000_000.0;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->path = "{$this->scratch->path}/journal";
        $this->chaos = new ChaosStore(new ArrayStore());
    }

    /** @return iterable<string, array{\Closure(Cache): bool, list<string>}> */
    public static function losses(): iterable
    {
        yield 'a delete' => [static fn(Cache $cache): bool => $cache->delete('a'), ['b', '7', "\0\xff"]];
        yield 'a delete of many' => [static fn(Cache $cache): bool => $cache->deleteMany(['a', '7', "\0\xff"]), ['b']];
        yield 'an overwrite' => [static fn(Cache $cache): bool => $cache->set('a', 'new'), ['b', '7', "\0\xff"]];
        yield 'a tag' => [static fn(Cache $cache): bool => $cache->invalidateTags(["tag\xff"]), ['a', '7', "\0\xff"]];
        yield 'a tag and a delete' => [static fn(Cache $cache): bool => $cache->invalidateTags(["tag\xff"]) || $cache->delete('a'), ['7', "\0\xff"]];
        yield 'a clear' => [static fn(Cache $cache): bool => $cache->clear(), []];
        yield 'a clear after a delete' => [static fn(Cache $cache): bool => $cache->delete('a') || $cache->clear(), []];
    }

    /**
     * @param \Closure(Cache): bool $lose
     * @param list<string>          $left
     */
    #[DataProvider('losses')]
    public function testWhatOneProcessCouldNotDeliverTheNextDelivers(\Closure $lose, array $left): void
    {
        $cache = $this->cache();
        $cache->setMany(['a' => 1, '7' => 1, "\0\xff" => 1]);
        $cache->set('b', 1, tags: ["tag\xff"]);
        $this->chaos->isDown = true;
        self::assertFalse($lose($cache));
        self::assertTrue($cache->health()->journaled);
        unset($cache);

        $next = $this->cache();
        self::assertTrue($next->health()->isFlagged());
        self::assertSame([], $next->getMany(['a', 'b', '7', "\0\xff"]), 'The store is still down.');
        $this->chaos->isDown = false;
        $this->now += 1.0;
        self::assertNull($next->get('absent'));
        self::assertFalse($next->health()->isFlagged());
        self::assertSame($left, array_map(strval(...), array_keys($this->cache()->getMany(['a', 'b', '7', "\0\xff"]))));
        clearstatcache();
        self::assertSame(0, filesize($this->path));
    }

    public function testBeforeItIsDeliveredNothingIsReadNotEvenDirectly(): void
    {
        $this->chaos->store->save([new Item('key', 'stale')]);
        $this->chaos->isDown = true;
        $this->cache()->delete('key');
        $this->chaos->isDown = false;
        self::assertNull($this->cache()->get('key'));
        $this->chaos->store->save([new Item('key', 'stale')]);
        $this->chaos->isDown = true;
        $this->cache()->delete('key');
        $this->chaos->isDown = false;
        self::assertSame('computed', $this->cache()->remember('key', static fn(): string => 'computed'));
    }

    public function testALongProcessLooksWhenARequestBegins(): void
    {
        $worker = $this->cache();
        $worker->set('key', 'stale');
        $this->chaos->isDown = true;
        $this->cache()->delete('key');
        $this->chaos->isDown = false;
        self::assertSame('stale', $worker->get('key'), 'Its request goes on.');
        // What the store needs to begin a request delivers the journal, if the next read does not.
        $worker->refresh();
        self::assertNull($worker->get('key'));
        self::assertFalse($worker->health()->journaled);
    }

    /** @return iterable<string, array{string}> */
    public static function damages(): iterable
    {
        $head = '0000000000.000000 0123456789abcdef ' . str_repeat(' ', 400) . "\n";
        $line = $head . '{"keys":["YQ=="],"tags":[],"clears":false}' . "\n";
        yield 'without a head' => [substr($line, \strlen($head))];
        yield 'with half of one' => [substr($line, 5)];
        yield 'cut in its head' => [substr($head, 0, -3)];
        yield 'of zeros' => [str_repeat("\0", 100)];
        yield 'cut' => [$line . '{"keys":["YQ'];
        yield 'without its end' => [rtrim($line)];
        yield 'no JSON' => ["{$line}nonsense\n"];
        yield 'of another form' => ["{$head}[]\n"];
        yield 'without keys' => [$head . '{"tags":[],"clears":false}' . "\n"];
        yield 'without what clears' => [$head . '{"keys":["YQ=="],"tags":[]}' . "\n"];
        yield 'a key that is no base64' => [$head . '{"keys":["YQ§=="],"tags":[],"clears":false}' . "\n"];
        yield 'an empty key' => [$head . '{"keys":[""],"tags":[],"clears":false}' . "\n"];
    }

    #[DataProvider('damages')]
    public function testADamagedJournalStandsForAClear(string $bytes): void
    {
        $this->chaos->store->save([new Item('b', 1)]);
        file_put_contents($this->path, $bytes);
        self::assertFalse($this->cache()->has('b'));
        clearstatcache();
        self::assertSame(0, filesize($this->path));
    }

    public function testAfterADeliveryThatFailedAtOnceTheStoreIsAskedAgainAMomentLater(): void
    {
        $this->chaos->store->save([new Item('there', 1)]);
        $this->chaos->isDown = true;
        $this->cache()->delete('key');
        $this->chaos->calls = [];
        for ($request = 0; $request < 10; $request++) {
            self::assertNull($this->cache()->get('there'));
        }
        self::assertCount(1, $this->chaos->calls);
        $this->chaos->isDown = false;
        $this->now += 0.06;
        self::assertSame(1, $this->cache()->get('there'), 'It takes no process a second to see that the store is back.');
    }

    /** A busy machine makes a refusal of some microseconds last for tens of milliseconds. */
    public function testAfterADeliveryThatTookAMomentTheStoreIsAskedAgainAfterTwiceThat(): void
    {
        $this->chaos->isDown = true;
        $this->cache()->delete('key');
        $this->chaos->before = function (): void {
            $this->now += 0.06;
        };
        self::assertNull($this->cache()->get('key'));
        $this->chaos->before = null;
        $this->chaos->isDown = false;
        $this->now += 0.11;
        self::assertNull($this->cache()->get('key'));
        self::assertTrue($this->cache()->health()->journaled);
        $this->now += 0.02;
        self::assertNull($this->cache()->get('key'));
        self::assertFalse($this->cache()->health()->journaled);
    }

    public function testAfterADeliveryThatTookLongNoProcessAsksTheStoreAgainWithinHalfASecond(): void
    {
        $this->chaos->isDown = true;
        $this->cache()->delete('key');
        $this->chaos->calls = [];
        $this->chaos->before = function (): void {
            // A server that does not answer.
            $this->now += 0.5;
        };
        for ($request = 0; $request < 10; $request++) {
            self::assertNull($this->cache()->get('key'));
        }
        self::assertCount(1, $this->chaos->calls, 'Each of them would wait for a server that does not answer.');
        $this->chaos->isDown = false;
        $this->now += 0.4;
        self::assertNull($this->cache()->get('key'));
        self::assertTrue($this->cache()->health()->journaled);
        self::assertCount(1, $this->chaos->calls);
        $this->now += 0.1;
        self::assertNull($this->cache()->get('key'));
        self::assertFalse($this->cache()->health()->journaled);
        $this->chaos->isDown = true;
        $this->cache()->delete('key');
        $this->cache()->get('key');
        $this->chaos->isDown = false;
        $this->now -= 3_600.0;
        $this->cache()->get('key');
        self::assertFalse($this->cache()->health()->journaled, 'A clock that is set back does not stop it.');
    }

    public function testAProcessThatFindsItPostponedIsToldWhyTheStoreHasFailed(): void
    {
        $why = "the disk is\nwrong " . str_repeat('ä', 400);
        $this->chaos->before = static function () use (&$why): never {
            throw StoreUnavailable::because('The store of chaos', $why, 'mend it');
        };
        $this->cache()->delete('key');
        $journal = new Journal($this->path, fn(): float => $this->now);
        self::assertTrue($journal->deliver(function (): void {
            self::assertStringContainsString('The store of chaos is unavailable: the disk is wrong', $this->reasonOfAMiss());
        }), 'While another delivers it, the failure is known by which it was begun.');
        $this->cache()->delete('key');
        $why = 'it has another fault';
        self::assertSame("The store of chaos is unavailable: {$why}; mend it.", $this->reasonOfAMiss());
        // It is not asked again at once.
        $told = $this->reasonOfAMiss();
        self::assertSame("The store of chaos is unavailable: {$why}; mend it (a moment ago).", $told);
        self::assertSame(Cause::first($told), "The store of chaos is unavailable: {$why}; mend it.");
        $why = str_repeat('ä', 400);
        $this->now += 2.0;
        $this->reasonOfAMiss();
        self::assertMatchesRegularExpression('/^The store of chaos is unavailable: ä+ \(a moment ago\)$/Du', $this->reasonOfAMiss(), 'No character is cut.');
    }

    public function testWhatAProcessWithoutTheStoreHasWrittenDoesNotSayThatTheStoreHasFailed(): void
    {
        (new Cache(new AbsentStore(), logger: new NullLogger(), journal: $this->path))->delete('key');
        $journal = new Journal($this->path, fn(): float => $this->now);
        self::assertTrue($journal->deliver(function (): void {
            self::assertStringContainsString('another process is at it', $this->reasonOfAMiss());
        }));
    }

    public function testWhileOneDeliversNoOtherWaitsForLongAndWhatIsAddedIsNotLost(): void
    {
        $clock = fn(): float => $this->now;
        [$journal, $other] = [new Journal($this->path, $clock), new Journal($this->path, $clock)];
        $journal->append(['a'], [], false);
        $delivered = [];
        $deliver = static function (array $keys) use (&$delivered): void {
            $delivered[] = $keys;
        };
        self::assertTrue($journal->deliver(static function (array $keys) use ($other, $deliver): void {
            $deliver($keys);
            $begun = hrtime(true);
            self::assertFalse($other->deliver($deliver), 'Another process is at it.');
            self::assertTrue($other->append(['b'], [], false));
            self::assertLessThan(20e9, hrtime(true) - $begun);
        }));
        self::assertFalse($other->isEmpty());
        self::assertTrue($other->deliver($deliver));
        self::assertSame([['a'], ['b']], $delivered, 'What is delivered is not delivered again.');
        self::assertTrue($other->isEmpty());

        $journal->append(['c'], [], false);
        self::assertTrue($journal->deliver(function () use ($other, $deliver): void {
            $this->now += 5.0;
            self::assertTrue($other->deliver($deliver), 'It takes the first too long.');
            self::assertTrue($other->append(['d'], [], false));
        }));
        self::assertTrue($other->deliver($deliver));
        self::assertSame([['a'], ['b'], ['c'], ['d']], $delivered, 'What was added to the next journal is in it.');
    }

    /** Else what it writes is added to the journal, which on a busy host is never empty then. */
    public function testAProcessWaitsForTheDeliveryOfAnother(): void
    {
        $tries = 0;
        do {
            (new Journal($this->path, static fn(): float => microtime(true)))->append(['a'], [], false);
            $sockets = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0);
            self::assertIsArray($sockets);
            $child = pcntl_fork();
            if ($child === 0) {
                (new Journal($this->path, static fn(): float => microtime(true)))->deliver(static function () use ($sockets): void {
                    fwrite($sockets[1], '!');
                    usleep(50_000);
                });
                posix_kill(posix_getpid(), \SIGKILL); // without PHPUnit's own shutdown
            }
            self::assertSame('!', fread($sockets[0], 1));
            $isEmpty = (new Journal($this->path, static fn(): float => microtime(true)))->deliver(static function (): void {});
            pcntl_waitpid($child, $status);
        } while (!$isEmpty && ++$tries < 20); // a slow machine may need longer than is waited for
        self::assertTrue($isEmpty);
    }

    public function testWhatIsAddedWhileItIsDeliveredIsTheNextOnesAlsoAfterATakeOver(): void
    {
        $clock = fn(): float => $this->now;
        [$slow, $other, $third] = [new Journal($this->path, $clock), new Journal($this->path, $clock), new Journal($this->path, $clock)];
        $delivered = [];
        $deliver = static function (array $keys) use (&$delivered): void {
            $delivered[] = $keys;
        };
        $slow->append(['a'], [], false);
        self::assertTrue($slow->deliver(function () use ($other, $third, $deliver): void {
            $this->now += 5.0;
            self::assertTrue($other->deliver(static function (array $keys) use ($third, $deliver): void {
                $deliver($keys);
                $third->append(['b'], [], false);
            }));
        }));
        self::assertTrue($third->deliver($deliver), 'The slow one has not put it off.');
        self::assertSame([['a'], ['b']], $delivered);
        self::assertTrue($third->isEmpty());
    }

    public function testAHeldJournalKeepsNoProcessWaiting(): void
    {
        $journal = new Journal($this->path, fn(): float => $this->now);
        $journal->append(['a'], [], false);
        $file = fopen($this->path, 'r');
        self::assertIsResource($file);
        flock($file, \LOCK_EX);
        self::assertFalse($journal->append(['b'], [], false));
        self::assertFalse($journal->deliver(static function (): void {}));
        fclose($file);
        self::assertTrue($journal->deliver(static function (): void {}));
    }

    public function testAProcessWaitsOnceForAHeldJournalAndNotWithEachCall(): void
    {
        $this->chaos->store->save([new Item('kept', 1)]);
        self::assertTrue((new Journal($this->path, fn(): float => $this->now))->append(['lost'], [], false));
        $file = fopen($this->path, 'r');
        self::assertIsResource($file);
        flock($file, \LOCK_EX);
        $cache = $this->cache();
        $began = hrtime(true);
        for ($i = 0; $i < 30; $i++) {
            self::assertNull($cache->get('kept'), 'What it holds may be a delete of this key.');
            self::assertFalse($cache->delete("key{$i}"));
        }
        // With each call it would be half a minute.
        self::assertLessThan(10, (hrtime(true) - $began) / 1e9);
        fclose($file);
        self::assertSame(1, $cache->get('kept'), 'It is asked for the lock all the same.');
        self::assertFalse($cache->health()->isFlagged());
    }

    public function testAJournalDoesNotGrowForEver(): void
    {
        $cache = $this->cache();
        $cache->set('kept', 1);
        $this->chaos->isDown = true;
        for ($i = 0; $i < 30; $i++) {
            $cache->deleteMany(array_map(static fn(int $n): string => str_repeat('k', 100) . "{$i} {$n}", range(1, 500)));
        }
        clearstatcache();
        self::assertLessThan(1_300_000, filesize($this->path));
        unset($cache);
        $this->chaos->isDown = false;
        self::assertFalse($this->cache()->has('kept'), 'What is too much to remember stands for a clear.');
    }

    public function testAJournalThatCannotBeWrittenIsSaid(): void
    {
        $logger = new MemoryLogger();
        $cache = new Cache($this->chaos, logger: $logger, journal: $this->path);
        mkdir($this->path);
        $this->chaos->isDown = true;
        self::assertFalse($cache->delete('key'));
        self::assertCount(1, array_filter($logger->lines, static fn(string $line): bool => str_contains($line, 'journal cannot be written')));
        self::assertTrue($cache->health()->isFlagged());
        $this->chaos->isDown = false;
        self::assertNull($cache->get('key'));
        self::assertFalse($cache->health()->isFlagged());
    }

    public function testNoProcessWritesIntoItWhileAnotherReadsIt(): void
    {
        $journal = new Journal($this->path, fn(): float => $this->now);
        self::assertTrue($journal->append(['key'], [], false));
        $reader = fopen($this->path, 'r');
        self::assertNotFalse($reader);
        self::assertTrue(flock($reader, \LOCK_SH));
        self::assertSame(1, $journal->undelivered()?->keys, 'Several may read it at once.');
        self::assertFalse($journal->append(['other'], [], false));
        fclose($reader);
        self::assertTrue($journal->append(['other'], [], false));
        self::assertSame(2, $journal->undelivered()->keys);
    }

    public function testAJournalThatCannotBeReadKeepsEverythingAMiss(): void
    {
        $this->chaos->store->save([new Item('key', 'stale')]);
        $this->chaos->isDown = true;
        $this->cache()->delete('key');
        $this->chaos->isDown = false;
        $cache = $this->cache();
        unlink($this->path);
        mkdir($this->path);
        self::assertNull($cache->get('key'));
        self::assertFalse($cache->set('other', 1));
        self::assertTrue($cache->health()->isFlagged());
        self::assertFalse($cache->health()->available);
    }

    public function testOnlyWhatWasLostIsForgotten(): void
    {
        $cache = new Cache($this->chaos);
        $cache->setMany(['a' => 1, 'b' => 1]);
        $cache->set('c', 1, tags: ['tag']);
        $this->chaos->isDown = true;
        $cache->delete('a');
        $cache->invalidateTags(['tag']);
        self::assertSame([1, 1, false], [$cache->health()->undelivered, $cache->health()->undeliveredTags, $cache->health()->clearPending]);
        $this->chaos->isDown = false;
        self::assertSame(['b' => 1], $cache->getMany(['a', 'b', 'c']));
    }

    public function testAClearThatArrivesIsMoreThanWhatDidNot(): void
    {
        $cache = new Cache($this->chaos);
        $this->chaos->isDown = true;
        $cache->delete('key');
        $this->chaos->isDown = false;
        self::assertTrue($cache->clear());
        self::assertFalse($cache->health()->isFlagged());
        $this->chaos->calls = [];
        $cache->getMany(['key']);
        self::assertSame(['readMany'], $this->chaos->calls);
    }

    public function testAClearThatArrivesEmptiesAJournalThatCannotBeDelivered(): void
    {
        $cache = $this->cache();
        $cache->set('a', 'old', tags: ['tag']);
        $this->chaos->before = static fn(string $call): mixed => $call === 'invalidateTags' || $call === 'delete'
            ? throw StoreUnavailable::because('The store of chaos', "it takes no {$call}()", 'look at the test that said so')
            : null;
        self::assertFalse($cache->invalidateTags(['tag']));
        self::assertFalse($cache->delete('a'));
        // Another process finds them.
        $other = $this->cache();
        $this->now += 2.0;
        self::assertNull($other->get('a'));
        $this->now += 2.0;
        self::assertTrue($other->clear());
        self::assertFalse($other->health()->isFlagged());
        self::assertTrue((new Journal($this->path, fn(): float => $this->now))->isEmpty());
        self::assertTrue($other->set('a', 'new'));
        self::assertSame('new', $other->get('a'));
    }

    public function testAClearDoesNotWaitForADeliveryThatIsInFlight(): void
    {
        $cache = $this->cache();
        $cache->set('a', 'old');
        $this->chaos->isDown = true;
        self::assertFalse($cache->delete('a'));
        $this->chaos->isDown = false;
        $cleared = null;
        $journal = new Journal($this->path, fn(): float => $this->now);
        self::assertTrue($journal->deliver(function () use (&$cleared): void {
            $other = $this->cache();
            $cleared = [$other->clear(), $other->health()->isFlagged()];
        }));
        // What is in the journal is the other's to deliver, and nothing is read until that is done.
        self::assertSame([true, true], $cleared);
        self::assertFalse((new Cache($this->chaos))->has('a'));
    }

    public function testWhatIsAddedToTheJournalDuringAClearIsLeftInIt(): void
    {
        $cache = $this->cache();
        $cache->set('a', 'old');
        $this->chaos->isDown = true;
        self::assertFalse($cache->delete('a'));
        $this->chaos->isDown = false;
        $other = $this->cache();
        $this->chaos->before = function (string $call): void {
            if ($call === 'clear') {
                (new Journal($this->path, fn(): float => $this->now))->append(['b'], [], false);
            }
        };
        self::assertTrue($other->clear());
        self::assertSame(1, (new Journal($this->path, fn(): float => $this->now))->undelivered()?->keys);
    }

    public function testAPlaceThatIsNoneIsAWrongConfiguration(): void
    {
        $this->expectException(InvalidOption::class);
        $this->expectExceptionMessage('The directory');
        new Cache($this->chaos, journal: $this->scratch->path);
    }

    /** It may have been removed since the site was set up. */
    public function testADirectoryThatIsGoneIsToldWhenSomethingIsToBeWritten(): void
    {
        $logger = new MemoryLogger();
        $cache = new Cache($this->chaos, logger: $logger, journal: "{$this->scratch->path}/absent/journal");
        self::assertTrue($cache->set('key', 1));
        self::assertSame(1, $cache->get('key'));
        self::assertSame([], $logger->lines);
        $this->chaos->isDown = true;
        self::assertFalse($cache->delete('key'));
        self::assertContains('error: The cache\'s journal cannot be written: what the store has missed is forgotten with this process.', $logger->lines);
        self::assertContains("\"{$this->scratch->path}/absent\" is not there", array_column($logger->contexts, 'why'));
        $this->chaos->isDown = false;
        self::assertNull($cache->get('key'));
        self::assertFalse($cache->health()->isFlagged());
    }

    /** What the log of a process is told whose read is a miss. */
    private function reasonOfAMiss(): string
    {
        $logger = new MemoryLogger();
        self::assertNull((new Cache($this->chaos, logger: $logger, journal: $this->path, clock: fn(): float => $this->now))->get('key'));
        $failure = $logger->contexts[0]['exception'] ?? null;
        self::assertInstanceOf(StoreUnavailable::class, $failure);

        return $failure->getMessage();
    }

    private function cache(): Cache
    {
        return new Cache($this->chaos, journal: $this->path, clock: fn(): float => $this->now);
    }
}
