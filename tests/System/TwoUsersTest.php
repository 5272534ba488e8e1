<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Cache\Journal;
use Larder\Console\Doctor\Finding;
use Larder\Console\Doctor\JournalChecks;
use Larder\Console\Doctor\Machine;
use Larder\Console\Doctor\OwnerChecks;
use Larder\Console\Doctor\StoreChecks;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Store\ChaosStore;
use Larder\Store\File\Folder;
use Larder\Store\File\Secret;
use Larder\Store\FileStore;
use Larder\Store\SharedMemory\Namesakes;
use Larder\Store\SharedMemoryStore;
use Larder\Store\Sqlite\DatabaseFile;
use Larder\Store\Sqlite\HeadFile;
use Larder\Store\SqliteStore;
use Larder\Stores;
use Larder\System\PrivateDirectory;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Tests\System\Extension\Workers;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/**
 * Root and the user to whom a cache belongs, as a cron job and a web server. Without root, the user that runs this is both of them,
 * and nothing of what needs two can be shown then.
 */
#[CoversClass(PrivateDirectory::class)]
#[CoversClass(DatabaseFile::class)]
#[CoversClass(OwnerChecks::class)]
#[CoversClass(Folder::class)]
#[CoversClass(Secret::class)]
#[CoversClass(Journal::class)]
#[CoversClass(HeadFile::class)]
#[CoversClass(Namesakes::class)]
final class TwoUsersTest extends TestCase
{
    /** @return iterable<string, array{\Closure(Cache): bool}> */
    public static function invalidations(): iterable
    {
        yield 'a delete' => [static fn(Cache $cache): bool => $cache->delete('key')];
        yield 'deletes' => [static fn(Cache $cache): bool => $cache->deleteMany(['key', 'other'])];
        yield 'an invalidation' => [static fn(Cache $cache): bool => $cache->invalidateTags(['tag'])];
        yield 'a clear' => [static fn(Cache $cache): bool => $cache->clear()];
        yield 'a clear of a namespace' => [static fn(Cache $cache): bool => $cache->namespace('part')->clear()];
    }

    /** @param \Closure(Cache): bool $change */
    #[DataProvider('invalidations')]
    public function testACommandWhoseChangesStayInItsOwnPoolIsToldOfThatOfAnotherUserOnce(\Closure $change): void
    {
        [$name, $logger] = ['two-' . bin2hex(random_bytes(6)), new MemoryLogger()];
        try {
            self::asNobody("Larder\\SharedMemory::open('{$name}', 4 << 20)->set('key', 1);");
            $cache = Cache::open("shm:{$name}?size=4M", logger: $logger);
            $cache->set('key', 2);
            self::assertSame(2, $cache->get('key'));
            self::assertSame([], $logger->lines, 'What only reads and writes has nothing to tell.');
            foreach (range(1, 2) as $_) {
                self::assertTrue($change($cache));
            }
            $isRoot = posix_geteuid() === 0;
            self::assertCount($isRoot ? 1 : 0, $logger->lines);
            self::assertStringContainsString($isRoot ? "has a pool \"{$name}\" as well." : '', is_string($why = $logger->contexts[0]['why'] ?? '') ? $why : '');
        } finally {
            SharedMemoryStore::remove($name);
            self::asNobody("Larder\\SharedMemory::remove('{$name}');");
        }
    }

    /** In a process that has used no pool as another user. */
    private static function asNobody(string $code): void
    {
        $becomes = posix_geteuid() === 0 ? 'posix_setgid(' . Nobody::ID . ') && posix_setuid(' . Nobody::ID . ') || exit(1); ' : '';
        (new Process([\PHP_BINARY, '-d', 'extension=' . Workers::extension(), '-r', $becomes . $code]))->mustRun();
    }

    /** @return iterable<string, array{string}> */
    public static function stores(): iterable
    {
        yield 'SQLite' => ['sqlite:DIRECTORY/cache.db'];
        yield 'two tiers' => ['array: > sqlite:DIRECTORY/cache.db'];
        yield 'files' => ['file:DIRECTORY/cache'];
        yield 'files within bounds' => ['file:DIRECTORY/some/where/cache?size=8M'];
        yield 'files in a directory that is there' => ['file:DIRECTORY'];
    }

