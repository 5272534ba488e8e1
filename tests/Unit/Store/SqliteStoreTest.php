<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Cache;
use Larder\Capability;
use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Item;
use Larder\Reads;
use Larder\Store\Sqlite\Database;
use Larder\Store\Sqlite\LogFile;
use Larder\Store\Sqlite\Notices;
use Larder\Store\Sqlite\Reach;
use Larder\Store\Sqlite\Rows;
use Larder\Store\Sqlite\Schema;
use Larder\Store\Sqlite\Sweep;
use Larder\Store\SqliteStore;
use Larder\Store\Tags;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** The size of a database, and what is removed from it. */
#[CoversClass(SqliteStore::class)]
#[CoversClass(Database::class)]
#[CoversClass(Sweep::class)]
final class SqliteStoreTest extends TestCase
{
    private const SIZE = 2 << 20;

    private ?Scratch $scratch = null;

    private int $now = 0;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->now = 1_000_000;
    }

    public function testItLeavesTheApplicationsRandomSequenceAlone(): void
    {
        $store = new SqliteStore("{$this->scratch?->path}/cache.db", timeout: 30.0);
        mt_srand(7);
        $store->save([new Item('key', 1)]);
        $next = mt_rand();
        mt_srand(7);
        self::assertSame($next, mt_rand());
    }

    public function testInvalidatingATagLooksAtNoItem(): void
    {
        $store = new SqliteStore("{$this->scratch?->path}/cache.db", timeout: 30.0);
        // The quickest of many is what it takes when nothing disturbs it; a look at every item takes hundreds of times as long.
        $quickest = static function () use ($store): int {
            $times = [];
            for ($i = 0; $i < 50; $i++) {
                $began = hrtime(true);
                $store->invalidateTags(['tag']);
                $times[] = hrtime(true) - $began;
            }

            return min($times);
        };
        $store->save([new Item('one', 1, null, ['tag'])]);
        $few = $quickest();
        $store->save(array_map(static fn(int $i): Item => new Item("key {$i}", str_repeat('x', 1_000), null, ['tag']), range(1, 10_000)));

        self::assertLessThan(20 * $few, $quickest());
    }

    public function testADatabaseNeverOutgrowsItsSizeAndKeepsWhatIsNew(): void
    {
        $store = $this->store();
        for ($i = 0; $i < 1_000; $i++) {
            self::assertSame([], $store->save([new Item("key {$i}", random_bytes(10_000), 1_000, ["tag {$i}"])]));
            self::assertCount(1, $store->fetch(["key {$i}"])->items);
        }
        self::assertLessThanOrEqual(self::SIZE, $store->statistics()->bytes);
        $kept = array_keys($store->fetch(array_map(static fn(int $i): string => "key {$i}", range(0, 999)))->items);
        // The log has its part of the size; the database has the rest.
        $room = self::SIZE - (new LogFile('', self::SIZE))->most();
        // Each takes three pages and a part of a fourth; a sixty-fourth of the size goes at once.
        self::assertGreaterThan(0.9 * $room / 13_000, \count($kept), 'More was evicted than had to be.');
        $old = array_filter($kept, static fn(string $key): bool => (int) substr($key, 4) < 500);
        self::assertLessThan(\count($kept) / 4, \count($old), 'What was stored long ago goes first.');
        self::assertSame(1, $store->increment('counter'));
        self::assertSame([], $store->save([new Item('after', 'x')]));
    }

    public function testAFullDatabaseMakesRoomAlsoAfterACallerHasMadeAMistake(): void
    {
        $store = $this->store();
        for ($i = 0; $i < 500; $i++) {
            self::assertSame([], $store->save([new Item('text', 'no counter')]));
            try {
                $store->increment('text');
                self::fail('A text was counted.');
            } catch (NotACounter) {
            }
            self::assertSame([], $store->save([new Item("key {$i}", random_bytes(10_000))]));
        }
    }

    public function testWhatIsDeadGoesBeforeWhatIsAlive(): void
    {
        $store = $this->store();
        for ($i = 0; $i < 50; $i++) {
            $store->save([new Item("alive {$i}", random_bytes(10_000)), new Item("dead {$i}", random_bytes(20_000), 10, ["tag {$i}"])]);
        }
        $this->now += 100;
        for ($i = 0; $i < 40; $i++) {
            $store->save([new Item("new {$i}", random_bytes(10_000))]);
        }
        self::assertGreaterThan(30, \count($store->fetch(array_map(static fn(int $i): string => "alive {$i}", range(0, 49)))->items));
    }

    public function testWhatIsLargerThanHalfTheDatabaseIsRefusedAndLeavesNothing(): void
    {
        $store = $this->store();
        $store->save([new Item('key', 'old'), new Item('other', 'x')]);
        $token = $store->token('key');
        self::assertSame(['key'], $store->save([new Item('key', str_repeat('x', self::SIZE * 3 >> 2))]));
        self::assertSame(['other'], array_keys($store->fetch(['key', 'other'])->items));
        self::assertSame(['key'], $store->save([new Item('key', 'late', token: $token, fill: true)]), 'It was new truth all the same.');
    }

    public function testAFillIsRefusedAlsoWhenWhatRefusesItWasEvicted(): void
    {
        $store = $this->store();
        $tokens = $store->fetch(['deleted', 'written', 'expired'])->tokens;
        $store->save([new Item('written', random_bytes(1_000)), new Item('expired', 'x', 1)]);
        $store->delete(['deleted']);
        for ($i = 0; $i < 600; $i++) {
            $store->save([new Item("key {$i}", random_bytes(10_000))]);
        }
        $this->now += 100;
        while ($store->prune() > 0);
        self::assertSame([], $store->fetch(['written', 'expired', 'deleted'])->items);
        foreach ($tokens as $key => $token) {
            self::assertSame([(string) $key], $store->save([new Item((string) $key, 'late', token: $token, fill: true)]));
        }
    }

    public function testAfterAPruneOnlyWhatLivesTakesRoom(): void
    {
        $store = $this->store();
        for ($i = 0; $i < 500; $i++) {
            $store->save([new Item("key {$i}", 'x', $i % 2 === 0 ? 10 : null, ["tag {$i}", 'all'])]);
            $store->delete(["absent {$i}"]);
            $store->invalidateTags(["unknown {$i}"]);
        }
        $store->invalidateTags(array_map(static fn(int $i): string => "tag {$i}", range(1, 499)));
        $store->save([new Item('alive', 'x', null, ['all', 'tag 1'])]);
        $this->now += 100;
        $rounds = 0;
        while ($store->prune() > 0) {
            $rounds++;
        }
        self::assertSame(['alive'], [...$store->keys()]);
        self::assertSame([1, 0], [$store->statistics()->items, $store->statistics()->details['tags']]);
        $database = new \SQLite3("{$this->scratch?->path}/cache.db");
        self::assertSame(1, $database->querySingle('SELECT count(*) FROM "items:larder"'));
        self::assertLessThanOrEqual(3, $rounds);
        $store->invalidateTags(['all']);
        self::assertSame([], [...$store->keys()]);
    }

    public function testWhatIsDeadGoesWhileOthersAreSaved(): void
    {
        $store = $this->store();
        $store->save(array_map(static fn(int $i): Item => new Item("dead {$i}", 'x', 10), range(1, 1_000)));
        $token = $store->fetch(['deleted'])->tokens['deleted'];
        $store->delete(['deleted']);
        $this->now += 20;
        mt_srand(1);
        for ($i = 0; $i < 4_000; $i++) {
            $store->save([new Item('key ' . $i % 10, $i)]);
        }
        self::assertLessThan(500, $store->statistics()->items);
        self::assertCount(10, [...$store->keys()]);
        self::assertSame(['deleted'], $store->save([new Item('deleted', 'late', token: $token, fill: true)]));
    }

    public function testAFullDatabaseThatDoesNotEvictRefusesAndKeepsWhatItHas(): void
    {
        $store = new SqliteStore("{$this->scratch?->path}/cache.db", size: self::SIZE, evict: false);
        $cache = new Cache($store);
        for ($saved = 0; $cache->set("key {$saved}", random_bytes(10_000)); $saved++) {
            self::assertLessThan(1_000, $saved, 'The database does not fill up.');
        }
        self::assertGreaterThan(100, $saved);
        self::assertCount($saved, [...$store->keys()]);
        $late = $store->token('key 1');
        self::assertFalse($cache->set('key 1', random_bytes(100_000)));
        self::assertFalse($cache->has('key 1'));
        self::assertSame(['key 1'], $store->save([new Item('key 1', 'late', token: $late, fill: true)]));
        self::assertTrue($cache->delete('key 0'));
        self::assertSame(0, $cache->health()->failures);
        self::assertContains(Capability::Retention, $store->capabilities());
        self::assertNotContains(Capability::Retention, $this->store()->capabilities());
    }

    public function testCountersThatEndRefuseNothingThatIsComputedMeanwhile(): void
    {
        $store = $this->store();
        for ($i = 0; $i < 50; $i++) {
            $store->increment("rate {$i}", 1, 0, 10);
        }
        $store->save([new Item('killed', 'x', 1_000, ['tag'])]);
        // As one save in 61 does: the next tidying begins behind the last item.
        $store->tidy();
        $store->invalidateTags(['tag']);
        $this->now += 9;
        $tokens = $store->fetch(['page', 'rate 7'])->tokens;
        for ($i = 0; $i < 50; $i++) {
            self::assertSame(2, $store->increment("rate {$i}"));
        }
        $this->now += 2;
        $schema = new Schema('larder');
        $database = new Database("{$this->scratch?->path}/cache.db", 1.0, null, $schema->statements(...), $schema->floors(...));
        $clock = fn(): int => $this->now;
        $sweep = new Sweep($database, $schema, new Rows($database, $schema, $clock), $clock);
        $sweep->removeDead();
        self::assertSame(0, $store->statistics()->items, 'What is dead takes no room.');
        self::assertSame(['rate 7'], $store->save([new Item('rate 7', 1, token: $store->token('rate 7'), fill: true), new Item('page', 'x', token: $tokens['page'], fill: true), new Item('rate 7', 1, token: $tokens['page'], fill: true)]));
        $this->now += 100;
        $sweep->removeDead();
        $sweep->removeDead();
        self::assertSame([['page'], ['rate 7']], $database->rows('SELECT key FROM "items:larder" ORDER BY key'));
    }

    public function testAProcessThatFoundNoClockLeavesWhatCameAfterANewOne(): void
    {
        $store = new SqliteStore("{$this->scratch?->path}/cache.db");
        $store->save([new Item('key', 1, 1_000, ['tag'])]);
        self::assertTrue($store->acquire('name', 'owner', 60.0));
        $store->delete(['deleted'], $before = $store->token('deleted'));
        $schema = new Schema('larder');
        $database = new Database("{$this->scratch?->path}/cache.db", 1.0, null, $schema->statements(...), $schema->floors(...));

        (new Rows($database, $schema, time(...)))->restart();

        self::assertArrayHasKey('key', $store->fetch(['key'])->items);
        self::assertFalse($store->acquire('name', 'another', 60.0));
        self::assertSame(['deleted'], $store->save([new Item('deleted', 'old', token: $before, fill: true)]));
    }

    public function testOtherProcessesSeeAllTablesOrNone(): void
    {
        $path = "{$this->scratch?->path}/cache.db";
        $schema = new Schema('larder');
        $database = new Database($path, 1.0, null, static fn(): array => [...$schema->statements(), 'CREATE TABLE other (failing'], static fn(): array => []);
        try {
            $database->attempt(static fn(): array => $database->rows("SELECT 1 FROM {$schema->items}"));
            self::fail('The last statement is none.');
        } catch (StoreUnavailable) {
            self::assertSame(0, (new \SQLite3($path))->querySingle('SELECT count(*) FROM sqlite_master'));
        }
        self::assertSame([], (new SqliteStore($path))->save([new Item('key', 1)]));
    }

    public function testALogThatAReaderHasMadeLongIsCutOff(): void
    {
        $store = $this->store();
        $store->save([new Item('key', 1)]);
        $length = function (): int {
            clearstatcache();

            return (int) filesize("{$this->scratch?->path}/cache.db-wal");
        };
        $reader = new \SQLite3("{$this->scratch?->path}/cache.db");
        $reader->exec('BEGIN');
        $reader->querySingle('SELECT count(*) FROM "items:larder"');
        for ($i = 0; $i < 100; $i++) {
            $store->save([new Item("key {$i}", random_bytes(10_000))]);
        }
        self::assertGreaterThan(self::SIZE >> 2, $length());
        $reader->exec('COMMIT');
        // A write looks now and then.
        for ($i = 0; $i < 2_000 && $length() > self::SIZE >> 3; $i++) {
            $store->save([new Item('small', $i)]);
        }
        self::assertLessThanOrEqual(self::SIZE >> 3, $length());
        self::assertCount(1, $store->fetch(['key 99'])->items);
    }

    public function testTagsThatAreForgottenKillWhatIsOlder(): void
    {
        $store = $this->store();
        $store->save([new Item('old', 'x', tags: ['t'])]);
        $store->invalidateTags(['a']);
        $store->save([new Item('new', 'x', tags: ['t'])]);
        $store->invalidateTags(['b', 'c']);
        $schema = new Schema('larder');
        $database = new Database("{$this->scratch?->path}/cache.db", 1.0, null, $schema->statements(...), $schema->floors(...));
        $sweep = new Sweep($database, $schema, new Rows($database, $schema, time(...)), time(...));
        $sweep->forgetTags(3);
        self::assertSame(3, $store->statistics()->details['tags']);
        $store->invalidateTags(['d']);
        $sweep->forgetTags(3);
        self::assertSame(3, $store->statistics()->details['tags']);
        self::assertSame(['new'], array_keys($store->fetch(['old', 'new'])->items));
        $sweep->forgetTags(2);
        self::assertSame(1, $store->statistics()->details['tags']);
        self::assertSame([], $store->fetch(['old', 'new'])->items);
        $store->save([new Item('newest', 'x', tags: ['t', 'a', 'b'])]);
        self::assertCount(1, $store->fetch(['newest'])->items);
    }

    public function testWhatOthersThrowMeanwhileStaysTheirsAndChangesNothing(): void
    {
        $schema = new Schema('larder');
        $database = new Database("{$this->scratch?->path}/cache.db", 1.0, null, static fn(): array => [...$schema->statements(), 'CREATE TABLE IF NOT EXISTS own (number INTEGER)'], $schema->floors(...));
        self::assertSame(1, $database->atomically(static fn(): int => $database->change('INSERT INTO own VALUES (1)')));
        foreach ([new \Exception('no such table'), new \RuntimeException('SIGTERM'), new \ErrorException('a warning'), new \Error('a mistake')] as $theirs) {
            $work = static function () use ($database, $theirs): void {
                $database->change('INSERT INTO own VALUES (2)');

                throw $theirs;
            };
            $mistake = static function () use ($theirs): void {
                throw $theirs;
            };
            foreach ([[$database->atomically(...), $work], [$database->atomicallyAtOnce(...), $work], [$database->attempt(...), $mistake]] as [$do, $what]) {
                try {
                    $do($what);
                    self::fail('It was thrown.');
                } catch (\Throwable $caught) {
                    self::assertSame($theirs, $caught);
                }
            }
            self::assertSame([[1]], $database->attempt(static fn(): array => $database->rows('SELECT number FROM own')));
        }

        foreach (['SELECT nothing FROM own', 'no SQL at all', 'SELECT abs(-9223372036854775808)'] as $sql) {
            try {
                $database->attempt(static fn(): array => $database->rows($sql));
                self::fail('It failed.');
            } catch (StoreUnavailable $failure) {
                self::assertStringStartsWith('The SQLite database', $failure->getMessage());
            }
        }
    }

    public function testAFullDatabaseOfAnEarlierVersionGetsWhatKeepsItsFloors(): void
    {
        for ($i = 0; $i < 200; $i++) {
            $this->store()->save([new Item("key {$i}", random_bytes(10_000))]);
        }
        $database = new \SQLite3("{$this->scratch?->path}/cache.db");
        $database->exec('DROP TRIGGER "removed:larder"; DROP TRIGGER "forgotten:larder"');
        $store = $this->store();
        $token = $store->fetch(['deleted'])->tokens['deleted'];
        $store->save([new Item('tagged', 'old', tags: ['tag'])]);
        $store->invalidateTags(['tag']);
        $store->delete(['deleted']);
        $database->exec('DELETE FROM "tags:larder"; DELETE FROM "items:larder" WHERE value IS NULL');
        self::assertSame(['deleted'], $store->save([new Item('deleted', 'late', token: $token, fill: true)]));
        self::assertSame([], $store->fetch(['tagged'])->items);
    }

    /** Those whose mark lies apart, and those that are just not as long. */
    public function testAReadOfOneKeyAnswersWhateverItsRowIsAsAFetchDoes(): void
    {
        $path = "{$this->scratch?->path}/cache.db";
        $store = $this->store();
        $values = ['counter' => 7, 'text' => 'x', 'null' => null, 'list' => [1], 'large' => str_repeat('S', 200_000), 'sealed' => [Reads::SEAL, 1]];
        foreach ($values as $key => $value) {
            $store->save([new Item($key, $value, 1_000), new Item("tagged {$key}", $value, 1_000, ['alive'])]);
        }
        $store->save([new Item('expired', 'x', 1), new Item('killed', 'x', 1_000, ['dead']), new Item('served', 'x', 1_000, ['alive', 'stale']), new Item('noted', 'x', 1_000), new Item('foreign', 'x', 1_000)]);
        $store->delete(['deleted']);
        $this->now += 10;
        (new \SQLite3($path))->exec("UPDATE \"items:larder\" SET value = x'3f3f' WHERE key = CAST('foreign' AS BLOB)");
        $others = ['expired', 'killed', 'served', 'noted', 'foreign', 'deleted', 'absent'];
        foreach (['nothing', 'invalidations', 'a notice'] as $what) {
            if ($what === 'invalidations') {
                $this->store()->invalidateTags(['dead']);
                $this->store()->invalidateTags(['stale'], 1_000);
            } elseif ($what === 'a notice') {
                (new Notices($path, 'larder'))->give($store->token('any')->epoch, Reach::Keys, ['noted']);
            }
            $live = 0;
            foreach ([...array_keys($values), ...array_map(static fn(string $key): string => "tagged {$key}", array_keys($values)), ...$others] as $key) {
                $fetched = null;
                $value = $store->read($key, 'default', $fetched);
                $fetch = $store->fetch([$key]);
                $live += \count($fetch->items);
                self::assertSame(isset($fetch->items[$key]) ? $fetch->items[$key]->value : 'default', $value, "{$key} after {$what}");
                if ($fetch->items === [] || $fetched !== null) {
                    self::assertEquals($fetch, $fetched, "{$key} after {$what}");
                }
            }
            self::assertSame(['nothing' => 15, 'invalidations' => 13, 'a notice' => 12][$what], $live, $what);
        }
    }

    public function testAReadMakesAClockAnewThatWasRemoved(): void
    {
        $path = "{$this->scratch?->path}/cache.db";
        $store = $this->store();
        $store->save([new Item('key', 'old')]);
        (new \SQLite3($path))->exec('DELETE FROM "clock:larder"');

        self::assertSame('default', $store->read('key', 'default', $fetched));
        self::assertInstanceOf(Fetched::class, $fetched);
        self::assertSame([], $store->save([new Item('key', 'new', token: $fetched->tokens['key'], fill: true)]));
        self::assertSame('new', $store->read('key'));
    }

    public function testALargeValueOfEachKindComesBackAndAForeignOneIsAMiss(): void
    {
        $store = $this->store();
        $values = ['array' => range(0, 30_000), 'empty' => ''];
        foreach ([131_070, 131_071, 131_072, 200_000] as $length) {
            $values["string {$length}"] = random_bytes($length);
        }
        foreach ($values as $key => $value) {
            self::assertSame([], $store->save([new Item($key, $value, 100, ['tag'])]));
            self::assertSame($value, $store->fetch([$key])->items[$key]->value ?? null, $key);
            self::assertSame(['tag'], $store->fetch([$key])->items[$key]->tags ?? null, $key);
        }
        $database = new \SQLite3("{$this->scratch?->path}/cache.db");
        foreach (["x'58' || zeroblob(200000)", "zeroblob(200000)", "hex(zeroblob(200000))", "CAST('I' || hex(zeroblob(200000)) AS BLOB)"] as $foreign) {
            $database->exec("UPDATE \"items:larder\" SET value = {$foreign} WHERE key = CAST('array' AS BLOB)");
            self::assertSame([], $store->fetch(['array'])->items, $foreign);
            self::assertSame([], $store->save([new Item('array', 'new', token: $store->fetch(['array'])->tokens['array'], fill: true)]), $foreign);
        }
        $database->exec("UPDATE \"items:larder\" SET tags = NULL, value = CAST('S' || hex(zeroblob(100000)) AS BLOB) WHERE key = CAST('array' AS BLOB)");
        self::assertSame(str_repeat('0', 200_000), (new Cache($this->store()))->get('array'), 'as an earlier version stored it');
        $database->close();
    }

    public function testALargeValueIsSelectedOnce(): void
    {
        $store = $this->store();
        $schema = new Schema('larder');
        $rows = new Rows(new Database("{$this->scratch?->path}/cache.db", 1.0, null, $schema->statements(...), $schema->floors(...)), $schema, fn(): int => $this->now);
        foreach ([['tag'], []] as $tags) {
            $store->save([new Item('key', str_repeat('x', 200_000), 100, $tags)]);
            $row = $rows->plain('key');
            self::assertSame(['S', 200_000], [$row[4] ?? null, \strlen((string) ($row[0] ?? ''))]);
            self::assertSame($tags, Tags::unpack($row[3] ?? ''));
            self::assertSame(str_repeat('x', 200_000), $store->read('key'));
        }
    }

    private function store(): SqliteStore
    {
        return new SqliteStore("{$this->scratch?->path}/cache.db", size: self::SIZE, clock: fn(): int => $this->now);
    }
}
