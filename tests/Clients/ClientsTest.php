<?php

declare(strict_types=1);

namespace Larder\Tests\Clients;

use Larder\Cache;
use Larder\Psr16\SimpleCache;
use Larder\Psr6\CachePool;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Tests\System\Place;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Component\Cache\Adapter\FilesystemAdapter;
use Symfony\Component\Cache\Adapter\Psr16Adapter;
use Symfony\Component\HttpKernel\DependencyInjection\ServicesResetter;

/** Clients that others have written come over a pool of ours to what they come to over Symfony's. */
#[CoversNothing]
final class ClientsTest extends TestCase
{
    private const KINDS = ['SQLite', 'files', 'PHP files', 'APCu', 'shared memory', 'phpredis', 'Memcached', 'an array in front of SQLite', 'APCu in front of SQLite', 'shared memory in front of SQLite'];

    /** @return iterable<string, array{string, string}> */
    public static function worksAndKinds(): iterable
    {
        foreach (array_keys(Work::all()) as $work) {
            foreach (self::KINDS as $kind) {
                yield "{$work} over {$kind}" => [$work, $kind];
            }
        }
    }

    #[DataProvider('worksAndKinds')]
    public function testAClientComesToTheSameOverOurPoolAsOverSymfonys(string $work, string $kind): void
    {
        $do = Work::all()[$work];
        $scratch = new Scratch();
        $expected = $do(new FilesystemAdapter('', 0, "{$scratch->path}/symfony"));
        self::assertEquals($expected, $do(new ArrayAdapter()), 'Symfony\'s own pools differ.');
        $place = new Place($kind);
        $logger = new MemoryLogger();
        $cache = Cache::open($place->dsn, logger: $logger, strict: true);
        self::assertEquals($expected, $do(new CachePool($cache, $logger)));
        self::assertSame([], $logger->lines);
        self::assertGreaterThan(0, $cache->statistics()->hits ?? 1, 'The client has not used it.');
    }

    #[DataProvider('worksAndKinds')]
    public function testAClientComesToTheSameOverOurPsr16CacheAsOverSymfonysPools(string $work, string $kind): void
    {
        $do = Work::all()[$work];
        $place = new Place($kind);
        self::assertEquals($do(new ArrayAdapter()), $do(new Psr16Adapter(new SimpleCache(Cache::open($place->dsn, strict: true)))));
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (self::KINDS as $kind) {
            yield $kind => [$kind];
        }
    }

    #[DataProvider('kinds')]
    public function testAnEntityThatWasReadBeforeAnotherRequestChangedItIsNotKept(string $kind): void
    {
        $place = new Place($kind);
        self::assertSame(['red', 'blue', 'blue'], Work::overtaken(static fn(): CachePool => new CachePool(Cache::open($place->dsn))));
    }

    public function testSymfonysResetterBeginsARequestForBoth(): void
    {
        $place = new Place('SQLite');
        $cache = Cache::open($place->dsn);
        foreach ([new CachePool($cache), new SimpleCache($cache)] as $service) {
            $resetter = new ServicesResetter(new \ArrayIterator(['cache' => $service]), ['cache' => ['reset']]);
            self::assertNull($cache->get('key'));
            Cache::open($place->dsn)->set('key', 'theirs');
            $resetter->reset();
            self::assertTrue($cache->set('key', 'mine'));
            $cache->delete('key');
        }
    }
}
