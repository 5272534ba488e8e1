<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Console;

use Larder\Cache;
use Larder\Console\Doctor\ApcuChecks;
use Larder\Console\Doctor\Finding;
use Larder\Console\Doctor\Machine;
use Larder\Console\Doctor\MachineChecks;
use Larder\Console\Doctor\PoolChecks;
use Larder\Console\Doctor\ServerChecks;
use Larder\Console\Doctor\Severity;
use Larder\Console\Doctor\StoreChecks;
use Larder\Console\DoctorCommand;
use Larder\Tests\Pools;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Tester\CommandTester;

#[CoversClass(DoctorCommand::class)]
#[CoversClass(MachineChecks::class)]
#[CoversClass(StoreChecks::class)]
#[CoversClass(ApcuChecks::class)]
#[CoversClass(ServerChecks::class)]
#[CoversClass(PoolChecks::class)]
#[CoversClass(Machine::class)]
#[CoversClass(Finding::class)]
final class DoctorTest extends TestCase
{
    private const ALL = ['larder', 'apcu', 'sqlite3', 'redis', 'memcached', 'igbinary'];

    public function testOnAMachineInOrderNothingIsToBeChanged(): void
    {
        foreach ((new MachineChecks(self::machine()))->findings() as $finding) {
            self::assertSame(Severity::Fine, $finding->severity, "{$finding->what}: {$finding->says}");
            self::assertNull($finding->change);
        }
    }

    /** @return iterable<string, array{Machine, Severity, string, string}> */
    public static function machines(): iterable
    {
        yield 'no extension' => [self::machine(extensions: []), Severity::Advice, 'shared memory (shm:)', 'make ext'];
        yield 'no /dev/shm' => [self::machine(shmTotal: null), Severity::Problem, 'is not there', 'mount -t tmpfs'];
        yield 'a small /dev/shm' => [self::machine(shmTotal: 64 << 20, shmFree: 10 << 20), Severity::Advice, '10.0 MiB of 64.0 MiB', '--shm-size'];
        yield 'logind removes' => [self::machine(removesIpc: true), Severity::Problem, 'logs out', 'RemoveIPC=no'];
        yield 'copies' => [self::machine(ini: ['larder.zero_copy' => 'off']), Severity::Advice, 'finding faults', 'larder.zero_copy=auto'];
        yield 'protection' => [self::machine(ini: ['larder.protect_unpinned' => '1']), Severity::Advice, 'finding faults', 'larder.protect_unpinned=0'];
        yield 'APCu off' => [self::machine(ini: ['apc.enabled' => '0']), Severity::Problem, 'switched off', 'apc.enabled=1'];
        yield 'APCu off on the command line' => [self::machine(sapi: 'cli', ini: ['apc.enable_cli' => '0']), Severity::Advice, 'on the command line', 'apc.enable_cli=1'];
        yield 'APCu as small as by default' => [self::machine(ini: ['apc.shm_size' => '32M']), Severity::Advice, 'It has 32.0 MiB', 'apc.shm_size=128M'];
        yield 'APCu smaller than that' => [self::machine(ini: ['apc.shm_size' => '8M']), Severity::Advice, 'It has 8.0 MiB', 'apc.shm_size=128M'];
        yield 'APCu in megabytes without saying so' => [self::machine(ini: ['apc.shm_size' => '16']), Severity::Advice, 'It has 16.0 MiB', 'apc.shm_size=128M'];
        yield 'APCu with a clock that stands still' => [self::machine(ini: ['apc.use_request_time' => 'On']), Severity::Advice, 'stands still', 'apc.use_request_time=0'];
        yield 'APCu that unserialises' => [self::machine(ini: ['apc.serializer' => 'php']), Severity::Advice, 'unserialises', 'apc.serializer=default'];
        yield 'APCu without its serializer' => [
            self::machine(extensions: ['apcu'], ini: ['apc.serializer' => 'igbinary']), Severity::Advice, 'igbinary, which is not loaded', 'extension=igbinary',
        ];
        yield 'pools that do not fit' => [self::machine(ini: ['larder.size' => '2G']), Severity::Problem, 'A pool of 2.0 GiB does not fit', 'larder.size=0'];
        yield 'no opcache' => [self::machine(opcache: null), Severity::Problem, 'compiles every file', 'opcache.enable=1'];
        yield 'a full opcache' => [self::machine(opcache: ['used' => 95, 'wasted' => 0, 'size' => 100, 'full' => false]), Severity::Problem, 'is full', 'opcache.memory_consumption'];
        yield 'an opcache that says it is full' => [self::machine(opcache: ['used' => 5, 'wasted' => 0, 'size' => 100, 'full' => true]), Severity::Problem, 'is full', 'opcache.memory_consumption'];
    }

