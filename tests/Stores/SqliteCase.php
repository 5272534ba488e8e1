<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Serializer\Payload;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;

/** A store in an SQLite database, or a part of one: what it is about has the prefix "test". */
abstract class SqliteCase extends NamedStoreCase
{
    private ?Scratch $scratch = null;

    /** Seconds by which the stores' clock is ahead. */
    private int $ahead = 0;

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->scratch = null;
    }

    final public function losses(): iterable
    {
        $this->store()->fetch(['key']);
        yield from Losses::inSqlite(new \SQLite3("{$this->scratch?->path}/cache.db"), 'test');
    }

    final protected function inDatabase(string $prefix): SqliteStore
    {
        $this->scratch ??= new Scratch();

        return new SqliteStore($this->scratch->path . '/cache.db', $prefix, Payload::named('igbinary'), 30.0, clock: fn(): int => time() + $this->ahead);
    }

    final public function waitFor(float $seconds): void
    {
        $this->ahead += (int) ceil($seconds);
    }

    /** Without the pages that are free: each prune gives some of them back. */
    final public function footprint(): int
    {
        $statistics = $this->store()->statistics();
        [$free, $size] = [$statistics->details['free pages'] ?? 0, $statistics->details['page size'] ?? 0];
        self::assertTrue(\is_int($free) && \is_int($size));

        return (int) $statistics->bytes - $free * $size;
    }

    /** @param \Closure(string): string $forge */
    final protected function forgeInDatabase(string $key, \Closure $forge): bool
    {
        Forgery::inSqlite("{$this->scratch?->path}/cache.db", 'test', $key, $forge);

        return true;
    }
}
