<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception\InvalidOption;
use Larder\Exception\UnsupportedOperation;
use Larder\Lock;
use Larder\Session\SessionHandler;
use Larder\Store\ChaosStore;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Tests\System\Extension\Workers;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProviderExternal;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** PHP's own sessions, in processes of their own: workers of php-fpm, and scripts on the command line. */
#[CoversClass(SessionHandler::class)]
final class SessionTest extends TestCase
{
    private const PAGE = __DIR__ . '/Session/page.php';

    #[DataProviderExternal(Place::class, 'retaining')]
    public function testRequestsOfOneSessionTakeTurns(string $kind): void
    {
        $place = new Place($kind);
        $workers = new Workers(['apc.enabled' => 1], 4);
        try {
            $connections = [];
            for ($i = 0; $i < 12; $i++) {
                $connections[] = $workers->client->begin(self::PAGE, ['dsn' => $place->dsn, 'id' => 'shared', 'do' => 'count']);
            }
            $seen = [];
            foreach ($connections as $connection) {
                $answer = json_decode((string) $workers->client::answer($connection), true);
                // Until then the worker waits for the rest of the request.
                fclose($connection);
                self::assertIsArray($answer);
                self::assertSame([], $answer['warnings']);
                self::assertIsArray($answer['session']);
                $seen[] = $answer['session']['n'];
            }
            sort($seen);
            self::assertSame(range(1, 12), $seen);
            self::assertSame([], $workers->crashes());
        } finally {
            $workers->stop();
        }
        self::assertSame(['n' => 13], $this->page($place, ['do' => 'count'])['session'], 'The command line has the same session.');
    }

    #[DataProviderExternal(Place::class, 'retaining')]
    public function testASessionLivesFromRequestToRequest(string $kind): void
    {
        $place = new Place($kind);
        self::assertSame(['started' => true, 'id' => 'shared', 'session' => [], 'warnings' => []], $this->page($place));
        $this->page($place, ['do' => 'nest']);
        $date = ['date' => '2020-02-02 02:02:02.000000', 'timezone_type' => 3, 'timezone' => 'UTC'];
        self::assertSame(['objects' => [$date]], $this->page($place)['session']);
        self::assertSame(['left' => true], $this->page($place, ['id' => 'leaver', 'do' => 'exit']));
        self::assertSame(['left' => true], $this->page($place, ['id' => 'leaver'])['session'], 'exit() ends a session as the end does.');
        $moved = $this->page($place, ['id' => 'leaver', 'do' => 'regenerate']);
        self::assertNotSame('leaver', $moved['id']);
        self::assertSame([], $moved['warnings']);
        self::assertSame(['left' => true, 'moved' => true], $this->page($place, ['id' => $moved['id']])['session']);
        self::assertSame([], $this->page($place, ['id' => 'leaver'])['session']);
        $this->page($place, ['do' => 'destroy']);
        self::assertSame([], $this->page($place)['session']);
    }

    /** Such as a worker of FrankenPHP or RoadRunner, which has the handler for many requests. */
    public function testAProcessThatServesManyRequestsReadsEachSessionAsItIsNow(): void
    {
        $scratch = new Scratch();
        $dsn = "array: > sqlite:{$scratch->path}/sessions.db";
        foreach ([true, false] as $locking) {
            [$mine, $other] = array_map(static fn(): SessionHandler => new SessionHandler(Cache::open($dsn), 100, $locking), [0, 1]);
            $request = static function (SessionHandler $handler, string $more): string {
                $before = (string) $handler->read('shared');
                self::assertTrue($handler->write('shared', $before . $more));
                $handler->close();

                return $before;
            };
            $request($mine, 'a');
            $request($other, 'b');
            self::assertTrue($mine->validateId('shared'));
            $request($other, 'c');
            self::assertSame('abc', $request($mine, 'd'));
            $other->destroy('shared');
            self::assertFalse($mine->validateId('shared'));
            self::assertSame('', $request($mine, ''));
            $mine->destroy('shared');
        }
    }