    #[DataProvider('stores')]
    public function testWhatRootMakesInAnothersDirectoryThatUserCanReadChangeAndDelete(string $dsn): void
    {
        $scratch = Nobody::directory();
        $open = static fn(string $directory): Cache => Cache::open(str_replace('DIRECTORY', $directory, $dsn));
        $root = $open($scratch->path);
        $root->get('missing');
        self::assertTrue($root->setMany(['deleted' => 'by root', 'counted' => 5]) && $root->set('tagged', 'by root', tags: ['tag']));
        self::assertTrue($root->invalidateTags(['other']) && $root->delete('gone'));
        self::assertSame([], self::notOf((int) fileowner($scratch->path), $scratch->path));

        $report = Nobody::does($scratch, static function (string $directory) use ($open): array {
            $cache = $open($directory);
            $before = $cache->getMany(['deleted', 'counted', 'tagged']);
            $done = [$cache->delete('deleted'), $cache->increment('counted'), $cache->invalidateTags(['tag']), $cache->set('new', 'by nobody')];

            return [$before, $done, $open($directory)->getMany(['deleted', 'counted', 'tagged', 'new']), $cache->clear(), $cache->get('new'), $cache->health()->isFlagged()];
        });
        self::assertSame([
            ['deleted' => 'by root', 'counted' => 5, 'tagged' => 'by root'], [true, 6, true, true], ['counted' => 6, 'new' => 'by nobody'], true, null, false,
        ], $report);
        self::assertSame([], $open($scratch->path)->getMany(['deleted', 'counted', 'tagged', 'new']));
    }

    /** @return iterable<string, array{string, string, int}> a store, a part of its directory, and the rights that are left to that */
    public static function parts(): iterable
    {
        foreach (['file', 'php'] as $scheme) {
            foreach (['', '/??'] as $part) {
                foreach ([0o000, 0o300, 0o500] as $rights) {
                    yield "{$scheme}:{$part} " . decoct($rights) => [$scheme, $part, $rights];
                }
            }
        }
    }

    /** As a shard of another user's, which root has made in a cache that is not root's. */
    #[DataProvider('parts')]
    public function testWhatCannotBeReachedIsNotSaidToBeDeletedOrCleared(string $scheme, string $part, int $rights): void
    {
        foreach ([static fn(Cache $cache): bool => $cache->delete('key'), static fn(Cache $cache): bool => $cache->clear()] as $forget) {
            $report = Nobody::does(new Scratch(), static function (string $directory) use ($scheme, $part, $rights, $forget): array {
                $logger = new MemoryLogger();
                $cache = Cache::open("{$scheme}:{$directory}/cache", logger: $logger);
                $cache->set('key', 'value');
                $parts = glob("{$directory}/cache{$part}", \GLOB_ONLYDIR) ?: [];
                array_map(static fn(string $path): bool => chmod($path, $rights), $parts);
                $isDone = $forget($cache);
                array_map(static fn(string $path): bool => chmod($path, 0o700), $parts);
                $isThere = Cache::open("{$scheme}:{$directory}/cache")->has('key');

                return [$isDone ? 'done' : 'not done', $isDone && $isThere ? 'It is still there.' : '', !$isDone && $logger->lines === [] ? 'It was not told.' : '', $cache->get('key')];
            });
            self::assertIsArray($report);
            self::assertSame(['', '', null], \array_slice($report, 1), (string) json_encode($report));
            self::assertTrue($rights !== 0 || $report[0] === 'not done');
        }
    }

    public function testWhatIsInAPlaceThatThereHasNeverBeenIsDeleted(): void
    {
        $scratch = new Scratch();
        self::assertSame([], (new FileStore("{$scratch->path}/not/there"))->delete(['key']));
        self::assertDirectoryDoesNotExist("{$scratch->path}/not");
        $store = new FileStore("{$scratch->path}/cache");
        $store->save([new Item('other', 1)]);
        self::assertSame([], $store->delete(['key']));
        self::assertCount(1, glob("{$scratch->path}/cache/??") ?: []);
    }

