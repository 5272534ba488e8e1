<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Tier;

use Larder\Item;
use Larder\Store\ArrayStore;
use Larder\Store\Sqlite\HeadFile;
use Larder\Store\Sqlite\SqliteLog;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What becomes of a near store when the far one is removed, or an older one takes its place. */
#[CoversClass(HeadFile::class)]
#[CoversClass(SqliteLog::class)]
#[CoversClass(TieredStore::class)]
final class RestoredDatabaseTest extends TestCase
{
    /** @return iterable<string, array{\Closure(string, string): void, ?string}> what is done to a database and its copy, and what there is then */
    public static function restores(): iterable
    {
        $without = static function (string $path): void {
            array_map(unlink(...), glob("{$path}-{wal,shm}", \GLOB_BRACE) ?: []);
        };
        yield 'removed' => [static function (string $path) use ($without): void {
            unlink($path);
            $without($path);
        }, null];
        yield 'another renamed over it' => [static function (string $path, string $copy) use ($without): void {
            $without($path);
            rename($copy, $path);
        }, 'old'];
        yield 'removed, and a copy of another put there' => [static function (string $path, string $copy) use ($without): void {
            unlink($path);
            $without($path);
            copy($copy, $path);
        }, 'old'];
        yield 'restored by SQLite, and the head removed' => [static function (string $path, string $copy): void {
            (new \SQLite3($copy))->backup(new \SQLite3($path));
            array_map(unlink(...), glob("{$path}-head-*") ?: []);
        }, 'old'];
        yield 'written over, when no process had it open' => [static function (string $path, string $copy) use ($without): void {
            $without($path);
            // Times are told in whole seconds, by a clock that may be a little behind that of time().
            while (touch("{$path}.probe") && filectime("{$path}.probe") <= filectime($path)) {
                usleep(1_000);
            }
            copy($copy, $path);
        }, 'old'];
    }

    /** @return array<string, array{\Closure(string, string): void, ?string}> those that may be done while a process has it open */
    public static function restoresBesideAProcess(): array
    {
        return array_filter(iterator_to_array(self::restores()), static fn(string $name): bool => !str_contains($name, 'no process'), \ARRAY_FILTER_USE_KEY);
    }

    private static function tier(ArrayStore $near, string $path): TieredStore
    {
        $far = new SqliteStore($path, timeout: 30.0);

        return new TieredStore($near, $far, $far->log());
    }

    /** @param \Closure(string, string): void $restore */
    #[DataProvider('restores')]
    public function testADatabaseThatWasRemovedOrRestoredWhileItsHeadStaysIsNoticed(\Closure $restore, ?string $there): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/restored.db";
        $near = new ArrayStore();
        $open = static fn(): TieredStore => self::tier($near, $path);
        $open()->save([new Item('key', 'old')]);
        (new \SQLite3($path))->exec("VACUUM INTO '{$path}.copy'");
        $open()->save([new Item('key', 'new')]);
        self::assertSame('new', $open()->read('key'));
        $worker = str_contains((string) $this->dataName(), 'no process') ? null : $open();
        self::assertSame('new', $worker === null ? 'new' : $worker->far->fetch(['key'])->items['key']->value ?? null);
        $restore($path, "{$path}.copy");
        self::assertSame($there, $open()->read('key'));
        if ($worker !== null) {
            $worker->beginRequest();
            self::assertSame($there, $worker->read('key'));
            self::assertSame([], $worker->save([new Item('key', 'newest')]));
            self::assertSame('newest', $open()->far->fetch(['key'])->items['key']->value ?? null, 'It does not write into a file that is gone.');
        }
    }

    /** @param \Closure(string, string): void $restore */
    #[DataProvider('restoresBesideAProcess')]
    public function testARequestThatGoesOnWithTheFormerDatabaseKeepsNothingInANearStoreOfTheNewOne(\Closure $restore, ?string $there): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/restored.db";
        $near = new ArrayStore();
        $open = static fn(): TieredStore => self::tier($near, $path);
        $open()->save([new Item('key', 'old'), new Item('first', 'value')]);
        (new \SQLite3($path))->exec("VACUUM INTO '{$path}.copy'");
        $worker = $open();
        $worker->save([new Item('key', 'new')]);
        self::assertSame('value', $worker->read('first'));
        $restore($path, "{$path}.copy");
        self::assertSame($there === null ? null : 'value', $open()->read('first'));
        $worker->read('key');
        self::assertSame([$there, $there], [$open()->read('key'), $near->read('key')]);
    }

    public function testANearStoreThatBeginsAnewWhileARequestAsksTheLogIsNotReadByIt(): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/restored.db";
        $near = new ArrayStore();
        $far = new SqliteStore($path, timeout: 30.0);
        $log = new BreakableLog($far->log());
        $worker = new TieredStore($near, $far, $log);
        $worker->save([new Item('key', 'old'), new Item('first', 'value')]);
        (new \SQLite3($path))->exec("VACUUM INTO '{$path}.copy'");
        $worker->save([new Item('key', 'new')]);
        self::assertSame('value', $worker->read('first'));
        $other = new SqliteStore($path, timeout: 30.0);
        (new TieredStore(new ArrayStore(), $other, $other->log()))->save([new Item('other', 'value')]);
        $log->afterwards = static function () use ($path, $near): void {
            array_map(unlink(...), glob("{$path}-{wal,shm}", \GLOB_BRACE) ?: []);
            rename("{$path}.copy", $path);
            $far = new SqliteStore($path, timeout: 30.0);
            self::assertSame('old', (new TieredStore($near, $far, $far->log()))->read('key'));
        };
        $worker->beginRequest();
        self::assertSame('new', $worker->read('key'), 'It has the former database open.');
        self::assertSame('old', $near->read('key'));
        $worker->beginRequest();
        self::assertSame('old', $worker->read('key'));
    }
}
