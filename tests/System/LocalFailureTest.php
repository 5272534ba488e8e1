<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store\FileStore;
use Larder\Store\PhpFileStore;
use Larder\Store\SqliteStore;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What becomes of a cache whose file is damaged, locked, forged, or in a place that is not writable. */
#[CoversClass(SqliteStore::class)]
#[CoversClass(FileStore::class)]
#[CoversClass(PhpFileStore::class)]
final class LocalFailureTest extends TestCase
{
    /** @return iterable<string, array{string}> */
    public static function stores(): iterable
    {
        yield 'SQLite' => ['sqlite:DIRECTORY/cache.db'];
        yield 'files' => ['file:DIRECTORY/cache'];
        yield 'PHP files' => ['php:DIRECTORY/cache'];
        yield 'two tiers' => ['array: > sqlite:DIRECTORY/cache.db'];
        yield 'three tiers' => ['array: > apcu:?prefix=NAME > sqlite:DIRECTORY/cache.db'];
    }

    /** @return iterable<string, array{string}> those in a database */
    public static function databases(): iterable
    {
        foreach (self::stores() as $name => [$dsn]) {
            if (str_contains($dsn, 'sqlite')) {
                yield $name => [$dsn];
            }
        }
    }

    private static function dsn(string $dsn, string $directory): string
    {
        return str_replace(['DIRECTORY', 'NAME'], [$directory, 'test-' . hash('xxh3', $directory)], $dsn);
    }

    #[DataProvider('stores')]
    public function testAReadOnlyDirectoryIsAMissAndFalseAndLogged(string $dsn): void
    {
        $scratch = new Scratch();
        $report = Nobody::does($scratch, static function (string $directory) use ($dsn): array {
            $logger = new MemoryLogger();
            $cache = Cache::open(self::dsn($dsn, $directory), logger: $logger);

            return [$cache->set('key', 1), $cache->get('key', 'default'), $cache->increment('n'), $cache->has('key'), \count($logger->lines) > 0];
        }, 0o555);
        self::assertSame([false, 'default', false, false, true], $report);
    }

    #[DataProvider('stores')]
    public function testADirectoryThatBecomesWritableIsUsed(string $dsn): void
    {
        $scratch = new Scratch();
        $report = Nobody::does($scratch, static function (string $directory) use ($dsn): array {
            $cache = Cache::open(self::dsn($dsn, $directory));
            $before = $cache->set('key', 1);
            chmod($directory, 0o700);

            return [$before, $cache->set('key', 2), $cache->get('key'), $cache->health()->isFlagged()];
        }, 0o500);
        self::assertSame([false, true, 2, false], $report);
    }

    /** An administrator who removes it, or a memory disk that is empty after a restart, takes no site down. */
    #[DataProvider('stores')]
    public function testADirectoryThatIsGoneAndMayNotBeMadeIsAMissAndFalseAndLogged(string $dsn): void
    {
        $scratch = new Scratch();
        $report = Nobody::does($scratch, static function (string $directory) use ($dsn): array {
            $logger = new MemoryLogger();
            $journal = "{$directory}/gone/too/journal";
            $cache = Cache::open(self::dsn($dsn, "{$directory}/gone/too"), logger: $logger, journal: $journal);

            return [$cache->set('key', 1), $cache->get('key', 'default'), $cache->remember('made', static fn(): int => 2), $cache->health()->available, \count($logger->lines) > 0];
        }, 0o555);
        self::assertSame([false, 'default', 2, false, true], $report);
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessageMatches('~/proc/gone/too.*; .*(create it|see that)~');
        Cache::open(self::dsn($dsn, '/proc/gone/too'), strict: true)->set('key', 1);
    }

    /** @return iterable<string, array{string, string}> */
    public static function damages(): iterable
    {
        $damages = [
            'text' => "This is a precious text.\n",
            'noise' => random_bytes(10_000),
            'the head of a database' => "SQLite format 3\0" . str_repeat("\xff", 5_000),
        ];
        foreach (self::databases() as $name => [$dsn]) {
            foreach ($damages as $what => $bytes) {
                yield "{$name}, {$what}" => [$dsn, $bytes];
            }
        }
    }

    #[DataProvider('damages')]
    public function testAFileThatIsNoDatabaseIsAMissAndIsNotTouched(string $dsn, string $bytes): void
    {
        $scratch = new Scratch();
        file_put_contents("{$scratch->path}/cache.db", $bytes);
        $logger = new MemoryLogger();
        $cache = Cache::open(self::dsn($dsn, $scratch->path), logger: $logger);
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertFalse($cache->set('key', 1));
        self::assertCount(2, $logger->lines);
        self::assertSame($bytes, file_get_contents("{$scratch->path}/cache.db"));
        unlink("{$scratch->path}/cache.db");
        self::assertTrue($cache->set('key', 1));
        self::assertSame(1, $cache->get('key'));
    }

