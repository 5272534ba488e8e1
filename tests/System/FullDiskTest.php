<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Cache\Journal;
use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Lease\AddedLeases;
use Larder\Remember\Remembering;
use Larder\Remember\StampedeOptions;
use Larder\Store\File\Lock;
use Larder\Store\File\Usage;
use Larder\Store\FileStore;
use Larder\Store\PhpFileStore;
use Larder\Store\SqliteStore;
use Larder\Stores;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/**
 * A process that may not write files is refused as by a full disk: with another error, but at the same places. Where the
 * error matters, the disk is one.
 */
#[CoversClass(AddedLeases::class)]
#[CoversClass(Journal::class)]
#[CoversClass(Remembering::class)]
#[CoversClass(Lock::class)]
#[CoversClass(Usage::class)]
#[CoversClass(SqliteStore::class)]
#[CoversClass(FileStore::class)]
#[CoversClass(PhpFileStore::class)]
final class FullDiskTest extends TestCase
{
    /** @return iterable<string, array{string}> */
    public static function stores(): iterable
    {
        yield 'SQLite' => ['sqlite:DIRECTORY/cache.db'];
        yield 'two tiers' => ['array: > sqlite:DIRECTORY/cache.db'];
        yield 'three tiers' => ['array: > apcu:?prefix=full-disk > sqlite:DIRECTORY/cache.db'];
        yield 'files' => ['file:DIRECTORY/cache'];
        yield 'files within bounds' => ['file:DIRECTORY/cache?size=8M'];
        yield 'PHP files' => ['php:DIRECTORY/cache'];
    }