    public function testAJournalThatRootHasWrittenIsDeliveredByItsDirectorysOwner(): void
    {
        $scratch = Nobody::directory();
        self::lose($scratch->path);
        self::assertSame([], self::notOf((int) fileowner($scratch->path), $scratch->path));
        self::assertSame([null, 'value', false, true], Nobody::does($scratch, self::deliver(...)));
    }

    /** The command line for which there is absent: may not even have posix. */
    public function testAJournalThatRootHasWrittenWithoutAnyExtensionIsItsDirectorysOwners(): void
    {
        $scratch = Nobody::directory();
        $code = <<<'PHP'
            require $argv[1];
            $cache = new Larder\Cache(new Larder\Store\AbsentStore(), logger: new Psr\Log\NullLogger(), journal: $argv[2]);
            $cache->delete('key');
            $cache->namespace('menus')->clear();
            PHP;
        (new Process([\PHP_BINARY, '-n', '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', "{$scratch->path}/journal"], timeout: null))->mustRun();
        self::assertCount(2, glob("{$scratch->path}/journal*") ?: []);
        self::assertSame([], self::notOf((int) fileowner($scratch->path), $scratch->path));
    }

    public function testAMemberOfTheGroupThatMayWriteIntoADirectoryDeliversWhatAnotherHasJournaled(): void
    {
        $scratch = new Scratch();
        if (posix_geteuid() === 0) {
            chgrp($scratch->path, Nobody::ID);
        }
        chmod($scratch->path, 0o2770);
        $usual = umask(0o077);
        try {
            self::lose($scratch->path);
        } finally {
            umask($usual);
        }
        foreach (['journal', 'cache.db', 'cache.db-head-larder'] as $name) {
            self::assertSame(0o660, (int) fileperms("{$scratch->path}/{$name}") & 0o777, $name);
            self::assertSame(filegroup($scratch->path), filegroup("{$scratch->path}/{$name}"), $name);
        }
        self::assertSame([null, 'value', false, true], Nobody::does($scratch, self::deliver(...), null));
    }

    public function testAJournalThatCannotBeSeenIsNotTakenForAnEmptyOne(): void
    {
        $report = Nobody::does(new Scratch(), static function (string $directory): array {
            $store = new SqliteStore("{$directory}/cache.db");
            $store->save([new Item('key', 'stale')]);
            mkdir("{$directory}/private", 0o700);
            $cache = new Cache($store, journal: "{$directory}/private/journal");
            $before = $cache->get('key');
            chmod("{$directory}/private", 0o000);
            $cache->refresh();
            $hidden = [$cache->get('key'), $cache->health()->isFlagged()];
            chmod("{$directory}/private", 0o700);
            $cache->refresh();

            return [$before, $hidden, $cache->get('key'), $cache->health()->isFlagged()];
        });
        self::assertSame(['stale', [null, true], 'stale', false], $report);
    }

    public function testOfWhatHasToBeSignedTheDirectorysOwnersIsKept(): void
    {
        if (!$this->isRoot()) {
            return;
        }
        $scratch = Nobody::directory();
        self::assertTrue(Cache::open("file:{$scratch->path}")->set('list', ['by root']));
        $report = Nobody::does($scratch, static function (string $directory): array {
            $cache = Cache::open("file:{$directory}");

            return [$cache->get('list'), $cache->set('list', ['by nobody']), $cache->get('list')];
        });
        self::assertSame([null, true, ['by nobody']], $report);
        self::assertSame(Nobody::ID, fileowner("{$scratch->path}/secret"));
        self::assertNull(Cache::open("file:{$scratch->path}")->get('list'), 'Root unserialises nothing that another user may have made.');
        try {
            (new FileStore($scratch->path))->save([new Item('list', ['by root'])]);
            self::fail('It was signed with a secret that another user knows.');
        } catch (StoreUnavailable $failure) {
            self::assertStringContainsString('run this as the owner of the directory', $failure->getMessage());
        }
    }

