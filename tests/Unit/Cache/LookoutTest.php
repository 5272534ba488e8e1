<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\Lookout;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Lookout::class)]
final class LookoutTest extends TestCase
{
    public function testARequestThatLastsSeesWhatOthersHaveDoneAndItsMissesAreStillJudged(): void
    {
        $pools = new Pools();
        $dsn = "array: > {$pools->dsn('SQLite')}";
        $cache = Cache::open($dsn);
        $other = Cache::open($dsn);
        $other->set('signal', 'go on');
        $lookout = Lookout::of($cache);
        self::assertNotNull($lookout);
        self::assertSame('go on', $cache->get('signal'));
        $other->set('signal', 'stop');
        usleep(1_100_000);
        // A miss would have it look, too.
        self::assertSame(['signal' => 'go on'], $cache->getMany(['signal']));
        $lookout->look('signal');
        self::assertSame('stop', $cache->get('signal'));
        self::assertNull($cache->get('missing'));
        $other->set('missing', 'theirs');
        usleep(1_100_000);
        $lookout->look('signal');
        self::assertFalse($cache->set('missing', 'outdated'));
    }

    public function testWhatLiesInOneStoreNeedsNone(): void
    {
        self::assertNull(Lookout::of(Cache::open('array:')));
    }
}
