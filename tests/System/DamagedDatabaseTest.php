<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Store\Sqlite\Database;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What SqliteStore says of a database that is damaged, and whether it helps to do what it says. LocalFailureTest has what becomes of a cache. */
#[CoversClass(SqliteStore::class)]
#[CoversClass(Database::class)]
final class DamagedDatabaseTest extends TestCase
{
    private const PAGE = 4_096;

    /** @return iterable<string, array{\Closure(string): void}> what damages the file of that path */
    public static function damages(): iterable
    {
        foreach (['items', 'clock', 'tags'] as $table) {
            yield "the first page of the {$table}" => [static function (string $path) use ($table): void {
                $database = new \SQLite3($path);
                $page = $database->querySingle("SELECT rootpage FROM sqlite_master WHERE name = '{$table}:larder'");
                self::assertIsInt($page);
                $database->close();
                self::overwrite($path, ($page - 1) * self::PAGE, self::PAGE);
            }];
        }
        yield 'the names of the tables' => [static fn(string $path) => self::overwrite($path, 100, self::PAGE - 100)];
        yield 'the head' => [static fn(string $path) => self::overwrite($path, 0, 100)];
        yield 'the end' => [static function (string $path): void {
            $file = fopen($path, 'r+');
            self::assertIsResource($file);
            ftruncate($file, 2 * self::PAGE);
            fclose($file);
        }];
        yield 'all of it' => [static function (string $path): void {
            file_put_contents($path, "This is a precious text.\n");
        }];
    }

    /** @param \Closure(string): void $damage */
    #[DataProvider('damages')]
    public function testADamagedDatabaseIsSaidToBeOneAndCanBeMovedAway(\Closure $damage): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/cache.db";
        $store = new SqliteStore($path);
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 499));
        $store->save(array_map(static fn(string $key): Item => new Item($key, str_repeat('x', 500), tags: ['tag']), $keys));
        $store->invalidateTags(['another']);
        unset($store);
        $damage($path);

        $store = new SqliteStore($path);
        $said = $others = [];
        foreach ([
            static fn(): mixed => $store->fetch($keys),
            static fn(): mixed => $store->save([new Item('key 7', 'new')]),
            static fn(): mixed => $store->increment('counter'),
            static fn(): mixed => $store->delete($keys),
            static fn(): mixed => $store->touch($keys, 10),
            static fn() => $store->invalidateTags(['tag']),
            static fn(): mixed => $store->prune(),
            static fn(): mixed => $store->keys(),
            static fn(): mixed => $store->statistics(),
            static fn() => $store->clear(),
        ] as $use) {
            try {
                $use();
            } catch (StoreUnavailable $failure) {
                str_ends_with($failure->getMessage(), '; the file is damaged or no database, move it away.') && $failure->takesNothing
                    ? $said[] = $failure->getMessage()
                    : $others[] = $failure->getMessage();
            }
        }
        self::assertSame([], $others);
        self::assertStringStartsWith("The SQLite database \"{$path}\" is unavailable: ", $said[0] ?? '');

        rename($path, "{$path}.damaged");
        $store->beginRequest();
        self::assertSame([], $store->save([new Item('key', 'new')]));
        self::assertSame('new', (new SqliteStore($path))->fetch(['key'])->items['key']->value ?? null);
        self::assertSame(['key'], [...$store->keys()]);
    }

    public function testALockedDatabaseIsSaidToBeOne(): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/cache.db";
        $store = new SqliteStore($path, timeout: 0.01);
        $store->save([new Item('key', 'value')]);
        $other = new \SQLite3($path);
        $other->exec('BEGIN IMMEDIATE');
        try {
            $store->save([new Item('key', 'new')]);
            self::fail('It was stored.');
        } catch (StoreUnavailable $failure) {
            self::assertStringEndsWith('database is locked; another process holds its lock, raise the timeout if that is usual.', $failure->getMessage());
            self::assertFalse($failure->takesNothing);
        }
        $other->exec('ROLLBACK');
        self::assertSame([], $store->save([new Item('key', 'new')]));
    }

    private static function overwrite(string $path, int $offset, int $bytes): void
    {
        $file = fopen($path, 'r+');
        self::assertIsResource($file);
        fseek($file, $offset);
        fwrite($file, str_repeat("\xff", $bytes));
        fclose($file);
    }
}