    /** @return iterable<string, array{string, string}> a pattern of what is replaced by a link, and what root uses then */
    public static function traps(): iterable
    {
        yield 'a database' => ['cache.db', 'sqlite:DIRECTORY/cache.db'];
        yield 'the head of a log' => ['cache.db-head-larder', 'array: > sqlite:DIRECTORY/cache.db'];
        yield 'a lock' => ['??/.lock', 'file:DIRECTORY'];
        yield 'the usage' => ['usage', 'file:DIRECTORY?size=8M'];
        yield 'the clock' => ['clock', 'file:DIRECTORY'];
        yield 'a shard' => ['??', 'file:DIRECTORY'];
        yield 'a journal' => ['journal', 'sqlite:DIRECTORY/cache.db'];
    }

    /** The owner of a directory may put a link in it, and it is to root that all files are open. */
    #[DataProvider('traps')]
    public function testRootWritesIntoNothingAndGivesAwayNothingThatAnothersLinkLeadsTo(string $pattern, string $dsn): void
    {
        if (!$this->isRoot()) {
            return;
        }
        foreach (['precious', 'absent'] as $name) {
            $scratch = Nobody::directory();
            $roots = new Scratch();
            file_put_contents("{$roots->path}/precious", 'root\'s');
            $here = str_replace('DIRECTORY', $scratch->path, $dsn);
            $use = static function (Cache $cache): void {
                $cache->set('key', 'value', tags: ['tag']);
                $cache->get('key');
                $cache->invalidateTags(['tag']);
                $cache->delete('key');
                $cache->get('missing');
                $cache->clear();
            };
            $use(Cache::open($here));
            $chaos = new ChaosStore();
            $chaos->isDown = true;
            (new Cache($chaos, journal: "{$scratch->path}/journal"))->delete('key');
            $paths = glob("{$scratch->path}/{$pattern}") ?: [];
            self::assertNotSame([], $paths);
            foreach ($paths as $path) {
                $isShard = is_dir($path);
                rename($path, "{$scratch->path}/away-" . bin2hex(random_bytes(4)));
                symlink($isShard && $name === 'precious' ? $roots->path : "{$roots->path}/{$name}", $path);
                lchown($path, Nobody::ID);
            }
            $use(Cache::open($here, journal: "{$scratch->path}/journal"));
            $cache = new Cache($chaos, journal: "{$scratch->path}/journal");
            $cache->delete('key');
            $chaos->isDown = false;
            $cache->get('key');
            self::assertSame(['precious'], array_values(array_diff(scandir($roots->path) ?: [], ['.', '..'])));
            self::assertSame('root\'s', file_get_contents("{$roots->path}/precious"));
            self::assertSame([], self::notOf(0, $roots->path));
        }
    }

    /** @return iterable<string, array{string}> what SQLite reads as a part of a database */
    public static function partsOfADatabase(): iterable
    {
        foreach (['', '-wal', '-shm', '-journal'] as $suffix) {
            yield "cache.db{$suffix}" => [$suffix];
        }
    }

    #[DataProvider('partsOfADatabase')]
    public function testADatabaseIsNotReadIfAPartOfItIsAnotherUsers(string $suffix): void
    {
        if (!$this->isRoot()) {
            return;
        }
        $scratch = new Scratch();
        $path = "{$scratch->path}/cache.db";
        $keeper = new SqliteStore($path);
        $keeper->save([new Item('key', 'value')]);
        $suffix === '-journal' && touch("{$path}-journal");
        chown($path . $suffix, Nobody::ID);
        try {
            (new SqliteStore($path))->fetch(['key']);
            self::fail('It was read.');
        } catch (StoreUnavailable $failure) {
            self::assertStringContainsString("\"{$path}{$suffix}\" belongs to another user, \"nobody\"; rm {$path}{$suffix}.", $failure->getMessage());
        }
        self::assertSame(["rm {$path}{$suffix}"], self::changes("sqlite:{$path}"));
        chown($path . $suffix, 0);
        self::assertCount(1, (new SqliteStore($path))->fetch(['key'])->items);
        // To this user, who has made the directory, it could not be another's.
        chown($scratch->path, Nobody::ID);
        chown($path . $suffix, Nobody::ID);
        self::assertCount(1, (new SqliteStore($path))->fetch(['key'])->items);
    }