    #[DataProvider('machines')]
    public function testWhatIsWrongIsFoundWithTheLineToChange(Machine $machine, Severity $severity, string $says, string $change): void
    {
        $found = array_filter(
            (new MachineChecks($machine))->findings(),
            static fn(Finding $each): bool => $each->severity === $severity && str_contains($each->says, $says) && str_contains($each->change ?? '', $change),
        );
        self::assertCount(1, $found);
    }

    public function testRootsPoolsAreNotRemovedByLogind(): void
    {
        foreach ((new MachineChecks(self::machine(removesIpc: true, isSystemUser: true)))->findings() as $finding) {
            self::assertSame(Severity::Fine, $finding->severity);
        }
    }

    #[DataProvider('absentStores')]
    public function testAMisspeltOptionOfAStoreThatIsNotThereIsAProblem(string $dsn): void
    {
        $scratch = new Scratch();
        [$finding] = $found = (new StoreChecks(sprintf($dsn, $scratch->path), self::machine()))->findings();
        self::assertCount(1, $found);
        self::assertSame(Severity::Problem, $finding->severity);
        self::assertStringContainsString('The option "siez"', $finding->says);
        self::assertDirectoryDoesNotExist("{$scratch->path}/absent", 'A look makes nothing.');
    }

    /** @return iterable<string, array{string}> */
    public static function absentStores(): iterable
    {
        yield 'shm' => ['shm:doctor-absent?siez=3M'];
        yield 'sqlite' => ['sqlite:%s/absent?siez=3M'];
        yield 'file' => ['file:%s/absent?siez=3M'];
        yield 'php' => ['php:%s/absent?siez=3M'];
        yield 'far' => ['apcu: > sqlite:%s/absent?siez=3M'];
    }

    public function testAStoreIsOpenedAndTimed(): void
    {
        $scratch = new Scratch();
        $dsn = "sqlite:{$scratch->path}/cache.db";
        [$finding] = (new StoreChecks($dsn, self::machine()))->findings();
        self::assertSame([Severity::Advice, "It is not there yet: There is no database \"{$scratch->path}/cache.db\"; give the path of one, or store something to make it."], [$finding->severity, $finding->says]);
        self::assertFileDoesNotExist("{$scratch->path}/cache.db", 'A look makes nothing.');
        Cache::open($dsn)->set('a', 1);
        Cache::open($dsn)->delete('a');
        [$finding] = $found = (new StoreChecks($dsn, self::machine()))->findings();
        self::assertCount(1, $found);
        self::assertSame(Severity::Fine, $finding->severity);
        self::assertMatchesRegularExpression('/^A look-up takes [\d.]+ µs, a save [\d.]+ µs \(medians of 50, 1 KB\)\.$/', $finding->says);
        self::assertSame([], [...Cache::open($dsn)->store->keys()], 'Nothing is left behind.');
    }

    /** The memory of this very process. */
    public function testFreeMemoryOfApcuThatIsInPiecesIsFound(): void
    {
        apcu_clear_cache();
        try {
            self::assertSame(['ok'], self::severities('apcu:?prefix=doctor', self::machine(sapi: 'cli')));
            for ($last = 0; is_numeric($left = (apcu_sma_info(true) ?: [])['avail_mem'] ?? null) && $left > 500_000; $last++) {
                self::assertTrue(apcu_store("doctor {$last}", str_repeat('x', 19_000)));
            }
            self::assertGreaterThan(1_000, $last);
            for ($i = 0; $i < $last; $i += 2) {
                apcu_delete("doctor {$i}");
            }
            $found = (new StoreChecks('apcu:?prefix=doctor', self::machine()))->findings();
            self::assertSame(['ok', 'advice'], array_map(static fn(Finding $each): string => $each->severity->value, $found));
            self::assertMatchesRegularExpression('/^Its free memory, [\d.]+ MiB, is in \d+ pieces, the largest of /', $found[1]->says);
        } finally {
            apcu_clear_cache();
        }
    }

