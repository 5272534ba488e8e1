<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Leases;
use Larder\Reads;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\SqliteStore;
use Larder\Tests\Contract\RequestEachTime;
use Larder\Tests\Scratch;
use Larder\Tier\TieredStore;

/** What a near store in front of SQLite promises, whichever it is: all that SQLite does, and the same to everyone. */
abstract class TieredStoreCase extends NamedStoreCase
{
    private ?Scratch $scratch = null;

    /** @param string $name one near store for each */
    abstract protected function near(string $name): Store&Reads;

    /** Whether there is an array in front of that. */
    protected function hasThreeTiers(): bool
    {
        return false;
    }

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->scratch = null;
    }

    public function losses(): iterable
    {
        $this->store()->fetch(['key']);
        $database = new \SQLite3("{$this->path()}/cache.db");
        $database->busyTimeout(30_000);
        yield from Losses::inSqlite($database, 'test', ['clock', 'tags', 'items', 'log']);
        yield 'the end of the log' => static function () use ($database): void {
            $database->exec('DELETE FROM "log:test" WHERE id = (SELECT max(id) FROM "log:test")');
        };
        yield 'the head' => function (): void {
            @unlink("{$this->path()}/cache.db-head-test");
        };
        yield 'the near store' => fn() => $this->near('test')->clear();
    }

    /** Without the log, which is as long as it may be and no longer (see SqliteLogTest), and without pages that are free. */
    public function footprint(): int
    {
        $near = $this->store()->statistics()->details['near bytes'] ?? 0;
        $database = new \SQLite3("{$this->path()}/cache.db");
        $database->busyTimeout(30_000);
        $database->exec('DELETE FROM "log:test" WHERE id < (SELECT max(id) FROM "log:test")');
        [$pages, $free, $size] = array_map(static fn(string $name): mixed => $database->querySingle("PRAGMA {$name}"), ['page_count', 'freelist_count', 'page_size']);
        self::assertTrue(\is_int($near) && \is_int($pages) && \is_int($free) && \is_int($size));

        return ($pages - $free) * $size + $near;
    }

    /** Those of the tier itself, which a store of chaos does not pass on. */
    public function leases(): Leases
    {
        $store = $this->store();
        self::assertTrue($store instanceof ChaosStore && $store->store instanceof Leases);

        return $store->store;
    }

    protected function named(string $name): ChaosStore
    {
        return RequestEachTime::of($this->tier($name));
    }

    final protected function tier(string $name): TieredStore
    {
        $far = new SqliteStore("{$this->path()}/cache.db", $name, timeout: 30.0);
        $log = $far->log();
        $tier = new TieredStore($this->near($name), $far, $log);

        return $this->hasThreeTiers() ? new TieredStore(new ArrayStore(), $tier, $log) : $tier;
    }

    protected function path(): string
    {
        $this->scratch ??= new Scratch();

        return $this->scratch->path;
    }

    public function forge(string $key, \Closure $forge): bool
    {
        Forgery::inSqlite("{$this->path()}/cache.db", 'test', $key, $forge);
        $this->near('test')->clear();
        // A change of the far store alone is told to no process, and the near one would still have it.
        $this->leave();

        return true;
    }
}
