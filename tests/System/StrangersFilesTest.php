<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Console\Doctor\Finding;
use Larder\Console\Doctor\Machine;
use Larder\Console\Doctor\PlaceChecks;
use Larder\Console\Doctor\StoreChecks;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Session\SessionHandler;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\CircuitBreaker;
use Larder\Store\FileStore;
use Larder\Store\Noted;
use Larder\Store\PhpFileStore;
use Larder\Store\SqliteStore;
use Larder\System\PrivateDirectory;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Trace\RecordingStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Another user of the machine, who may do what every user may: read what everyone can read, and write into /tmp. Only root can make that user's files. */
#[CoversClass(PrivateDirectory::class)]
#[CoversClass(PlaceChecks::class)]
#[CoversClass(SqliteStore::class)]
#[CoversClass(FileStore::class)]
#[CoversClass(PhpFileStore::class)]
final class StrangersFilesTest extends TestCase
{
    private const STRANGER = 65_533;

    /** @return iterable<string, array{string}> stores in a directory */
    public static function stores(): iterable
    {
        yield 'SQLite' => ['sqlite:DIRECTORY/cache.db'];
        yield 'two tiers' => ['array: > sqlite:DIRECTORY/cache.db'];
        yield 'files' => ['file:DIRECTORY'];
        yield 'files within bounds' => ['file:DIRECTORY?size=8M'];
        yield 'PHP files' => ['php:DIRECTORY'];
    }

