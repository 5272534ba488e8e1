<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\Refusal;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Refusal::class)]
final class RefusalTest extends TestCase
{
    public function testALineSaysWhyAStoreRefusesToSave(): void
    {
        $scratch = new Scratch();
        $small = Cache::open('array:?size=1M', logger: $log = new MemoryLogger());
        self::assertFalse($small->set('large', str_repeat('x', 2_000_000)));
        self::assertSame(["warning: The cache's store refuses to save: the value is too large for it."], $log->lines);
        self::assertSame('TooLarge', $log->contexts[0]['refusal']);

        $dsn = "sqlite:{$scratch->path}/cache.db?size=1M&evict=no";
        $full = Cache::open($dsn, logger: $log = new MemoryLogger());
        for ($i = 0; $i < 2_000 && $full->set("key {$i}", random_bytes(1_000)); $i++);
        self::assertSame(["warning: The cache's store refuses to save: it is full, see its size and whether it evicts."], $log->lines);

        $dsn = "sqlite:{$scratch->path}/other.db";
        $late = Cache::open($dsn, logger: $log = new MemoryLogger());
        $late->get('page');
        Cache::open($dsn)->delete('page');
        self::assertFalse($late->set('page', 'old'));
        self::assertSame(["notice: The cache's store refuses to save: the value is outdated, as its key was deleted, overwritten or invalidated since its computation began."], $log->lines);
        self::assertSame([], [...Cache::open($dsn)->store->keys()], 'Nothing is left of the trial.');
    }
}
