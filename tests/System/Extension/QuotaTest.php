<?php

declare(strict_types=1);

namespace Larder\Tests\System\Extension;

use Larder\SharedMemory;
use PHPUnit\Framework\Attributes\CoversNothing;

/** How much of a pool the requests of PHP-FPM use in place. */
#[CoversNothing]
final class QuotaTest extends WorkersCase
{
    private const SIZE = 16 << 20;
    private const ITEMS = 30; // of 100,000 bytes: far more than a sixteenth of the pool, and less than three eighths

    public function testAWorkerCopiesNothingInItsFirstRequestBesideAnotherProcess(): void
    {
        $pool = SharedMemory::open($this->pool, self::SIZE);
        for ($number = 0; $number < self::ITEMS; $number++) {
            $pool->set("item {$number}", [str_repeat('x', 100_000)]);
        }
        $this->workers = new Workers([], 1);
        self::assertSame('0', $this->workers->client->get($this->scratch->path . '/quota.php', ['pool' => $this->pool, 'items' => self::ITEMS]));
        self::assertSame([], $this->workers->crashes());
    }
}