    public function testPagesOfAPoolThatWereCopiedBecauseSomethingWroteIntoAValueAreFound(): void
    {
        self::assertSame([], PoolChecks::findings('shm:shop', ['private_pages' => 0, 'hits' => 5]));
        self::assertSame([], PoolChecks::findings('array:', ['hits' => 5]));
        [$alone] = PoolChecks::findings('shm:shop', ['private_pages' => 1_500]);
        self::assertSame([Severity::Advice, 'shm:shop'], [$alone->severity, $alone->what]);
        self::assertStringContainsString('1,500 pages', $alone->says);
        self::assertStringContainsString('unserialize(serialize($value))', (string) $alone->change);
        [$near] = PoolChecks::findings('shm:shop > sqlite:far.db', ['page size' => 4096, 'near private_pages' => 1]);
        self::assertStringContainsString('one page of memory', $near->says);
    }

    public function testAPoolBesideWhatAnotherUserHasPutInItsPlaceIsFound(): void
    {
        foreach (['/dev/shm/larder-33/shop@8', '/dev/shm/larder-g50/shop@8', '/elsewhere/larder-33.d/shop'] as $path) {
            self::assertSame([], PoolChecks::findings('shm:shop', ['path' => $path]));
        }
        foreach (['path' => '/dev/shm/larder-33', 'near path' => '/dev/shm/larder-g50'] as $name => $home) {
            [$finding] = PoolChecks::findings('shm:shop', [$name => "{$home}.a-_Z09/shop@8"]);
            self::assertSame(Severity::Advice, $finding->severity);
            self::assertStringContainsString("{$home}.a-_Z09/shop@8, because {$home} is or was", $finding->says);
            self::assertStringStartsWith("rm -r {$home},", (string) $finding->change);
        }
    }

    public function testApcuThatWasFullIsFound(): void
    {
        $found = ApcuChecks::memory('apcu:', ['expunges' => 2.0, 'num_entries' => 10_000, 'num_slots' => 4_099], ['num_seg' => 1, 'seg_size' => 100 << 20, 'block_lists' => [[['size' => 50 << 20]]]]);
        self::assertSame(
            ['APCu was full and has dropped everything it had, 2 times.', 'It has 10,000 entries in 4,099 slots, so that looking one up takes long.'],
            array_map(static fn(Finding $each): string => $each->says, $found),
        );
        self::assertSame(['apc.shm_size=200M', 'apc.entries_hint=10000'], array_map(static fn(Finding $each): ?string => $each->change, $found));
        self::assertSame([], ApcuChecks::memory('apcu:', [], []), 'It tells nothing.');
    }

    /** @return iterable<string, array{array<mixed>, list<non-empty-string>}> what a server says of itself, and what is found in it */
    public static function servers(): iterable
    {
        $redis = ['maxmemory' => '268435456', 'maxmemory_policy' => 'allkeys-lru', 'total_system_memory' => '1073741824', 'rdb_last_bgsave_status' => 'ok', 'rejected_connections' => '0'];
        yield 'a Redis in order' => [$redis, ['ok: redis: The server evicts']];
        yield 'a Redis without a limit' => [['maxmemory' => '0', 'maxmemory_policy' => 'noeviction'] + $redis, ['advice: redis: The server has no limit']];
        yield 'a Redis that refuses' => [['maxmemory_policy' => 'noeviction'] + $redis, ['advice: redis: A full server refuses']];
        yield 'a Redis larger than its machine' => [['maxmemory' => '2147483648'] + $redis, ['problem: redis: The server may take 2.0 GiB', 'ok: redis: The server evicts']];
        yield 'a Redis that cannot save' => [['rdb_last_bgsave_status' => 'err'] + $redis, ['ok: redis: The server evicts', 'problem: redis: The server could not save']];
        yield 'a Redis with too many clients' => [['rejected_connections' => '7'] + $redis, ['ok: redis: The server evicts', 'advice: redis: The server has refused connections, 7']];
        yield 'a cluster, of which one master refuses' => [
            ['one:1' => $redis, 'two:2' => ['maxmemory_policy' => 'noeviction'] + $redis],
            ['ok: redis (one:1): The server evicts', 'advice: redis (two:2): A full server refuses'],
        ];
        $memcached = ['limit_maxbytes' => '67108864', 'evictions' => '5000', 'cmd_set' => '100000', 'listen_disabled_num' => '0'];
        yield 'a Memcached in order' => [$memcached, []];
        yield 'a Memcached that is too small' => [['evictions' => '50000'] + $memcached, ['advice: redis: Of what the server was given, it had to evict 50.0 %']];
        yield 'a Memcached with too many clients' => [['listen_disabled_num' => '3'] + $memcached, ['advice: redis: The server has let clients wait']];
        yield 'something else' => [['near bytes' => 5, 'tags' => 3], []];
    }

