<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Remember;

use Larder\Cache;
use Larder\Store\ArrayStore;
use Larder\Tests\EventList;
use Larder\Tests\MemoryLogger;
use PHPUnit\Framework\TestCase;

/** Two caches over one store are to each other like two processes. */
abstract class RememberingCase extends TestCase
{
    protected float $now = 1_000_000.0;

    protected readonly ArrayStore $store;

    protected readonly MemoryLogger $logger;

    protected function setUp(): void
    {
        $this->store = new ArrayStore(clock: fn(): int => (int) $this->now);
        $this->logger = new MemoryLogger();
    }

    /** @return iterable<string, array{bool}> */
    public static function ways(): iterable
    {
        yield 'directly' => [true];
        yield 'through fetch' => [false];
    }

    /** @return \Closure(): mixed */
    protected static function gives(mixed $value): \Closure
    {
        return static fn(): mixed => $value;
    }

    protected static function down(): mixed
    {
        throw new \DomainException('down');
    }

    protected static function nobody(): mixed
    {
        self::fail('Two computed.');
    }

    protected function cache(bool $isDirect = true): Cache
    {
        // A cache with a listener gives up the direct way.
        $events = $isDirect ? null : new EventList();

        return new Cache($this->store, logger: $this->logger, events: $events, clock: fn(): float => $this->now);
    }
}