    #[DataProvider('stores')]
    public function testAFullDiskIsMissesAndFalseAndNeverANotice(string $dsn): void
    {
        $scratch = new Scratch();
        $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $scratch->path, $dsn), logger: new MemoryLogger(), journal: "{$scratch->path}/journal");
        $open()->set('there', 1);
        $report = $this->onAFullDisk(static function () use ($open): array {
            $cache = $open();
            $wrong = [];
            for ($i = 0; $i < 50; $i++) {
                if ($cache->get("missing {$i}") !== null || $cache->set("new {$i}", 1)) {
                    $wrong[] = $i;
                }
            }
            $cache->increment('counter');
            $cache->touch('there', 10);
            $cache->invalidateTags(['tag']);
            $cache->clear();

            return $wrong;
        });
        self::assertSame([], $report);
    }

    /** @return iterable<string, array{string, bool}> */
    public static function fullStores(): iterable
    {
        foreach (self::stores() as $name => [$dsn]) {
            yield "{$name}, on a full disk" => [$dsn, true];
        }
        yield 'SQLite that is full' => ['sqlite:DIRECTORY/cache.db?size=1M&evict=no', false];
        yield 'files that are full' => ['file:DIRECTORY/cache?size=1M&evict=no', false];
        yield 'PHP files that are full' => ['php:DIRECTORY/cache?size=1M&evict=no', false];
    }

    #[DataProvider('fullStores')]
    public function testWhereNothingCanBeStoredNoProcessWaitsForAnothersComputation(string $dsn, bool $fillsDisk): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory) use ($dsn, $fillsDisk): array {
            $logger = new MemoryLogger();
            $now = microtime(true);
            $cache = new Cache(Stores::open(str_replace('DIRECTORY', $directory, $dsn)), logger: $logger, clock: static fn(): float => $now);
            $cache->set('there', 1);
            self::fill($fillsDisk ? $directory : $cache);
            $computed = 0;
            $deadline = hrtime(true) + 100_000_000_000;
            for ($i = 0; $i < 100 && hrtime(true) < $deadline; $i++) {
                $cache->remember("computed {$i}", static function () use (&$computed): string {
                    return random_bytes(5_000) . ++$computed;
                }, stampede: new StampedeOptions(lease: 100.0));
                $cache->get('there');
            }

            return [$computed, $cache->getMany(['computed 0', 'computed 99']), \count($logger->lines) <= 2 ? 'It was logged once.' : $logger->lines];
        }, $fillsDisk ? 3 : 30);
        self::assertSame([100, [], 'It was logged once.'], $report);
    }

    #[DataProvider('fullStores')]
    public function testWhatIsInvalidatedWhereNothingCanBeStoredIsGone(string $dsn, bool $fillsDisk): void
    {
        self::assertSame([true, ['plain' => 1], 1, false, true, []], $this->forgetWhereNothingFits($dsn, $fillsDisk));
    }

    /** @return iterable<string, array{string}> */
    public static function databases(): iterable
    {
        yield 'SQLite' => ['sqlite:DIRECTORY/cache.db'];
        yield 'two tiers' => ['array: > sqlite:DIRECTORY/cache.db'];
        yield 'three tiers' => ['array: > apcu:?prefix=full-disk > sqlite:DIRECTORY/cache.db'];
    }

    /** What is written into a database goes into its log first, which takes room. */
    #[DataProvider('databases')]
    public function testWhatIsDeletedWhereTheLogOfADatabaseHasNoRoomIsGoneAndTheRestStays(string $dsn): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory) use ($dsn): array {
            $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $directory, $dsn));
            [$cache, $other, $late] = [$open(), $open(), $open()];
            $keys = ['overwritten', 'deleted', 'other', 'another', '1', 'missing'];
            $late->getMany(['missing', 'late']);
            $cache->setMany(array_fill_keys(\array_slice($keys, 0, -1), 1));
            $other->getMany($keys);
            self::fill($directory);
            $report = [
                $cache->delete('deleted'),
                $cache->deleteMany(['1', 'missing']),
                $cache->set('overwritten', 2),
                $cache->health()->isFlagged(),
                $cache->getMany($keys),
                $cache->health()->isFlagged(),
                $open()->getMany($keys),
            ];
            $other->refresh();
            $report[] = $other->getMany($keys);
            $cache->refresh();
            array_map(unlink(...), glob("{$directory}/filler-*") ?: []);
            $report[] = [$open()->getMany($keys), $late->set('missing', 'older'), $cache->set('deleted', 3), $cache->set('1', 4)];
            $other->refresh();
            array_push($report, $other->getMany($keys), $open()->getMany($keys), glob("{$directory}/cache.db-dead-*") === [] ? 'There was no notice.' : 'There was a notice.');

            return $report;
        });
        $left = ['other' => 1, 'another' => 1];
        $last = ['deleted' => 3, 'other' => 1, 'another' => 1, '1' => 4];
        self::assertSame([true, true, false, true, $left, false, $left, $left, [$left, false, true, true], $last, $last, 'There was a notice.'], $report);
    }

    /** @return iterable<string, array{string, bool, list<string>}> what is left of an item with a tag and one without */
    public static function invalidations(): iterable
    {
        foreach (self::databases() as $name => [$dsn]) {
            yield "a tag in {$name}" => [$dsn, false, ['plain']];
            yield "a clear of {$name}" => [$dsn, true, []];
        }
    }

    /** @param list<string> $left */
    #[DataProvider('invalidations')]
    public function testWhatIsInvalidatedOnAFullDiskStaysDeadWhenItHasRoomAgain(string $dsn, bool $clears, array $left): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory) use ($dsn, $clears): array {
            $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $directory, $dsn));
            [$cache, $other, $sleeper, $late] = [$open(), $open(), $open(), $open()];
            $late->get('filled');
            $cache->set('tagged', 1, tags: ['tag', 'another']);
            $cache->set('plain', 1);
            // Near stores have them, too.
            $other->getMany(['tagged', 'plain']);
            $sleeper->getMany(['tagged', 'plain']);
            self::fill($directory);
            $done = $clears ? $cache->clear() : $cache->invalidateTags(['tag']);
            $other->refresh();
            $full = array_keys($other->getMany(['tagged', 'plain']));
            array_map(unlink(...), glob("{$directory}/filler-*") ?: []);
            $refused = $late->set('filled', 'late', tags: ['tag']);
            $stored = [$cache->set('new', 1, tags: ['tag']), $cache->set('newer', 1), $cache->increment('count'), $cache->increment('count')];
            $other->refresh();
            $sleeper->refresh();

            return [
                $done,
                $full,
                $refused,
                $stored,
                array_keys($other->getMany(['tagged', 'plain', 'new', 'newer', 'filled'])),
                array_keys($sleeper->getMany(['tagged', 'plain', 'new', 'newer', 'filled'])),
                array_keys($open()->getMany(['tagged', 'plain', 'new', 'newer', 'filled'])),
            ];
        });
        self::assertSame([true, $left, false, [true, true, 1, 2], [...$left, 'new', 'newer'], [...$left, 'new', 'newer'], [...$left, 'new', 'newer']], $report);
    }

    /** @return iterable<string, array{string, bool, bool, list<string>}> whether a stranger had the database open last */
    public static function closings(): iterable
    {
        foreach (self::invalidations() as $name => [$dsn, $clears, $left]) {
            yield "{$name}, after a long log" => [$dsn, $clears, false, $left];
            yield "{$name}, without log and shared memory" => [$dsn, $clears, true, $left];
        }
    }

    /** @param list<string> $left */
    #[DataProvider('closings')]
    public function testADatabaseThatIsNotOpenOnAFullDiskForgetsToo(string $dsn, bool $clears, bool $isByStranger, array $left): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory) use ($dsn, $clears, $isByStranger): array {
            $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $directory, $dsn));
            $cache = $open();
            for ($i = 0; $i < 100; $i++) {
                $cache->set("filler {$i}", str_repeat('x', 6_000));
            }
            $cache->set('tagged', 1, tags: ['tag']);
            $cache->set('plain', 1);
            unset($cache);
            if ($isByStranger) {
                $stranger = new \SQLite3("{$directory}/cache.db");
                $stranger->exec('PRAGMA wal_checkpoint(TRUNCATE)');
                $stranger->close();
            }
            $isThere = [file_exists("{$directory}/cache.db-wal"), file_exists("{$directory}/cache.db-shm")];
            self::fill($directory);
            $before = $isByStranger ? [] : array_keys($open()->getMany(['tagged', 'plain']));
            $cache = $open();
            $done = $clears ? $cache->clear() : $cache->invalidateTags(['tag']);
            $owes = $cache->health()->isFlagged();
            $full = $isByStranger ? [] : array_keys($open()->getMany(['tagged', 'plain']));
            unset($cache);
            array_map(unlink(...), glob("{$directory}/filler-*") ?: []);
            $reader = $open();

            return [$isThere, $before, $done, $owes, $full, array_keys($reader->getMany(['tagged', 'plain'])), $reader->set('new', 1, tags: ['tag']), array_keys($open()->getMany(['tagged', 'plain', 'new']))];
        }, 6);
        self::assertSame(
            [[!$isByStranger, !$isByStranger], $isByStranger ? [] : ['tagged', 'plain'], true, false, $isByStranger ? [] : $left, $left, true, [...$left, 'new']],
            $report,
        );
    }

    /** @return iterable<string, array{string, \Closure(Cache): bool, list<string>, \Closure(Cache): mixed}> what is forgotten, what is left, and a write */
    public static function writesAfterNotices(): iterable
    {
        $forgotten = [
            'a tag' => [static fn(Cache $cache): bool => $cache->invalidateTags(['tag']), ['plain']],
            'a key' => [static fn(Cache $cache): bool => $cache->delete('tagged'), ['plain']],
            'a clear' => [static fn(Cache $cache): bool => $cache->clear(), []],
        ];
        $writes = [
            'a set' => static fn(Cache $cache): mixed => $cache->set('own', 2),
            'an increment' => static fn(Cache $cache): mixed => $cache->increment('count'),
            'a delete' => static fn(Cache $cache): mixed => $cache->delete('own'),
        ];
        foreach (['SQLite' => '', 'two tiers' => 'array: > ', 'three tiers' => 'array: > apcu:?prefix=full-disk > '] as $name => $near) {
            foreach ($forgotten as $what => [$forget, $left]) {
                foreach ($writes as $how => $write) {
                    yield "{$what} in {$name}, and {$how}" => ["{$near}sqlite:DIRECTORY/cache.db", $forget, $left, $write];
                }
            }
        }
    }

    /**
     * A tier follows what it wrote itself without asking the log, in which there is no event for a notice.
     *
     * @param \Closure(Cache): bool  $forget
     * @param list<string>           $left
     * @param \Closure(Cache): mixed $write
     */
    #[DataProvider('writesAfterNotices')]
    public function testAProcessThatWritesFirstOnceThereIsRoomSeesWhatWasForgottenBefore(string $dsn, \Closure $forget, array $left, \Closure $write): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory) use ($dsn, $forget, $write): array {
            $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $directory, $dsn));
            [$cache, $writer] = [$open(), $open()];
            $cache->setMany(['own' => 1, 'plain' => 1]);
            $cache->set('tagged', 1, tags: ['tag']);
            $writer->getMany(['tagged', 'plain', 'own']);
            self::fill($directory);
            $done = $forget($cache);
            array_map(unlink(...), glob("{$directory}/filler-*") ?: []);

            return [$done, (bool) $write($writer), array_keys($writer->getMany(['tagged', 'plain']))];
        });
        self::assertSame([true, true, $left], $report);
    }

    /** @return iterable<string, array{string, bool}> */
    public static function pools(): iterable
    {
        yield 'no room' => ['shm:test-full', false];
        yield 'too little room' => ['shm:test-full?size=64M', false];
        yield 'a file system that nothing may be written to' => ['shm:test-full', true];
        yield 'no room, in front of a database' => ['shm: > sqlite:DIRECTORY/cache.db', false];
    }

    #[DataProvider('pools')]
    public function testAPoolForWhichThereIsNoMemoryIsMissesUntilThereIsSome(string $dsn, bool $readOnly): void
    {
        $scratch = new Scratch();
        $dsn = str_replace('DIRECTORY', $scratch->path, $dsn);
        $found = $this->onADiskOfItsOwn(static function (string $disk) use ($dsn, $readOnly): array {
            self::moveSharedMemoryTo($disk);
            exec('mount -o remount,' . ($readOnly ? 'ro' : 'size=1m') . ' /dev/shm');
            $cache = Cache::open($dsn, logger: $logger = new MemoryLogger());
            $answers = [$cache->get('key', 'default'), $cache->set('key', 'value'), $cache->get('key'), $cache->remember('r', static fn(): int => 7), $cache->delete('key')];
            exec('mount -o remount,rw,size=128m /dev/shm');
            // It is tried again after a second.
            usleep(1_100_000);
            $cache->refresh();
            array_push($answers, $cache->set('key', 'new'), $cache->get('key'), Cache::open($dsn)->get('key'));

            return [$answers, array_map(static fn(array $context): string => ($context['exception'] ?? null) instanceof \Throwable ? $context['exception']->getMessage() : '', $logger->contexts)];
        });
        self::assertIsArray($found);
        $isTier = str_contains($dsn, 'sqlite:');
        self::assertSame($isTier ? ['default', true, 'value', 7, true, true, 'new', 'new'] : ['default', false, null, 7, false, true, 'new', 'new'], $found[0]);
        if (!$isTier) {
            self::assertMatchesRegularExpression($readOnly ? '/Read-only file system/' : '/ bytes free/', (string) json_encode($found[1]));
        }
    }

    public function testAStrictCacheWhosePoolHasNoMemorySaysSo(): void
    {
        $found = $this->onADiskOfItsOwn(static function (string $disk): array {
            self::moveSharedMemoryTo($disk);
            exec('mount -o remount,size=1m /dev/shm');
            try {
                Cache::open('shm:test-full', strict: true)->get('key');
            } catch (StoreUnavailable $failure) {
                return [$failure->getMessage()];
            }

            return [];
        });
        self::assertIsArray($found);
        self::assertIsString($found[0] ?? null);
        self::assertStringContainsString('1048576 bytes free, of which a pool takes three quarters at most, and 4194304 are the least', $found[0]);
    }

    public function testAPoolThatIsMadeWithoutEvictionIsAMistakeAsBefore(): void
    {
        $found = $this->onADiskOfItsOwn(static function (string $disk): array {
            self::moveSharedMemoryTo($disk);
            exec('mount -o remount,size=64m /dev/shm');
            Cache::open('shm:test-full?evict=no')->set('a', 1);
            try {
                Cache::open('shm:test-full');
            } catch (PoolUnusable $failure) {
                return [$failure->getMessage()];
            }

            return ['It was opened.'];
        });
        self::assertStringContainsString('was made without eviction', (string) json_encode($found));
    }

    public function testLocksHaveTheirRoomFromTheBeginning(): void
    {
        $found = $this->onADiskOfItsOwn(static function (string $disk): array {
            self::moveSharedMemoryTo($disk);
            exec('mount -o remount,size=32m /dev/shm');
            $cache = Cache::open('shm:test-full?evict=no&size=16M', strict: true);
            self::fill('/dev/shm');

            return [$cache->set('key', 'value'), $cache->lock('lock')->acquire(), Cache::open('shm:test-full?evict=no')->lock('lock')->acquire()];
        });
        self::assertSame([true, true, false], $found);
    }

    private static function moveSharedMemoryTo(string $disk): void
    {
        exec('mount --bind ' . escapeshellarg($disk) . ' /dev/shm && chmod 1777 /dev/shm');
    }

    public function testAClearOnAFullDiskEndsNoLease(): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory): array {
            $store = new SqliteStore("{$directory}/cache.db");
            $store->save([new Item('key', 1)]);
            $store->acquire('lease', 'owner', 1_000.0);
            self::fill($directory);
            $store->clear();
            $full = $store->fence('lease', 'another');
            try {
                $own = $store->fence('lease', 'owner');
            } catch (StoreUnavailable $failure) {
                // Only its holder gets as far as to count.
                $own = $failure->takesNothing;
            }
            array_map(unlink(...), glob("{$directory}/filler-*") ?: []);

            return [$store->fetch(['key'])->items, $full, $own, $store->acquire('lease', 'another', 1.0), $store->save([new Item('key', 2)]), $store->acquire('lease', 'another', 1.0), $store->release('lease', 'owner')];
        });
        self::assertSame([[], null, true, false, [], false, true], $report);
    }

    public function testWhatOneCacheInvalidatesOnAFullDiskLivesInAnotherOfTheSameDatabase(): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory): array {
            [$cache, $other] = [Cache::open("sqlite:{$directory}/cache.db?prefix=a"), Cache::open("sqlite:{$directory}/cache.db?prefix=a-b")];
            $cache->set('key', 1);
            $other->set('key', 1);
            self::fill($directory);

            return [$cache->clear(), $cache->get('key'), $other->get('key')];
        });
        self::assertSame([true, null, 1], $report);
    }

    public function testNoCacheRemovesWhatAnotherOfTheSameDatabaseHasInvalidatedOnAFullDiskLongAgo(): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory): array {
            [$cache, $other] = [Cache::open("sqlite:{$directory}/cache.db?prefix=a"), Cache::open("sqlite:{$directory}/cache.db?prefix=a-b")];
            $cache->set('key', 1);
            $other->set('key', 1);
            self::fill($directory);
            $isCleared = $cache->clear() && $other->clear();
            foreach (glob("{$directory}/cache.db-dead-*") ?: [] as $notice) {
                touch($notice, time() - 100_000);
            }
            array_map(unlink(...), glob("{$directory}/filler-*") ?: []);

            return [$isCleared, $cache->set('new', 1), $other->get('key'), $other->set('new', 1), $cache->get('key')];
        });
        self::assertSame([true, true, null, true, null], $report);
    }

    public function testALeaseForWhoseEndADiskHasNoRoomIsNotEndedByANotice(): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory): array {
            $store = new SqliteStore("{$directory}/cache.db");
            $store->acquire('lease', 'owner', 1_000.0);
            self::fill($directory);
            $report = [];
            foreach ([fn(): bool => $store->release('lease', 'owner'), fn(): array => $store->delete([AddedLeases::prefix() . 'lease'])] as $end) {
                try {
                    $report[] = $end();
                } catch (StoreUnavailable $failure) {
                    $report[] = $failure->takesNothing ? 'takes nothing' : $failure->getMessage();
                }
            }
            array_map(unlink(...), glob("{$directory}/filler-*") ?: []);

            return [...$report, $store->acquire('lease', 'another', 1.0), $store->release('lease', 'owner'), $store->acquire('lease', 'another', 1.0)];
        });
        self::assertSame(['takes nothing', 'takes nothing', false, true, true], $report);
    }

    /** @return mixed whether an invalidation is done, what is left for others and for this process, whether it owes anything; the same of a clear */
    private function forgetWhereNothingFits(string $dsn, bool $fillsDisk): mixed
    {
        return $this->onADiskOfItsOwn(static function (string $directory) use ($dsn, $fillsDisk): array {
            $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $directory, $dsn));
            $cache = $open();
            $cache->set('tagged', 1, tags: ['tag']);
            $cache->set('plain', 1);
            self::fill($fillsDisk ? $directory : $cache);

            return [
                // Few may fit.
                $cache->invalidateTags(['tag', ...array_map(static fn(int $i): string => "tag {$i}", range(1, 1_000))]),
                $open()->getMany(['tagged', 'plain']),
                $cache->get('plain'),
                $cache->health()->isFlagged(),
                $cache->clear(),
                $open()->getMany(['tagged', 'plain']),
            ];
        }, $fillsDisk ? 3 : 30);
    }

    public function testOnAFullDiskTheLogOfADatabaseMakesRoomForAnInvalidation(): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory): array {
            $items = array_map(static fn(int $i): Item => new Item("key {$i}", str_repeat('x', 300), tags: ['tag']), range(1, 1_000));
            (new SqliteStore("{$directory}/cache.db"))->save($items);
            // The last connection is closed: what follows is in the log only, over pages that the database has.
            [$store, $keeper] = [new SqliteStore("{$directory}/cache.db"), new SqliteStore("{$directory}/cache.db")];
            $store->save($items);
            self::fill($directory);
            $there = \count($keeper->fetch(['key 1', 'key 100'])->items);
            $store->invalidateTags(['tag']);

            return [$there, $keeper->fetch(['key 1', 'key 100'])->items];
        });
        self::assertSame([2, []], $report);
    }

    public function testTheEndOfALeaseInAFullDatabaseOnAFullDiskIsNothingThatAnApplicationIsToldOf(): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory): array {
            $store = new SqliteStore("{$directory}/cache.db", size: 1 << 20, evict: false);
            // So many that what ends them is more than the log has had in it before, which is room that it has.
            $names = array_map(strval(...), range(1, 100));
            foreach ($names as $name) {
                $store->acquire($name, 'owner', 100.0);
            }
            self::fill(new Cache($store));
            // While a reader needs the log it cannot begin anew: the next pages want room on the disk.
            $reader = new \SQLite3("{$directory}/cache.db", SQLITE3_OPEN_READONLY);
            $reader->exec('BEGIN');
            $reader->querySingle('SELECT count(*) FROM sqlite_master');
            self::fill($directory);
            $others = [];
            foreach ($names as $name) {
                foreach ([$store->refresh(...), static fn(string $name): bool => $store->release($name, 'owner')] as $end) {
                    try {
                        $end($name, 'owner', 100.0);
                    } catch (StoreUnavailable $failure) {
                        $others[] = $failure->takesNothing ? 'takes nothing' : $failure->getMessage();
                    }
                }
            }

            return array_values(array_unique($others));
        });
        self::assertSame(['takes nothing'], $report);
    }

    public function testADatabaseSaysWhetherItsDiskIsFullOrMayNotBeWrittenTo(): void
    {
        $failure = static function (string $directory): array {
            try {
                $store = new SqliteStore("{$directory}/cache.db");
                for ($i = 0; $i < 1_000; $i++) {
                    $store->save([new Item("key {$i}", random_bytes(10_000))]);
                }
            } catch (StoreUnavailable $failure) {
                return [preg_replace('/^.*; /', '', $failure->getMessage()), $failure->takesNothing];
            }

            return ['It was stored.', false];
        };
        self::assertSame(['free some space on its disk.', true], $this->onADiskOfItsOwn($failure));
        $scratch = new Scratch();
        self::assertSame(['see that its disk works and that no quota is used up.', true], $this->inAChild(static function () use ($scratch, $failure): array {
            $keeper = new SqliteStore("{$scratch->path}/cache.db");
            $keeper->save([new Item('there', 1)]);
            pcntl_signal(\SIGXFSZ, \SIG_IGN);
            // The files may grow a little.
            posix_setrlimit(\POSIX_RLIMIT_FSIZE, 1 << 20, 1 << 20);

            return $failure($scratch->path);
        }));
    }

    /** What SQLite does not call a full disk: a quota that is used up, or files that may not grow. */
    public function testWhereADatabaseMayNotGrowNoProcessWaitsForAnothersComputation(): void
    {
        $scratch = new Scratch();
        $report = $this->inAChild(static function () use ($scratch): array {
            $open = static fn(): Cache => Cache::open("sqlite:{$scratch->path}/cache.db");
            // A process has it open, or none could read it either.
            $keeper = $open();
            $keeper->set('there', 1);
            pcntl_signal(\SIGXFSZ, \SIG_IGN);
            posix_setrlimit(\POSIX_RLIMIT_FSIZE, 0, 0);
            $begun = hrtime(true);
            $value = $open()->remember('missing', static fn(): string => 'computed', stampede: new StampedeOptions(lease: 100.0, missWait: 30.0));

            return [$value, $keeper->get('there'), hrtime(true) - $begun < 30_000_000_000 ? 'No process waited.' : 'It took too long.'];
        });
        self::assertSame(['computed', 1, 'No process waited.'], $report);
    }

    /** A disk that takes what is written and then fails says so when it is to be kept (fsync). */
    public function testADatabaseWhoseDiskKeepsNothingTakesNothing(): void
    {
        $scratch = new Scratch();
        $code = <<<'PHP'
            require $argv[1];
            try {
                (new Larder\Store\SqliteStore($argv[2]))->save([new Larder\Item('key', 1)]);
                echo 'It was stored.';
            } catch (Larder\Exception\StoreUnavailable $failure) {
                echo preg_replace('/^.*; /', '', $failure->getMessage()), ' ', json_encode($failure->takesNothing);
            }
            PHP;
        $process = new Process(['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO', \PHP_BINARY, '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', "{$scratch->path}/cache.db"], timeout: null);
        self::assertSame('see that its disk works and that no quota is used up. true', $process->mustRun()->getOutput());
    }

    #[DataProvider('stores')]
    public function testAComputationFromBeforeTheDiskWasFullIsWaitedFor(string $dsn): void
    {
        $report = $this->onADiskOfItsOwn(static function (string $directory) use ($dsn): array {
            $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $directory, $dsn));
            $cache = $open();
            $other = $open();
            $other->get('key');
            $waited = 0.0;
            $value = $cache->remember('key', static function () use ($directory, $other, &$waited): string {
                self::fill($directory);
                $begun = hrtime(true);
                $other->remember('key', static fn(): int => 1, stampede: new StampedeOptions(lease: 100.0, missWait: 0.3));
                $waited = (hrtime(true) - $begun) / 1e9;

                return 'value';
            });

            return [$value, $waited >= 0.3 ? 'It waited.' : $waited];
        });
        self::assertSame(['value', 'It waited.'], $report);
    }

    #[DataProvider('stores')]
    public function testWhatIsDeletedOnAFullDiskIsGoneOrMissedByTheProcessThatDeletedIt(string $dsn): void
    {
        $scratch = new Scratch();
        $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $scratch->path, $dsn), logger: new MemoryLogger());
        $open()->setMany(['a' => 1, 'b' => 1]);
        $report = $this->onAFullDisk(static function () use ($open): array {
            $cache = $open();
            $delivered = $cache->delete('a') && !$cache->set('b', 2);

            return [$delivered || $cache->health()->isFlagged(), $cache->get('a'), $cache->get('b')];
        });
        self::assertSame([true, null, null], $report);
    }

    public function testAFullDiskDoesNotKeepADirectoryFromForgettingNorLetWhatIsForgottenComeBack(): void
    {
        $scratch = new Scratch();
        $store = new FileStore("{$scratch->path}/cache");
        $store->save([new Item('deleted', 1), new Item('cleared', 1)]);
        $deleted = new Item('deleted', 'late', token: $store->token('deleted'), fill: true);
        $cleared = new Item('cleared', 'late', token: $store->token('cleared'), fill: true);
        self::assertSame([['deleted'], []], $this->onAFullDisk(static fn(): array => [$store->delete(['deleted']), $store->fetch(['deleted'])->items]));
        self::assertSame(['deleted'], $store->save([$deleted]));
        self::assertSame([], $this->onAFullDisk(static function () use ($store): array {
            $store->clear();

            return $store->fetch(['cleared'])->items;
        }));
        self::assertSame(['cleared'], $store->save([$cleared]));
        self::assertSame([], $store->fetch(['deleted', 'cleared'])->items);
    }

    /**
     * @param \Closure(): array<mixed> $work
     *
     * @return mixed what it returns; a string: what was thrown, or the notice that the application would have got
     */
    private function onAFullDisk(\Closure $work): mixed
    {
        return $this->inAChild(static function () use ($work): array {
            pcntl_signal(\SIGXFSZ, \SIG_IGN);
            posix_setrlimit(\POSIX_RLIMIT_FSIZE, 0, 0);

            return $work();
        });
    }

    /**
     * @param \Closure(string): array<mixed> $work is given the directory that is a file system
     * @param int                            $mebibytes that it holds
     *
     * @return mixed as onAFullDisk()
     */
    private function onADiskOfItsOwn(\Closure $work, int $mebibytes = 3): mixed
    {
        $scratch = new Scratch();

        return $this->inAChild(static function () use ($work, $scratch, $mebibytes): array {
            [$user, $group] = [posix_geteuid(), posix_getegid()];
            if (!pcntl_unshare($user === 0 ? \CLONE_NEWNS : \CLONE_NEWNS | \CLONE_NEWUSER)) {
                throw new \RuntimeException('The kernel allows no namespace of mounts: ' . pcntl_strerror(pcntl_get_last_error()));
            }
            if ($user !== 0) {
                file_put_contents('/proc/self/setgroups', 'deny');
                file_put_contents('/proc/self/uid_map', "{$user} {$user} 1");
                file_put_contents('/proc/self/gid_map', "{$group} {$group} 1");
            }
            // In a chroot, / is no mount that could be made private; the maker of that one has seen to it.
            exec("mount --make-rprivate / 2>/dev/null; mount -t tmpfs -o size={$mebibytes}m,mode=0700 none " . escapeshellarg($scratch->path) . ' 2>&1', $said, $status);

            return $status === 0 ? $work($scratch->path) : $said;
        });
    }

    /** @param string|Cache $what a directory, whose disk is filled, or a cache that does not evict */
    private static function fill(string|Cache $what): void
    {
        foreach ([100_000, 5_000, 1_000, 1] as $bytes) {
            // One may need a page more than another, where it happens to belong in the tree of a database.
            for ($refused = 0; $refused < 20;) {
                $name = bin2hex(random_bytes(8));
                $fits = $what instanceof Cache
                    ? $what->add($name, random_bytes($bytes))
                    : @file_put_contents("{$what}/filler-{$name}", str_repeat('f', $bytes)) === $bytes;
                $refused = $fits ? 0 : $refused + 1;
            }
        }
    }

    /** @param \Closure(): array<mixed> $work */
    private function inAChild(\Closure $work): mixed
    {
        $ends = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0);
        self::assertIsArray($ends);
        $child = pcntl_fork();
        if ($child === 0) {
            error_reporting(\E_ALL);
            set_error_handler(static function (int $level, string $message): bool {
                // What is silenced comes here, too.
                return (error_reporting() & $level) === 0 ? true : throw new \ErrorException($message);
            });
            try {
                $report = $work();
            } catch (\Throwable $failure) {
                $report = (string) $failure;
            }
            fwrite($ends[1], serialize($report));
            posix_kill((int) getmypid(), \SIGKILL);
        }
        fclose($ends[1]);
        $report = unserialize((string) stream_get_contents($ends[0]));
        pcntl_waitpid($child, $status);

        return $report;
    }
}