    /** A cache fails quietly there, as the stranger brings it about at any moment. */
    #[DataProvider('stores')]
    public function testWhatAStrangerHasMadeInTmpIsNeitherReadNorWrittenInto(string $dsn): void
    {
        if (posix_geteuid() !== 0) {
            $this->expectNotToPerformAssertions();

            return;
        }
        foreach ([0, Nobody::ID] as $user) {
            foreach (['', '/deeper'] as $below) {
                $scratch = new Scratch();
                $here = str_replace('DIRECTORY', "{$scratch->path}/cache{$below}", $dsn);
                mkdir("{$scratch->path}/cache{$below}", 0o700, true);
                // What is there could be read: strings and numbers need no signature.
                self::assertTrue(Cache::open($here)->setMany(['string' => 'forged', 'number' => 7]));
                self::giveAll("{$scratch->path}/cache", self::STRANGER);
                foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator("{$scratch->path}/cache", \FilesystemIterator::SKIP_DOTS)) as $file) {
                    $file instanceof \SplFileInfo && !$file->isLink() && chmod($file->getPathname(), 0o666);
                }
                chmod("{$scratch->path}/cache", 0o777);
                chmod("{$scratch->path}/cache{$below}", 0o777);
                chmod($scratch->path, 0o1777);
                $work = static function () use ($here): array {
                    $logger = new MemoryLogger();
                    $cache = Cache::open($here, logger: $logger);

                    return [
                        $cache->getMany(['string', 'number']), $cache->set('new', 'secret'), $cache->increment('number'), $cache->has('string'), $cache->delete('string'),
                        $cache->health()->available, $logger->lines !== [],
                    ];
                };
                $report = $user === 0 ? $work() : Nobody::does($scratch, static fn(): array => $work(), null);
                self::assertSame([[], false, false, false, false, false, true], $report);
                self::assertSame('', shell_exec('grep -rl secret ' . escapeshellarg("{$scratch->path}/cache")) ?? '');
                $found = (new StoreChecks($here, Machine::this()))->findings();
                self::assertSame(['name a directory elsewhere, or remove this one'], array_map(static fn(Finding $each): ?string => $each->change, $found));
            }
        }
    }

    /** Their database would be read with the WAL that the stranger has put beside it, and what is in that unserialised. */
    public function testADatabaseInTmpItselfIsRefused(): void
    {
        $scratch = new Scratch();
        chmod($scratch->path, 0o1777);
        $this->expectExceptionMessage("may be written to by everyone; name one of its own in it: mkdir -m 0700 {$scratch->path}/larder-");
        Cache::open("sqlite:{$scratch->path}/cache.db");
    }

    /** As a stranger could have done while the directory was open to all. */
    public function testAWalOrJournalThatAStrangerHasPutBesideADatabaseIsNotRead(): void
    {
        if (posix_geteuid() !== 0) {
            $this->expectNotToPerformAssertions();

            return;
        }
        foreach (['wal', 'journal'] as $kind) {
            $scratch = new Scratch();
            $path = "{$scratch->path}/cache.db";
            (new SqliteStore($path))->save([new Item('key', 'ours')]);
            $this->plant($kind, $path, "{$scratch->path}/copy.db");
            self::assertSame('forged', (new SqliteStore("{$scratch->path}/copy.db"))->fetch(['key'])->items['key']->value ?? null, 'The forgery would work.');
            copy("{$scratch->path}/planted", "{$path}-{$kind}");
            chown("{$path}-{$kind}", self::STRANGER);
            $logger = new MemoryLogger();
            self::assertNull(Cache::open("sqlite:{$path}", logger: $logger)->get('key'));
            self::assertStringContainsString("belongs to another user, \"65533\"; rm {$path}-{$kind}.", self::message($logger));
            unlink("{$path}-{$kind}");
            self::assertSame('ours', Cache::open("sqlite:{$path}")->get('key'));
        }
    }

    /** Strings need no signature. */
    public function testAnItemThatAStrangerHasPutIntoADirectoryWhileItWasOpenToAllIsMissing(): void
    {
        if (posix_geteuid() !== 0) {
            $this->expectNotToPerformAssertions();

            return;
        }
        $scratch = new Scratch();
        $store = new FileStore($scratch->path);
        $store->save([new Item('key', 'forged', tags: ['tag'])]);
        self::assertCount(1, $store->fetch(['key'])->items);
        $item = (glob("{$scratch->path}/??/[^.]*") ?: [''])[0];
        chown($item, self::STRANGER);
        self::assertSame([], $store->fetch(['key'])->items);
        chown($item, 0);
        self::assertCount(1, $store->fetch(['key'])->items);
        chown("{$scratch->path}/clock", self::STRANGER);
        self::assertSame([], $store->fetch(['key'])->items, 'By that clock it lives.');
        chown((glob("{$scratch->path}/??/.lock") ?: [''])[0], self::STRANGER);
        try {
            $store->delete(['key']);
            self::fail('It was done under a lock that is a stranger\'s.');
        } catch (StoreUnavailable $failure) {
            self::assertStringContainsString('belongs to another user, "65533"; rm ', $failure->getMessage());
        }
    }

    public function testNothingThatIsKeptOnADiskCanBeReadByOthersWhateverTheUmask(): void
    {
        $scratch = new Scratch();
        chmod($scratch->path, 0o755);
        $usual = umask(0);
        try {
            $kept = self::useAll($scratch->path);
        } finally {
            umask($usual);
        }
        $open = $names = [];
        foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($scratch->path, \FilesystemIterator::SKIP_DOTS), \RecursiveIteratorIterator::SELF_FIRST) as $file) {
            if ($file instanceof \SplFileInfo && !$file->isLink()) {
                $names[] = $file->getFilename();
                ($file->getPerms() & 0o077) === 0 || $open[] = $file->getPathname();
            }
        }
        self::assertSame([], $open);
        self::assertSame([], array_diff(['cache.db', 'cache.db-wal', 'cache.db-shm', 'cache.db-head-larder', 'journal', 'secret', 'clock', 'usage', '.lock', 'trace'], $names));
        self::assertCount(2, preg_grep('/^(breaker|noted)-/', $names) ?: []);
        unset($kept);
    }

    public function testADatabaseAndItsFilesThatEveryoneCouldReadAreTightenedWhenTheyAreOpened(): void
    {
        $scratch = new Scratch();
        chmod($scratch->path, 0o755);
        $dsn = "array: > sqlite:{$scratch->path}/cache.db";
        $keeper = Cache::open($dsn, journal: "{$scratch->path}/journal");
        $keeper->set('key', 'value');
        touch("{$scratch->path}/journal");
        $files = ['cache.db', 'cache.db-wal', 'cache.db-shm', 'cache.db-head-larder', 'journal'];
        foreach ($files as $name) {
            chmod("{$scratch->path}/{$name}", 0o644);
        }
        $chaos = new ChaosStore();
        $chaos->isDown = true;
        (new Cache($chaos, journal: "{$scratch->path}/journal"))->delete('other');
        $cache = Cache::open($dsn);
        self::assertSame('value', $cache->get('key'));
        self::assertTrue($cache->set('key', 'new'));
        clearstatcache();
        foreach ($files as $name) {
            self::assertSame(0o600, (int) fileperms("{$scratch->path}/{$name}") & 0o777, $name);
        }
        unset($keeper);
    }

    /**
     * Keeps something in each kind of file that there is.
     *
     * @return list<Cache> whose files are there as long as they are
     */
    private static function useAll(string $directory): array
    {
        $kept = [];
        foreach (["array: > sqlite:{$directory}/cache.db", "file:{$directory}/files?size=8M", "php:{$directory}/code?size=8M"] as $dsn) {
            $cache = Cache::open($dsn);
            $cache->set('key', ['value'], tags: ['tag']);
            $cache->invalidateTags(['tag']);
            $cache->get('missing');
            $kept[] = $cache;
        }
        $handler = new SessionHandler($kept[0]);
        $handler->read('id');
        $handler->write('id', 'user');
        $handler->close();
        $kept[0]->lock('name')->acquire();
        $chaos = new ChaosStore();
        $chaos->isDown = true;
        (new Cache($chaos, journal: "{$directory}/journal"))->delete('key');
        (new CircuitBreaker('server', 10.0, 1.0, "{$directory}/user"))->failed();
        (new Noted('server', "{$directory}/user"))->write('about', 'what');
        (new RecordingStore(new ArrayStore(), "{$directory}/trace", 1.0))->fetch(['key']);

        return $kept;
    }

    /** Leaves in "planted" what would have SQLite read "forged" under the key, and beside the copy what shows that it does. */
    private function plant(string $kind, string $path, string $copy): void
    {
        // A copy of the file alone has what its log has, too, once another connection than the library's was the last to close.
        $plain = new \SQLite3($path);
        $plain->querySingle('SELECT count(*) FROM sqlite_master');
        $plain->close();
        copy($path, $copy);
        $evil = new \SQLite3($copy);
        // The first byte of a value says what it is.
        $forge = static fn(\SQLite3 $database, string $value): bool => $database->exec("UPDATE \"items:larder\" SET value = substr(value, 1, 1) || CAST('{$value}' AS BLOB) WHERE key = CAST('key' AS BLOB)");
        if ($kind === 'wal') {
            $evil->exec('PRAGMA journal_mode = WAL');
            $evil->exec('PRAGMA wal_autocheckpoint = 0');
            $forge($evil, 'forged');
            copy("{$copy}-wal", \dirname($path) . '/planted');
            $evil->close();

            return;
        }
        // A transaction that was never finished: what is old to it is the forgery.
        $evil->exec('PRAGMA journal_mode = DELETE');
        $forge($evil, 'forged');
        $evil->exec('PRAGMA cache_size = 1');
        $evil->exec('PRAGMA cache_spill = 1');
        $evil->exec('BEGIN');
        $forge($evil, 'harmless');
        $evil->exec('CREATE TABLE junk(x)');
        for ($i = 0; $i < 200; $i++) {
            $evil->exec('INSERT INTO junk VALUES (randomblob(4000))');
        }
        copy("{$copy}-journal", \dirname($path) . '/planted');
        $evil->exec('ROLLBACK');
        $evil->close();
    }

    private static function giveAll(string $path, int $user): void
    {
        lchown($path, $user);
        foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($path, \FilesystemIterator::SKIP_DOTS), \RecursiveIteratorIterator::SELF_FIRST) as $file) {
            $file instanceof \SplFileInfo && lchown($file->getPathname(), $user);
        }
    }

    private static function message(MemoryLogger $logger): string
    {
        return implode("\n", array_map(static fn(array $context): string => ($context['exception'] ?? null) instanceof \Throwable ? $context['exception']->getMessage() : '', $logger->contexts));
    }
}