    public function testInStrictModeAnIdThatWasNotGivenOutIsReplaced(): void
    {
        $place = new Place('SQLite');
        $made = $this->page($place, ['id' => 'invented', 'strict' => '1', 'do' => 'count']);
        self::assertNotSame('invented', $made['id']);
        self::assertSame([], $made['warnings']);
        $kept = $this->page($place, ['id' => $made['id'], 'strict' => '1', 'do' => 'count']);
        self::assertSame([$made['id'], ['n' => 2]], [$kept['id'], $kept['session']]);
    }

    public function testAnIdOfStrangeBytesOpensNothing(): void
    {
        $place = new Place('SQLite');
        $handler = new SessionHandler(Cache::open($place->dsn));
        foreach (['', '../../etc', "a\0b", str_repeat('x', 257), 'a b', "\xff", "a\n"] as $id) {
            self::assertFalse($handler->validateId($id));
            self::assertFalse($handler->read($id));
            self::assertFalse($handler->write($id, 'data'));
            self::assertFalse($handler->updateTimestamp($id, 'data'));
            self::assertFalse($handler->destroy($id));
        }
    }

    #[DataProviderExternal(Place::class, 'retaining')]
    public function testWhatDidNotChangeIsNotWritten(string $kind): void
    {
        $place = new Place($kind);
        $this->page($place, ['do' => 'count', 'lifetime' => 1_000]);
        $store = Cache::open($place->dsn)->store;
        $expiry = static fn(): ?int => $store->fetch(['session:shared'])->items['session:shared']->expiry ?? null;
        $store->touch(['session:shared'], 950);
        $before = $expiry();
        self::assertSame(['n' => 1], $this->page($place, ['lifetime' => 1_000])['session']);
        // A near store counts by a clock whose seconds begin at other moments.
        self::assertEqualsWithDelta($before, $expiry(), 1, 'A tenth of its time is not over.');
        $store->touch(['session:shared'], 850);
        self::assertSame(['n' => 1], $this->page($place, ['lifetime' => 1_000])['session']);
        self::assertGreaterThanOrEqual(time() + 990, $expiry());
        self::assertSame(['n' => 2], $this->page($place, ['do' => 'count'])['session']);
    }

    public function testARequestThatCannotHaveTheSessionDoesNotBeginAnEmptyOne(): void
    {
        $place = new Place('SQLite');
        $this->page($place, ['do' => 'count']);
        $lock = Cache::open($place->dsn)->lock('session:shared', 600.0);
        self::assertTrue($lock->acquire());
        $answer = $this->page($place, ['do' => 'count', 'wait' => 0.05]);
        self::assertFalse($answer['started']);
        self::assertNotSame([], $answer['warnings']);
        self::assertTrue($lock->release());
        self::assertSame(['n' => 2], $this->page($place, ['do' => 'count'])['session']);
    }

    public function testAStoreThatIsDownDoesNotBeginAnEmptySession(): void
    {
        $server = CacheServer::redis()->start();
        $dsn = "redis+unix:{$server->socket}?retry_after=0";
        self::assertTrue($this->ask(['dsn' => $dsn, 'id' => 'x', 'do' => 'count'])['started']);
        $server->kill();
        $answer = $this->ask(['dsn' => $dsn, 'id' => 'x', 'do' => 'count', 'wait' => 0]);
        self::assertFalse($answer['started']);
        $server->start();
        self::assertTrue($this->ask(['dsn' => $dsn, 'id' => 'x', 'do' => 'count'])['started']);
    }

