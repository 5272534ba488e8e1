<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Cache;
use Larder\Exception\Unstorable;
use Larder\Item;
use Larder\Log\Beside;
use Larder\Log\Event;
use Larder\Store\Sqlite\SqliteLog;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(SqliteLog::class)]
#[CoversClass(Event::class)]
final class SqliteLogTest extends TestCase
{
    private Scratch $scratch;

    private int $now = 0;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->now = time();
    }

    public function testTheNewsAreWhatWasRecordedSinceAPosition(): void
    {
        $log = $this->log();
        $first = $log->since(null);
        self::assertSame([[], false], [$first->events, $first->isComplete]);
        self::assertSame('written', $log->record(Event::keys(['a', "\0b"]), static fn(): string => 'written'));
        $log->record(Event::tags(['x']), static fn(): bool => true);
        $news = $this->log()->since($first->position);
        self::assertTrue($news->isComplete);
        self::assertEquals([Event::keys(['a', "\0b"]), Event::tags(['x'])], $news->events);
        $log->record(Event::everything(), static fn(): bool => true);
        self::assertEquals([Event::everything()], $log->since($news->position)->events);
        self::assertSame([], $log->since($log->since($news->position)->position)->events);
    }

    public function testADatabaseThatHasNearStoresIsOpenedSoThatTheyLearnOfEveryChange(): void
    {
        $dsn = "sqlite:{$this->scratch->path}/cache.db";
        $alone = Cache::open($dsn);
        $alone->set('key', 'old', tags: ['tag']);
        self::assertInstanceOf(SqliteStore::class, $alone->store, 'No near store follows it.');
        $worker = Cache::open("array: > {$dsn}");
        foreach ([static fn(Cache $each): bool => $each->delete('key'), static fn(Cache $each): bool => $each->invalidateTags(['tag']), static fn(Cache $each): bool => $each->clear()] as $change) {
            $worker->set('key', 'old', tags: ['tag']);
            $worker->refresh();
            self::assertSame('old', $worker->get('key'));
            $change(Cache::open($dsn));
            $worker->refresh();
            self::assertNull($worker->get('key'));
        }
    }

    public function testAMereWriterDoesNotGoOnWithADatabaseThatIsGone(): void
    {
        $writer = $this->log();
        $writer->record(Event::keys(['a']), static fn(): bool => true);
        foreach (['', '-wal', '-shm'] as $suffix) {
            @unlink("{$this->scratch->path}/cache.db{$suffix}");
        }
        $position = $this->log()->since(null)->position;
        $writer->record(Event::keys(['b']), static fn(): bool => true);
        self::assertEquals([Event::keys(['b'])], $this->log()->since($position)->events);
    }

    public function testTheHeadTellsNothingFromBeforeTheCommitUntilAfterIt(): void
    {
        [$log, $other] = [$this->log(), $this->log()];
        $log->record(Event::keys(['x']), static fn(): bool => true);
        $before = $other->head();
        self::assertNotNull($before);
        $during = 'not asked';
        $log->record(Event::keys(['x']), static function () use ($other, &$during): void {
            $during = $other->head();
        });
        self::assertNull($during);
        self::assertNotNull($other->head());
        self::assertNotSame($before, $other->head());
    }

    public function testWhatWasUndoneIsNotRecorded(): void
    {
        $store = $this->store();
        $log = $store->log();
        $position = $log->since(null)->position;
        $saved = null;
        try {
            $saved = $log->record(Event::keys(['x']), static fn(): array => [...$store->save([new Item('x', 1)]), ...$store->save([new Item('y', static fn(): int => 1)])]);
        } catch (Unstorable) {
        }
        self::assertNull($saved);
        self::assertSame([], $log->since($position)->events);
        self::assertSame([], $store->fetch(['x'])->items);
        self::assertNotNull($log->head(), 'Nothing is in flight any more.');
    }

    public function testALogThatDoesNotReachBackSaysSo(): void
    {
        $log = $this->log();
        $positions = [$log->since(null)->position];
        for ($i = 0; $i < 5; $i++) {
            $log->record(Event::keys([(string) $i]), static fn(): bool => true);
            $positions[] = $log->since(null)->position;
        }
        $this->database()->exec('DELETE FROM "log:larder" WHERE id > 0 AND id <= 2');
        foreach ([false, false, false, true, true, true] as $i => $reaches) {
            $news = $log->since($positions[$i]);
            self::assertSame([$reaches, $positions[5]], [$news->isComplete, $news->position], "from {$i}");
        }
        foreach (['', 'x', '3', '3:', '3:00', '99:00', '-1:00', ':'] as $nonsense) {
            self::assertFalse($log->since($nonsense)->isComplete);
        }
        $this->database()->exec('DELETE FROM "log:larder"');
        self::assertFalse($log->since($positions[5])->isComplete);
        $log->record(Event::keys(['x']), static fn(): bool => true);
        self::assertFalse($log->since($positions[1])->isComplete);
    }

    public function testALogIsTrimmed(): void
    {
        $log = $this->log();
        $log->since(null);
        for ($i = 0; $i < 4_400; $i++) {
            // The sequence is the application's, which may begin it as it likes.
            mt_srand(7);
            $log->record(Event::keys(['x']), static fn(): bool => true);
        }
        $next = mt_rand();
        mt_srand(7);
        self::assertSame($next, mt_rand());
        self::assertGreaterThanOrEqual(4_096, $this->rows());
        self::assertLessThanOrEqual(4_096 + 256, $this->rows());
        $batch = Event::keys(array_map(static fn(int $i): string => str_repeat('x', 200) . $i, range(0, 299)));
        for ($i = 0; $i < 100; $i++) {
            $log->record($batch, static fn(): bool => true);
        }
        self::assertLessThanOrEqual(4_096 + 256, $this->rows(), 'A batch is several events.');
    }

    public function testABatchOfManyKeysIsSeveralEventsAndNotEverything(): void
    {
        $log = $this->log();
        $position = $log->since(null)->position;
        $keys = array_map(static fn(int $i): string => "a key of usual length {$i}", range(0, 2_999));
        $tags = array_map(static fn(int $i): string => "tag {$i}", range(0, 999));
        $log->record(Event::keys($keys), static fn(): bool => true);
        $log->record(Event::tags($tags), static fn(): bool => true);
        $news = $log->since($position);
        self::assertTrue($news->isComplete);
        self::assertSame([], array_filter($news->events, static fn(Event $event): bool => $event->isEverything));
        self::assertSame($keys, array_merge(...array_map(static fn(Event $event): array => $event->keys, $news->events)));
        self::assertSame($tags, array_merge(...array_map(static fn(Event $event): array => $event->tags, $news->events)));
        $log->record(Event::keys(array_map(static fn(int $i): string => str_repeat('x', 1_000) . $i, range(0, 999))), static fn(): bool => true);
        self::assertEquals([Event::everything()], $log->since($news->position)->events, 'To follow it would take longer than to start anew.');
    }

    /** Thousands of long events, read by every process at once, would take more memory than a request has. */
    public function testALogOfMoreThanANearStoreCanFollowSaysSo(): void
    {
        $log = $this->log();
        $first = $log->since(null)->position;
        $keys = array_map(static fn(int $i): string => str_repeat('x', 1_000) . $i, range(0, 6));
        for ($i = 0; $i < 100; $i++) {
            $log->record(Event::keys($keys), static fn(): bool => true);
        }
        $second = $log->since($first);
        self::assertSame([true, 100], [$second->isComplete, \count($second->events)]);
        for ($i = 0; $i < 100; $i++) {
            $log->record(Event::keys($keys), static fn(): bool => true);
        }
        $news = $log->since($first);
        self::assertSame([false, []], [$news->isComplete, $news->events]);
        self::assertTrue($log->since($second->position)->isComplete);
        self::assertTrue($log->since($news->position)->isComplete);
    }

    public function testADatabaseThatWasRestoredIsAnotherHistory(): void
    {
        $log = $this->log();
        $log->record(Event::keys(['x']), static fn(): bool => true);
        $this->database()->exec("VACUUM INTO '{$this->scratch->path}/copy.db'");
        $log->record(Event::keys(['y']), static fn(): bool => true);
        $position = $log->since(null)->position;
        unset($log);
        array_map(unlink(...), glob("{$this->scratch->path}/cache.db*") ?: []);
        rename("{$this->scratch->path}/copy.db", "{$this->scratch->path}/cache.db");
        $restored = $this->log();
        self::assertFalse($restored->since($position)->isComplete);
        $restored->record(Event::keys(['z']), static fn(): bool => true);
        self::assertFalse($restored->since($position)->isComplete, 'There is an event of that number again.');
    }

    public function testWhatADeadWriterLeftIsRepairedByAReader(): void
    {
        $log = $this->log();
        $log->record(Event::keys(['x']), static fn(): bool => true);
        $path = "{$this->scratch->path}/cache.db-head-larder";
        file_put_contents($path, 'x', \FILE_APPEND);
        $position = $log->since(null)->position;
        self::assertNull($log->head());
        $this->now += 60;
        self::assertTrue($log->since($position)->isComplete);
        self::assertNotNull($log->head());
    }

    public function testAReaderDoesNotWaitForAWriterThatTakesLong(): void
    {
        $log = $this->log();
        $log->record(Event::keys(['x']), static fn(): bool => true);
        file_put_contents("{$this->scratch->path}/cache.db-head-larder", 'x', \FILE_APPEND);
        $position = $log->since(null)->position;
        $writer = $this->database();
        $writer->exec('BEGIN IMMEDIATE');
        $this->now += 60;
        $begun = hrtime(true);
        self::assertTrue($log->since($position)->isComplete);
        self::assertLessThan(20, (hrtime(true) - $begun) / 1e9, 'It has waited for its timeout of 30 seconds.');
        self::assertNull($log->head());
        $writer->exec('ROLLBACK');
        self::assertTrue($log->since($position)->isComplete);
        self::assertNotNull($log->head());
    }

    /** SQLite follows it, and so does everyone who has opened the database by its own name. */
    public function testADatabaseHasOneHeadByWhicheverNameItIsOpened(): void
    {
        mkdir("{$this->scratch->path}/links");
        symlink('../cache.db', "{$this->scratch->path}/links/first.db");
        symlink("{$this->scratch->path}/links/first.db", "{$this->scratch->path}/links/second.db");
        $named = (new SqliteStore("{$this->scratch->path}/links/second.db", timeout: 30.0))->log();
        $named->record(Event::keys(['x']), static fn(): bool => true);
        $log = $this->log();
        $before = $log->head();
        self::assertNotNull($before);
        $named->record(Event::keys(['y']), static fn(): bool => true);
        self::assertNotSame($before, $log->head());
        self::assertSame($named->head(), $log->head());
    }

    public function testAnEventThatIsTooLongOrDamagedStandsForEverything(): void
    {
        [$long] = Event::keys([str_repeat('x', 8_000), str_repeat('y', 10_000)])->parts();
        self::assertFalse(Event::unpacked($long->packed())->isEverything);
        [, $longer] = Event::keys([str_repeat('x', 8_000), str_repeat('y', 10_000)])->parts();
        self::assertTrue(Event::unpacked($longer->packed())->isEverything);
        $packed = Event::keys(['a', 'b'])->packed();
        self::assertEquals(Event::keys(['a', 'b']), Event::unpacked($packed));
        foreach (['', 'x', substr($packed, 0, -3), serialize(['a']), serialize([[1], [], false]), serialize([[], [], 'x']), serialize(new \stdClass())] as $damaged) {
            self::assertTrue(Event::unpacked($damaged)->isEverything);
        }
    }

    private function rows(): int
    {
        $rows = $this->database()->querySingle('SELECT count(*) FROM "log:larder"');

        return \is_int($rows) ? $rows : 0;
    }

    private function database(): \SQLite3
    {
        $database = new \SQLite3("{$this->scratch->path}/cache.db");
        $database->busyTimeout(30_000);

        return $database;
    }

    private function store(): SqliteStore
    {
        return new SqliteStore("{$this->scratch->path}/cache.db", timeout: 30.0, clock: fn(): int => $this->now);
    }

    private function log(): Beside
    {
        return $this->store()->log();
    }
}