    /**
     * @param array<mixed>           $details
     * @param list<non-empty-string> $found
     */
    #[DataProvider('servers')]
    public function testWhatAServerSaysOfItselfIsLookedThrough(array $details, array $found): void
    {
        $findings = ServerChecks::findings('redis', $details);
        self::assertCount(\count($found), $findings);
        foreach ($findings as $i => $finding) {
            self::assertStringStartsWith($found[$i], "{$finding->severity->value}: {$finding->what}: {$finding->says}");
            self::assertSame($finding->severity === Severity::Fine, $finding->change === null);
        }
    }

    public function testALogThatMayBeEvictedIsAProblemAndOneOfAnOldServerIsTrimmedByLengthOnly(): void
    {
        $redis = ['maxmemory' => '268435456', 'maxmemory_policy' => 'allkeys-lru', 'redis_version' => '7.0.15'];
        $found = static fn(array $details): array => array_map(static fn(Finding $each): string => "{$each->severity->value}: {$each->says}", ServerChecks::findings('tier', $details, true));
        self::assertSame(['problem: The server may evict the log that near stores follow (allkeys-lru): they then begin anew each time.'], $found($redis));
        self::assertSame(['ok: The server evicts (volatile-lru): right for a cache, not for sessions and locks.'], $found(['maxmemory_policy' => 'volatile-lru'] + $redis));
        self::assertStringContainsString('trims the log that near stores follow by its length only', $found(['maxmemory_policy' => 'volatile-lru', 'redis_version' => '6.0.16'] + $redis)[0] ?? '');
    }

    public function testADatabaseThatIsMostlyEmptyIsFound(): void
    {
        $scratch = new Scratch();
        $dsn = "sqlite:{$scratch->path}/cache.db";
        $cache = Cache::open($dsn);
        $cache->setMany(array_fill_keys(array_map(static fn(int $i): string => "key {$i}", range(1, 60)), str_repeat('x', 1 << 20)));
        self::assertSame([], self::severities($dsn, self::machine()));
        $cache->deleteMany(array_map(static fn(int $i): string => "key {$i}", range(1, 59)));
        $found = (new StoreChecks($dsn, self::machine()))->findings();
        self::assertSame('advice', ($found[1] ?? null)?->severity->value, $found[0]->says);
        self::assertStringContainsString('hold nothing any more', $found[1]->says);
        self::assertSame("larder prune '{$dsn}'", $found[1]->change);
        while ($cache->store->prune() > 0) {
        }
        self::assertSame([], self::severities($dsn, self::machine()));
    }

    public function testMoreFilesThanOpcacheKeepsAreFound(): void
    {
        $scratch = new Scratch();
        $dsn = "php:{$scratch->path}/cache";
        Cache::open($dsn)->setMany(['a' => 1, 'b' => 2]);
        self::assertSame([], self::severities($dsn, self::machine(ini: ['opcache.max_accelerated_files' => '10000'])));
        self::assertSame(['advice'], self::severities($dsn, self::machine(ini: ['opcache.max_accelerated_files' => '2'])));
    }

    /** @return list<string> */
    private static function severities(string $dsn, Machine $machine): array
    {
        // How long a look-up takes is up to the machine.
        $found = array_filter((new StoreChecks($dsn, $machine))->findings(), static fn(Finding $each): bool => !str_starts_with($each->says, 'A look-up takes'));

        return array_map(static fn(Finding $each): string => $each->severity->value, array_values($found));
    }