    #[DataProviderExternal(Place::class, 'retaining')]
    public function testARequestThatIsKilledKeepsTheSessionForItsLongestTimeOnly(string $kind): void
    {
        $place = new Place($kind);
        $scratch = new Scratch();
        $this->page($place, ['do' => 'count']);
        $process = new Process($this->command(['dsn' => $place->dsn, 'id' => 'shared', 'do' => 'hang', 'longest' => 1, 'file' => "{$scratch->path}/hangs"]), timeout: null);
        $process->start();
        while (!file_exists("{$scratch->path}/hangs")) {
            usleep(1_000);
        }
        $process->stop(0);
        self::assertSame(['n' => 2], $this->page($place, ['do' => 'count'])['session']);
    }

    #[DataProviderExternal(Place::class, 'retaining')]
    public function testARequestThatHasTheSessionForTooLongSavesWhatNoOtherHasChanged(string $kind): void
    {
        $place = new Place($kind);
        $logger = new MemoryLogger();
        foreach (['new', 'old'] as $id) {
            $handler = static fn(): SessionHandler => new SessionHandler(Cache::open($place->dsn), 1_000, wait: 0.0, logger: $logger);
            if ($id === 'old') {
                $first = $handler();
                self::assertTrue($first->write($id, 'before'));
                $first->close();
            }
            foreach (['no other', 'a reader', 'a request that still has it', 'a writer', ...($id === 'old' ? ['a logout'] : [])] as $other) {
                $long = $handler();
                $before = $long->read($id);
                self::assertIsString($before);
                $logger->lines = [];
                // As when its time is over.
                $lock = (new \ReflectionProperty($long, 'lock'))->getValue($long);
                self::assertTrue($lock instanceof Lock && $lock->release());
                $meanwhile = $handler();
                if ($other !== 'no other') {
                    self::assertSame($before, $meanwhile->read($id));
                    $other !== 'a writer' || self::assertTrue($meanwhile->write($id, "{$before}, by another"));
                    $other !== 'a logout' || self::assertTrue($meanwhile->destroy($id));
                    $other === 'a request that still has it' || $meanwhile->close();
                }
                $isSaved = \in_array($other, ['no other', 'a reader'], true);
                self::assertSame($isSaved, $long->write($id, "{$before}, after"), "{$id} {$other}");
                self::assertCount($isSaved ? 0 : 1, $logger->lines);
                $meanwhile->close();
                $long->close();
                $expected = match ($other) {
                    'a writer' => "{$before}, by another",
                    'a logout' => '',
                    'a request that still has it' => $before,
                    default => "{$before}, after",
                };
                $last = $handler();
                self::assertSame($expected, $last->read($id), "{$id} {$other}");
                $last->destroy($id);
                $id === 'new' || self::assertTrue($last->write($id, 'before'));
                $last->close();
            }
        }
    }

    #[DataProviderExternal(Place::class, 'retaining')]
    public function testGarbageCollectionLooksAtNoMoreItemsThanAVisitorCanWaitFor(string $kind): void
    {
        $place = new Place($kind);
        $chaos = new ChaosStore(Cache::open($place->dsn)->store);
        $cache = new Cache($chaos);
        $handler = new SessionHandler($cache, 1_000);
        $keys = array_map(static fn(int $i): string => "session:{$i}", range(1, 3_000));
        $cache->setMany(array_fill_keys($keys, 'data'), 1_000);
        $chaos->calls = [];
        self::assertSame(0, $handler->gc(1));
        self::assertSame(['tidy'], $chaos->calls);
        $removed = [0];
        if (!str_contains($place->dsn, 'shm:') && !str_contains($place->dsn, 'redis')) {
            $chaos->touch($keys, 1);
            for ($deadline = hrtime(true) + 60_000_000_000; array_sum($removed) < 1_000 && hrtime(true) < $deadline; usleep(1_000)) {
                $removed[] = (int) $handler->gc(2);
            }
            self::assertGreaterThanOrEqual(1_000, array_sum($removed));
            self::assertLessThanOrEqual(500, max($removed));
        }
    }

