<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Item;
use Larder\Store\Sqlite\Database;
use Larder\Store\Sqlite\LogFile;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** A request that is alone with a database closes the last connection to it, each time. */
#[CoversClass(Database::class)]
#[CoversClass(LogFile::class)]
final class LoneRequestTest extends TestCase
{
    /** Larger than a save of one small item makes a log, and what SQLite adds to its pages. */
    private const TRANSACTION = 64 << 10;

    private ?Scratch $scratch = null;

    private string $path = '';

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->path = "{$this->scratch->path}/cache.db";
        (new SqliteStore($this->path))->save([new Item('there', 1)]);
    }

    /** @return iterable<string, array{string}> */
    public static function requests(): iterable
    {
        yield 'a write' => ['$store->save([new Larder\Item("key", 2)]);'];
        yield 'a read' => ['$store->fetch(["there"]);'];
        yield 'a read and a write' => ['$store->fetch(["there"]); $store->save([new Larder\Item("key", 2)]);'];
        yield 'a write in a request that ends before its time' => ['$store->save([new Larder\Item("key", 2)]); exit(0);'];
    }

    #[DataProvider('requests')]
    public function testALoneRequestDoesNotWaitForTheDisk(string $code): void
    {
        self::assertSame([], $this->syncs($code));
        self::assertSame([], $this->syncs($code));
        self::assertCount(1, (new SqliteStore($this->path))->fetch(['there'])->items);
    }

    public function testWhatALoneRequestHasWrittenTheNextOneReads(): void
    {
        $this->syncs('$store->save([new Larder\Item("key", "value")]);');

        self::assertSame('value', (new SqliteStore($this->path))->fetch(['key'])->items['key']->value);
    }

    /** @return iterable<string, array{?int, int}> */
    public static function sizes(): iterable
    {
        yield 'without a size' => [null, 256 << 10];
        yield 'of one megabyte' => [1 << 20, 256 << 10];
    }

    #[DataProvider('sizes')]
    public function testTheLogThatLoneRequestsLeaveIsCarriedOverBeforeItIsLong(?int $size, int $most): void
    {
        $longest = 0;
        $carried = false;
        for ($i = 0; $i < 200; $i++) {
            (new SqliteStore($this->path, size: $size))->save([new Item("key {$i}", str_repeat('x', 500))]);
            clearstatcache();
            $length = (int) @filesize("{$this->path}-wal");
            $carried = $carried || ($length < $longest && (int) filesize($this->path) > 100_000);
            $longest = max($longest, $length);
        }

        self::assertTrue($carried);
        self::assertLessThanOrEqual($most + self::TRANSACTION, $longest);
        self::assertCount(200, (new SqliteStore($this->path))->fetch(array_map(static fn(int $i): string => "key {$i}", range(0, 199)))->items);
    }

    public function testARequestThatOnlyReadsOpensTheDatabaseOnce(): void
    {
        self::assertCount(1, $this->openings('$store->fetch(["there"]);'));
        self::assertCount(2, $this->openings('$store->fetch(["there"]); $store->save([new Larder\Item("key", 2)]);'));
    }

    public function testALongLogThatIsLeftBehindIsCarriedOverByRequestsThatOnlyRead(): void
    {
        $this->leaveALongLog();
        $length = filesize("{$this->path}-wal");
        self::assertGreaterThan(256 << 10, $length);
        for ($requests = 0; $requests < 1_000 && $length > 256 << 10; $requests++) {
            self::assertCount(1, (new SqliteStore($this->path))->fetch(['there'])->items);
            clearstatcache();
            $length = (int) @filesize("{$this->path}-wal");
        }

        self::assertLessThanOrEqual(256 << 10, $length);
        self::assertCount(1, (new SqliteStore($this->path))->fetch(['last'])->items);
    }

    public function testARequestThatIsNotAloneDisturbsNoOther(): void
    {
        $other = new SqliteStore($this->path);
        for ($i = 0; $i < 3; $i++) {
            $other->save([new Item('mine', $i)]);
            $this->syncs('$store->save([new Larder\Item("key", ' . $i . ')]);');
            self::assertSame([$i, $i], array_map(static fn(Item $item): mixed => $item->value, array_values($other->fetch(['mine', 'key'])->items)));
        }
    }

    public function testAChildThatEndsLeavesItsParentsConnectionAlone(): void
    {
        $store = new SqliteStore($this->path);
        $store->save([new Item('key', 'before')]);
        $this->syncs('$store->save([new Larder\Item("key", "parent")]); $child = pcntl_fork(); $child === 0 && exit(0); pcntl_waitpid($child, $status);'
            . ' $store->save([new Larder\Item("key", "after")]); $store->fetch(["key"])->items["key"]->value === "after" || exit(1);');

        self::assertSame('after', $store->fetch(['key'])->items['key']->value);
    }

    public function testADatabaseThatWasReplacedGetsNothingBesideIt(): void
    {
        $store = new SqliteStore($this->path);
        $store->save([new Item('key', 1)]);
        foreach (['', '-wal', '-shm'] as $suffix) {
            @unlink($this->path . $suffix);
        }
        $other = new \SQLite3($this->path);
        $other->exec('PRAGMA journal_mode = WAL; CREATE TABLE other (column)');
        $other->close();
        unset($store);

        self::assertSame([$this->path], array_values(array_filter([$this->path, "{$this->path}-wal", "{$this->path}-shm"], file_exists(...))));
    }

    public function testARequestThatCanOpenNoOtherFileLosesNothing(): void
    {
        $this->syncs('$store->save([new Larder\Item("key", 2)]); posix_setrlimit(POSIX_RLIMIT_NOFILE, 0, 0);');

        self::assertSame(2, (new SqliteStore($this->path))->fetch(['key'])->items['key']->value);
    }

    /** As a process does that is killed. */
    private function leaveALongLog(): void
    {
        $code = 'require $argv[1]; $store = new Larder\Store\SqliteStore($argv[2]); $store->save([new Larder\Item("large", random_bytes(1 << 19))]); $store->save([new Larder\Item("last", 1)]); posix_kill(getmypid(), SIGKILL);';
        (new Process(['sh', '-c', '"$@" || true', 'sh', \PHP_BINARY, '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', $this->path], timeout: null))->mustRun();
    }

    /**
     * @return list<string> the calls with which a process that runs the code has waited for its disk
     *
     * @phpstan-impure
     */
    private function syncs(string $code): array
    {
        return $this->calls($code, 'fsync,fdatasync,sync_file_range', 'sync');
    }

    /**
     * @return list<string> the calls with which a process that runs the code has opened the database's file
     *
     * @phpstan-impure
     */
    private function openings(string $code): array
    {
        return $this->calls($code, 'open,openat', "\"{$this->path}\"");
    }

    /**
     * @return list<string> those in which there is such a text
     *
     * @phpstan-impure
     */
    private function calls(string $code, string $names, string $text): array
    {
        $calls = "{$this->scratch?->path}/calls";
        $process = new Process(['strace', '-f', '-qq', '-o', $calls, '-e', "trace={$names}", \PHP_BINARY, '-r', 'require $argv[1]; $store = new Larder\Store\SqliteStore($argv[2]); ' . $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', $this->path], timeout: null);
        self::assertSame('', $process->mustRun()->getOutput());

        return array_values(array_filter(explode("\n", (string) file_get_contents($calls)), static fn(string $line): bool => str_contains($line, $text)));
    }
}