    public function testADatabaseOnANetworkFileSystemIsAProblem(): void
    {
        $scratch = new Scratch();
        $machine = self::machine(mounts: ['/' => 'ext4', $scratch->path => 'nfs4']);
        $says = static fn(string $dsn): array => self::severities($dsn, $machine);
        foreach (["sqlite:{$scratch->path}/cache.db", "file:{$scratch->path}/cache", "sqlite:{$scratch->path}/behind.db"] as $dsn) {
            Cache::open($dsn)->set('a', 1);
        }
        self::assertSame(['problem'], $says("sqlite:{$scratch->path}/cache.db"));
        self::assertSame(['advice'], $says("file:{$scratch->path}/cache"));
        self::assertSame(['problem', 'ok'], $says("array: > sqlite:{$scratch->path}/behind.db"), 'What the near store has followed is told as well.');
        self::assertSame([], $says('array:'));
    }

    public function testAHostWithoutMemoryForTagsIsToldSo(): void
    {
        foreach ([[true, [], 1], [true, ['apcu'], 0], [true, ['larder'], 0], [false, [], 0]] as [$areNear, $extensions, $problems]) {
            $found = ServerChecks::tags('redis', $areNear, [...$extensions, 'redis']);
            self::assertCount($problems, array_filter($found, static fn(Finding $each): bool => $each->severity === Severity::Problem));
            self::assertCount($problems, $found);
        }
    }

    public function testWhatElseANearStoreIsUsedForIsAProblem(): void
    {
        $scratch = new Scratch();
        $name = 'test' . bin2hex(random_bytes(4));
        $says = static fn(string $dsn): array => array_map(
            static fn(Finding $each): string => "{$each->severity->value}: {$each->says}",
            array_values(array_filter((new StoreChecks($dsn, self::machine()))->findings(), static fn(Finding $each): bool => preg_match('/near store/', $each->says) === 1)),
        );
        try {
            [$one, $other] = ["shm:{$name}?size=8M > sqlite:{$scratch->path}/one.db", "shm:{$name}?size=8M > sqlite:{$scratch->path}/other.db"];
            $cache = Cache::open($one);
            self::assertTrue($cache->set('key', 1));
            [$pool, $followed] = $says($one) + ['', ''];
            self::assertMatchesRegularExpression("/^ok: The near store is the pool \"{$name}\\.[0-9a-f]{16}\"\\. A tier over another far store has another pool, also if its DSN gives the same name\\.\$/", $pool);
            self::assertStringStartsWith('ok: The near store has followed', $followed);
            $cache->refresh();
            self::assertSame(1, $cache->get('key'));
            self::assertContains('ok: The near store has followed the whole log.', $says($one));
            self::assertNotSame($pool, $says($other)[0] ?? '');
            self::assertSame(['ok: A tier has it as its far store: the near stores learn of each change from its log.'], $says("sqlite:{$scratch->path}/one.db"));
            self::assertSame([], $says("shm:{$name}?size=8M"));
            $own = substr($pool, \strlen('ok: The near store is the pool "'), \strlen($name) + 17);
            self::assertSame(["problem: It is the near store of a tier in front of sqlite {$scratch->path}/one.db: other items in it are deleted whenever that begins anew."], $says("shm:{$own}"));
        } finally {
            Pools::remove($name);
        }
    }

    public function testAStoreThatIsDownOrUnknownIsAProblem(): void
    {
        foreach (['redis://user:hunter2@127.0.0.1:1' => 'is unavailable', 'nonsense' => 'has no scheme', 'array:?itmes=5' => 'did you mean'] as $dsn => $says) {
            [$finding] = (new StoreChecks($dsn, self::machine()))->findings();
            self::assertSame(Severity::Problem, $finding->severity);
            self::assertStringContainsString($says, "{$finding->says} {$finding->change}");
            self::assertStringNotContainsString('hunter2', $finding->what . $finding->says . $finding->change);
        }
    }

    /** @return iterable<string, array{string, string}> a DSN with DIRECTORY in it, and what is to be changed about it */
    public static function changes(): iterable
    {
        yield 'a misspelt option' => ['array:?sise=5M', 'did you mean "size"?'];
        yield 'no directory' => ['sqlite:DIRECTORY/none/cache.db', 'create it, or name another place for the database'];
        yield 'a server that is down' => ['redis://127.0.0.1:1', 'see that it runs and that the DSN\'s address, user, password and database are right'];
        yield 'a database that is not there' => ['sqlite:DIRECTORY/cache.db', 'larder set \'sqlite:DIRECTORY/cache.db\' KEY VALUE, which makes it'];
    }