    /** @return iterable<string, array{string, string, string}> a store, what of it root has made, and what is to be changed */
    public static function roots(): iterable
    {
        yield 'a database' => ['sqlite:DIRECTORY/cache.db', 'cache.db', 'chown nobody: DIRECTORY/cache.db'];
        yield 'the head of a log' => ['array: > sqlite:DIRECTORY/cache.db', 'cache.db-head-larder', 'chown nobody: DIRECTORY/cache.db-head-larder'];
        yield 'a shard' => ['file:DIRECTORY/cache', 'cache/??', 'chown -R nobody: DIRECTORY/cache'];
        yield 'a lock' => ['file:DIRECTORY/cache', 'cache/??/.lock', 'chown -R nobody: DIRECTORY/cache'];
        yield 'the tags\' clock' => ['file:DIRECTORY/cache', 'cache/clock', 'chown -R nobody: DIRECTORY/cache'];
        yield 'a journal' => ['journal', 'journal', 'chown nobody: DIRECTORY/journal'];
    }

    #[DataProvider('roots')]
    public function testDoctorFindsWhatRootHasMadeInAnothersDirectory(string $dsn, string $pattern, string $change): void
    {
        if (!$this->isRoot()) {
            return;
        }
        $scratch = Nobody::directory();
        [$dsn, $change] = str_replace('DIRECTORY', $scratch->path, [$dsn, $change]);
        self::lose($scratch->path);
        $look = static function () use ($dsn, $scratch): array {
            $changes = [];
            foreach ($dsn === 'journal' ? (new JournalChecks("{$scratch->path}/journal"))->findings() : (new StoreChecks($dsn, Machine::this()))->findings() as $each) {
                if (str_contains($each->says, 'is root\'s, in a directory of nobody, who cannot use it.')) {
                    $changes[] = $each->change;
                }
            }

            return $changes;
        };
        if ($dsn !== 'journal') {
            Cache::open($dsn)->set('key', 'value', tags: ['tag']);
        }
        self::assertSame([], $look());
        foreach (glob("{$scratch->path}/{$pattern}") ?: [] as $path) {
            chown($path, 0);
        }
        self::assertSame([$change], $look());
    }

    /** @return list<?string> the lines that the doctor would have changed */
    private static function changes(string $dsn): array
    {
        return array_map(static fn(Finding $found): ?string => $found->change, (new StoreChecks($dsn, Machine::this()))->findings());
    }

    /** Leaves a journal and what its store has missed. */
    private static function lose(string $directory): void
    {
        $store = Stores::open("array: > sqlite:{$directory}/cache.db");
        $store->save([new Item('key', 'stale'), new Item('other', 'value')]);
        $chaos = new ChaosStore($store);
        $chaos->isDown = true;
        self::assertFalse((new Cache($chaos, journal: "{$directory}/journal"))->delete('key'));
    }

    /** @return list<mixed> */
    private static function deliver(string $directory): array
    {
        $cache = Cache::open("array: > sqlite:{$directory}/cache.db", journal: "{$directory}/journal");

        return [$cache->get('key'), $cache->get('other'), $cache->health()->isFlagged(), $cache->set('new', 1)];
    }

    /** @return list<string> what is in a directory and is not that user's */
    private static function notOf(int $user, string $directory): array
    {
        $others = [];
        foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($directory, \FilesystemIterator::SKIP_DOTS), \RecursiveIteratorIterator::SELF_FIRST) as $file) {
            if ($file instanceof \SplFileInfo && (lstat($file->getPathname())['uid'] ?? null) !== $user) {
                $others[] = $file->getPathname();
            }
        }

        return $others;
    }

    /** Only root can make files of two users. */
    private function isRoot(): bool
    {
        if (posix_geteuid() !== 0) {
            $this->expectNotToPerformAssertions();
        }

        return posix_geteuid() === 0;
    }
}