    #[DataProvider('databases')]
    public function testADatabaseThatIsDamagedUnderUseIsNeverAnError(string $dsn): void
    {
        $scratch = new Scratch();
        $dsn = self::dsn($dsn, $scratch->path);
        $cache = Cache::open($dsn);
        for ($i = 0; $i < 500; $i++) {
            $cache->set("key {$i}", str_repeat('x', 500));
        }
        $file = fopen("{$scratch->path}/cache.db", 'r+');
        self::assertIsResource($file);
        fseek($file, 4_096);
        fwrite($file, random_bytes(100_000));
        fclose($file);
        $cache = Cache::open($dsn);
        $answers = [];
        for ($i = 0; $i < 500; $i += 10) {
            $answers[get_debug_type($cache->get("key {$i}"))] = true;
            $cache->set("key {$i}", $i);
            $cache->delete("key {$i}");
        }
        self::assertSame([], array_diff(array_keys($answers), ['null', 'string', 'int']));
    }

    #[DataProvider('databases')]
    public function testALockedDatabaseIsReadAndRefusesWrites(string $dsn): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/cache.db";
        $ends = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0);
        self::assertIsArray($ends);
        $child = pcntl_fork();
        if ($child === 0) {
            fread($ends[1], 1);
            $database = new \SQLite3($path);
            $database->exec('BEGIN IMMEDIATE');
            fwrite($ends[1], 'locked');
            fread($ends[1], 1);
            posix_kill((int) getmypid(), \SIGKILL);
        }
        // Opened after the fork: SQLite's connections do not survive one.
        $cache = Cache::open(self::dsn($dsn, $scratch->path) . '?timeout=0.1');
        $cache->set('key', 'value');
        fwrite($ends[0], '!');
        self::assertSame('locked', fread($ends[0], 6));
        self::assertSame('value', $cache->get('key'));
        self::assertFalse($cache->add('other', 1));
        self::assertFalse($cache->increment('counter'));
        self::assertFalse($cache->delete('key'));
        self::assertNull($cache->get('key'), 'What was deleted is not read, even while the delete is undelivered.');
        posix_kill($child, \SIGKILL);
        pcntl_waitpid($child, $status);
        $cache->refresh();
        self::assertNull($cache->get('key'));
        self::assertTrue($cache->set('key', 'new'));
        self::assertSame('new', $cache->get('key'));
        self::assertFalse($cache->health()->isFlagged());
    }

    public function testADatabaseBelongsToTheOwnerOfItsDirectory(): void
    {
        $scratch = new Scratch();
        if (posix_geteuid() === 0) {
            chown($scratch->path, 65_534);
        }
        $owner = fileowner($scratch->path);
        $store = new SqliteStore("{$scratch->path}/cache.db");
        $store->save([new Item('key', 1)]);
        foreach (['cache.db', 'cache.db-wal', 'cache.db-shm'] as $file) {
            self::assertSame($owner, fileowner("{$scratch->path}/{$file}"), $file);
        }
    }

    public function testADatabaseGivesBackWhatIsNoLongerNeeded(): void
    {
        $scratch = new Scratch();
        $store = new SqliteStore("{$scratch->path}/cache.db");
        for ($i = 0; $i < 200; $i++) {
            $store->save([new Item("key {$i}", random_bytes(20_000))]);
        }
        $full = $store->statistics()->bytes;
        self::assertGreaterThan(4_000_000, $full);
        $store->clear();
        $store->prune();
        self::assertLessThan(200_000, $store->statistics()->bytes);
    }

    public function testTheDirectoryAndItsFilesAreForTheirOwnerAlone(): void
    {
        $scratch = new Scratch();
        $store = new FileStore("{$scratch->path}/cache");
        $store->save([new Item('object', new \stdClass())]);
        self::assertSame(0o700, (int) fileperms("{$scratch->path}/cache") & 0o777);
        self::assertSame(0o600, (int) fileperms("{$scratch->path}/cache/secret") & 0o777);
        self::assertSame(32, filesize("{$scratch->path}/cache/secret"));
        [$file] = $this->files("{$scratch->path}/cache");
        self::assertSame(0o600, (int) fileperms($file) & 0o777);
    }

    public function testAForgedFileIsNeverUnserialised(): void
    {
        $scratch = new Scratch();
        $directory = "{$scratch->path}/cache";
        $payload = new Payload(new PhpSerializer());
        $store = new FileStore($directory, $payload);
        $store->save([new Item('key', [new Trap()])]);
        self::assertSame(0, Trap::sprung(), 'Saving is not reading.');
        self::assertCount(1, $store->fetch(['key'])->items);
        self::assertSame(1, Trap::sprung());
        [$file] = $this->files($directory);
        $bytes = (string) file_get_contents($file);

        $elsewhere = new FileStore("{$scratch->path}/attacker", $payload);
        $elsewhere->save([new Item('key', [new Trap()])]);
        [$signedByAnother] = $this->files("{$scratch->path}/attacker");
        $forgeries = ['signed with another secret' => (string) file_get_contents($signedByAnother)];
        for ($i = 0; $i < \strlen($bytes); $i++) {
            $forgeries["byte {$i} changed"] = substr_replace($bytes, \chr(\ord($bytes[$i]) ^ 1), $i, 1);
            $forgeries["cut after {$i} bytes"] = substr($bytes, 0, $i);
        }
        $forgeries['with more behind'] = $bytes . 'x';
        foreach ($forgeries as $name => $forgery) {
            file_put_contents($file, $forgery);
            self::assertSame([], $store->fetch(['key'])->items, $name);
            self::assertSame([], $store->touch(['key'], 100), $name);
        }
        self::assertSame(1, Trap::sprung(), 'A forged file was unserialised.');
        file_put_contents($file, $bytes);
        self::assertCount(1, $store->fetch(['key'])->items);
    }

    public function testALostSecretIsOnlyMisses(): void
    {
        $scratch = new Scratch();
        $store = new FileStore($scratch->path);
        $store->save([new Item('key', ['array']), new Item('text', 'needs no secret')]);
        foreach (['', 'short', str_repeat('x', 33), str_repeat("\0", 32)] as $damage) {
            file_put_contents("{$scratch->path}/secret", $damage);
            $again = new FileStore($scratch->path);
            self::assertSame(['text'], array_keys($again->fetch(['key', 'text'])->items));
            self::assertSame([], $again->save([new Item('key', ['array'])]));
            self::assertSame(['key', 'text'], array_keys((new FileStore($scratch->path))->fetch(['key', 'text'])->items));
            self::assertNotSame($damage, file_get_contents("{$scratch->path}/secret"));
        }
    }

    public function testAFileUnderTheNameOfAnotherKeyIsAMiss(): void
    {
        $scratch = new Scratch();
        $store = new FileStore($scratch->path);
        $store->save([new Item('a', 'value')]);
        [$file] = $this->files($scratch->path);
        $bytes = (string) file_get_contents($file);
        $store->save([new Item('b', 'other')]);
        foreach ($this->files($scratch->path) as $each) {
            file_put_contents($each, $bytes);
        }
        self::assertSame(['a'], array_keys($store->fetch(['a', 'b'])->items));
    }

    public function testWhatAKilledWriterLeftIsPruned(): void
    {
        $scratch = new Scratch();
        $store = new FileStore($scratch->path);
        $store->save([new Item('a', 'value')]);
        $shard = \dirname($this->files($scratch->path)[0]);
        touch("{$shard}/.old.tmp", time() - 10_000);
        touch("{$shard}/.young.tmp");
        self::assertSame(0, $store->prune());
        self::assertFileDoesNotExist("{$shard}/.old.tmp");
        self::assertFileExists("{$shard}/.young.tmp");
        self::assertCount(1, $store->fetch(['a'])->items);
    }

    public function testAWriterThatIsStoppedDelaysOthersByTheTimeoutAtMost(): void
    {
        $scratch = new Scratch();
        $store = new FileStore($scratch->path, timeout: 0.05);
        $store->save([new Item('key', 'value')]);
        $lock = fopen(\dirname($this->files($scratch->path)[0]) . '/.lock', 'c');
        self::assertIsResource($lock);
        flock($lock, \LOCK_EX);
        self::assertCount(1, $store->fetch(['key'])->items, 'Readers take no lock.');
        try {
            $store->save([new Item('key', 'other')]);
            self::fail('The lock was ignored.');
        } catch (StoreUnavailable $failure) {
            self::assertStringContainsString('another process holds a lock', $failure->getMessage());
        }
        flock($lock, \LOCK_UN);
        self::assertSame([], $store->save([new Item('key', 'other')]));
    }

    /** @return non-empty-list<string> the items of a FileStore */
    private function files(string $directory): array
    {
        return glob("{$directory}/[0-9a-f][0-9a-f]/*") ?: throw new \LogicException('There are no items.');
    }
}
