<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Serializer\Payload;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(SqliteStore::class)]
final class SqliteStoreTest extends NamedStoreContract
{
    private ?Scratch $scratch = null;

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->scratch = null;
    }

    protected function losses(): iterable
    {
        $this->store()->fetch(['key']);
        $database = new \SQLite3("{$this->scratch?->path}/cache.db");
        yield 'the clock' => static function () use ($database): void {
            $database->exec('DELETE FROM "clock:test"');
        };
        yield 'the tags' => static function () use ($database): void {
            $database->exec('DELETE FROM "tags:test"');
        };
        yield 'the items' => static function () use ($database): void {
            $database->exec('DELETE FROM "items:test"');
        };
    }

    protected function named(string $name): SqliteStore
    {
        $this->scratch ??= new Scratch();

        return new SqliteStore($this->scratch->path . '/cache.db', $name, Payload::named('igbinary'), 30.0);
    }

    /** Without the pages that are free: each prune gives some of them back. */
    protected function footprint(): int
    {
        $statistics = $this->store()->statistics();
        [$free, $size] = [$statistics->details['free pages'] ?? 0, $statistics->details['page size'] ?? 0];
        self::assertTrue(\is_int($free) && \is_int($size));

        return (int) $statistics->bytes - $free * $size;
    }

    protected function forge(string $key, \Closure $forge): bool
    {
        Forgery::inSqlite("{$this->scratch?->path}/cache.db", 'test', $key, $forge);

        return true;
    }
}