    /** Magento's handler, which is around this one, begins an empty session then. */
    public function testASessionThatCouldNotBeReadIsNotWritten(): void
    {
        $scratch = new Scratch();
        $chaos = new ChaosStore(Cache::open("sqlite:{$scratch->path}/sessions.db")->store);
        $cache = new Cache($chaos, logger: $logger = new MemoryLogger());
        [$first, $second] = [new SessionHandler($cache), new SessionHandler($cache, wait: 0.0, logger: $logger)];
        self::assertSame('', $first->read('abc'));
        self::assertTrue($first->write('abc', 'cart'));
        self::assertFalse($second->read('abc'));
        self::assertTrue($first->close());
        self::assertFalse($second->write('abc', 'nothing'));
        self::assertFalse($second->updateTimestamp('abc', 'nothing'));
        self::assertContains('warning: A session is not saved, because it could not be read before.', $logger->lines);
        $second->close();
        $chaos->isDown = true;
        self::assertFalse($second->read('abc'));
        $chaos->isDown = false;
        self::assertFalse($second->write('abc', 'nothing'));
        $second->close();
        self::assertSame('cart', $second->read('abc'));
        self::assertTrue($second->write('abc', 'cart and hat'));
        self::assertTrue($second->write('def', 'made anew'));
    }

    /** A page that takes 45 seconds, or one that was killed, is no reason for another one to fail. */
    public function testARequestWaitsForLongerThanAnotherMayHaveTheSession(): void
    {
        $scratch = new Scratch();
        $cache = Cache::open("sqlite:{$scratch->path}/sessions.db");
        foreach ([new SessionHandler($cache), new SessionHandler($cache, longest: 200.0), new SessionHandler($cache, longest: 0.5)] as $handler) {
            [$longest, $wait] = array_map(static fn(string $name): mixed => (new \ReflectionProperty($handler, $name))->getValue($handler), ['longest', 'wait']);
            self::assertIsFloat($longest);
            self::assertSame($longest + 5.0, $wait);
        }
    }

    public function testAStoreThatEvictsKeepsNoSessions(): void
    {
        $this->expectException(UnsupportedOperation::class);
        $this->expectExceptionMessage('may remove items before their time is over');
        new SessionHandler(Cache::open('array:'));
    }

    public function testALifetimeOfNothingIsAWrongConfiguration(): void
    {
        $place = new Place('files');
        $this->expectException(InvalidOption::class);
        new SessionHandler(Cache::open($place->dsn), 0);
    }

    public function testGarbageCollectionLetsTheStoreRemoveWhatIsOver(): void
    {
        $place = new Place('files');
        // It counts whole seconds, from the beginning of the present one.
        $handler = new SessionHandler(Cache::open($place->dsn), 2, locking: false);
        self::assertTrue($handler->open('', 'PHPSESSID'));
        self::assertTrue($handler->write('a', 'data'));
        $removed = [$handler->gc(1)];
        for ($deadline = hrtime(true) + 60_000_000_000; array_sum($removed) === 0 && hrtime(true) < $deadline; usleep(10_000)) {
            $removed[] = $handler->gc(1);
        }
        self::assertSame([0, 1], [$removed[0], array_sum($removed)]);
        self::assertSame('', $handler->read('a'));
    }

    /**
     * @param array<string, mixed> $asked
     *
     * @return array<mixed>
     */
    private function page(Place $place, array $asked = []): array
    {
        return $this->ask($asked + ['dsn' => $place->dsn, 'id' => 'shared']);
    }

    /**
     * @param array<string, mixed> $asked
     *
     * @return array<mixed>
     */
    private function ask(array $asked): array
    {
        $process = new Process($this->command($asked), timeout: null);
        $process->run();
        $said = $process->getOutput();
        $answer = json_decode($said, true);
        self::assertIsArray($answer, $said);

        return $answer;
    }

    /**
     * @param array<string, mixed> $asked
     *
     * @return non-empty-list<string>
     */
    private function command(array $asked): array
    {
        return [
            \PHP_BINARY, '-d', 'extension=' . Workers::extension(), '-d', 'display_errors=stderr', self::PAGE, (string) json_encode($asked),
        ];
    }
}