    #[DataProvider('changes')]
    public function testEachThingThatIsWrongComesWithTheLineToChange(string $dsn, string $change): void
    {
        $scratch = new Scratch();
        $findings = array_filter((new StoreChecks(str_replace('DIRECTORY', $scratch->path, $dsn), self::machine()))->findings(), static fn(Finding $each): bool => $each->severity !== Severity::Fine);
        self::assertCount(1, $findings);
        self::assertStringContainsString(str_replace('DIRECTORY', $scratch->path, $change), (string) array_values($findings)[0]->change);
    }

    public function testMountsAreRead(): void
    {
        $mounts = Machine::mountsIn("/dev/sda1 / ext4 rw 0 0\nserver:/export /mnt/a\\040b nfs rw 0 0\ntmpfs /run tmpfs rw 0 0\n\n");
        self::assertSame(['/' => 'ext4', '/mnt/a b' => 'nfs', '/run' => 'tmpfs'], $mounts);
        $machine = self::machine(mounts: $mounts);
        self::assertSame('nfs', $machine->fileSystemOf('/mnt/a b/deep/cache.db'));
        self::assertSame('ext4', $machine->fileSystemOf('/mnt/other'));
        self::assertNull(self::machine()->fileSystemOf('/var'));
        self::assertTrue(Machine::removesIpc(["[Login]\n#RemoveIPC=no\n RemoveIPC = Yes\n"]));
        self::assertTrue(Machine::removesIpc(["[Login]\n#RemoveIPC=no\n"]), 'It is logind\'s default.');
        self::assertTrue(Machine::removesIpc([]));
        self::assertFalse(Machine::removesIpc(["[Login]\nRemoveIPC=yes", "[Login]\nRemoveIPC=no"]));
        self::assertFalse(Machine::removesIpc(["[Login]\r\nRemoveIPC=false\r\n"]));
    }

    public function testThisMachineIsLookedAt(): void
    {
        $machine = Machine::this();
        self::assertSame(\PHP_SAPI, $machine->sapi);
        self::assertContains('standard', $machine->extensions);
        self::assertNotSame([], $machine->mounts);
        self::assertGreaterThan(0, $machine->shmTotal);
    }

    public function testTheCommandPrintsAndItsExitCodeTellsOfProblems(): void
    {
        $tester = new CommandTester(new DoctorCommand(self::machine()));
        self::assertSame(0, $tester->execute(['dsn' => ['array:']]));
        self::assertStringContainsString('ok      extension larder: It is loaded.', $tester->getDisplay());
        $tester = new CommandTester(new DoctorCommand(self::machine(ini: ['apc.enabled' => '0'])));
        self::assertSame(1, $tester->execute([]));
        self::assertStringContainsString("problem APCu: It is loaded, but switched off.\n        change: apc.enabled=1\n", $tester->getDisplay());
        self::assertSame(1, $tester->execute(['--json' => true]));
        $answer = json_decode($tester->getDisplay(), true);
        self::assertIsArray($answer);
        self::assertIsArray($answer['findings']);
        self::assertContains(['severity' => 'problem', 'what' => 'APCu', 'says' => 'It is loaded, but switched off.', 'change' => 'apc.enabled=1'], $answer['findings']);
        self::assertSame(0, (new CommandTester(new DoctorCommand(self::machine(extensions: []))))->execute([]), 'Advice is no problem.');
    }

    /**
     * @param list<string>                                                 $extensions
     * @param array<string, string>                                        $ini
     * @param array<string, string>                                        $mounts
     * @param ?array{used: int, wasted: int, size: int, full: bool}        $opcache
     */
    private static function machine(
        string $sapi = 'fpm-fcgi',
        array $extensions = self::ALL,
        array $ini = ['apc.enabled' => '1', 'apc.shm_size' => '128M'],
        array $mounts = [],
        ?int $shmTotal = 1 << 30,
        ?int $shmFree = 1 << 29,
        ?array $opcache = ['used' => 10, 'wasted' => 0, 'size' => 100, 'full' => false],
        bool $removesIpc = false,
        bool $isSystemUser = false,
    ): Machine {
        return new Machine($sapi, $extensions, $ini, $mounts, $shmTotal, $shmFree, $opcache, $removesIpc, $isSystemUser);
    }
}
