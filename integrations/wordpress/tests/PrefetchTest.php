<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Cache;
use Larder\Tests\Scratch;
use Larder\Tests\System\CacheServer;
use Larder\WordPress\Bench\Counting;
use Larder\WordPress\CacheBackend;
use Larder\WordPress\ObjectCache;
use Larder\WordPress\Prefetch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What is read ahead over real stores: in two trips, and never older than the request's own first read. */
#[CoversClass(Prefetch::class)]
final class PrefetchTest extends TestCase
{
    private ?CacheServer $server = null;

    private Scratch $scratch;

    private string $dsn;

    protected function setUp(): void
    {
        require_once __DIR__ . '/../bench/Counting.php';
        $this->scratch = new Scratch();
        $this->dsn = "sqlite:{$this->scratch->path}/site.db";
    }

    protected function tearDown(): void
    {
        $this->server?->stop();
    }

    /** @return iterable<string, array{(\Closure(): CacheServer)|null, string}> a server, and a DSN */
    public static function stores(): iterable
    {
        yield 'SQLite' => [null, 'sqlite:{directory}/site.db'];
        yield 'Redis' => [CacheServer::redis(...), 'redis+unix:{socket}'];
        yield 'Memcached' => [static fn(): CacheServer => CacheServer::memcached(), 'memcached+unix:{socket}'];
    }

    /** @param (\Closure(): CacheServer)|null $start */
    #[DataProvider('stores')]
    public function testAKnownRequestReadsItsKeysInTwoTrips(?\Closure $start, string $dsn): void
    {
        $this->server = $start === null ? null : $start()->start();
        $this->dsn = strtr($dsn, ['{directory}' => $this->scratch->path, '{socket}' => $this->server->socket ?? '']);
        $this->fillPosts(20);
        $read = static function (ObjectCache $cache): array {
            $values = [];
            for ($id = 1; $id <= 20; $id++) {
                $values[] = $cache->get($id, 'posts');
            }
            $cache->get('absent', 'options');

            return [...$values, ...array_values($cache->get_multiple([1, 2, 21], 'post_meta'))];
        };
        $expected = [...range(1, 20), false, false, false];
        foreach ([22, 2, 2] as $trips) {
            self::assertSame([$expected, $trips], $this->request($read));
        }
    }

    public function testAListIsThatOfItsRequestAlone(): void
    {
        $this->fillPosts(20);
        $read = static fn(ObjectCache $cache): array => array_map(static fn(int $id): mixed => $cache->get($id, 'posts'), range(1, 20));
        $this->request($read);
        self::assertSame(20, $this->request($read, 'another')[1]);
        self::assertSame(2, $this->request($read)[1]);
    }

    public function testOfTwoRequestsWithOnePlaceNoneReadsTheListOfTheOther(): void
    {
        $this->fillPosts(20);
        for ($i = 0, $other = ''; $other === ''; $i++) {
            $other = crc32("request {$i}") % 1_024 === crc32('a request') % 1_024 ? "request {$i}" : '';
        }
        $read = static fn(int $from, int $to): \Closure => static fn(ObjectCache $cache): array => array_map(static fn(int $id): mixed => $cache->get($id, 'posts'), range($from, $to));
        $this->request($read(1, 20));
        self::assertSame(5, $this->request($read(1, 5), $other)[1]);
        self::assertSame(2, $this->request($read(1, 5), $other)[1]);
        self::assertSame([range(1, 20), 20], $this->request($read(1, 20)));
    }

    public function testAListFollowsWhatTheRequestReads(): void
    {
        $this->fillPosts(41);
        $read = static fn(int $from, int $to): \Closure => static fn(ObjectCache $cache): array => array_map(static fn(int $id): mixed => $cache->get($id, 'posts'), range($from, $to));
        $this->request($read(1, 20));
        self::assertSame(range(21, 40), $this->request($read(21, 40))[0]);
        self::assertSame([range(21, 40), 2], $this->request($read(21, 40)));
        // One more or less is no reason to write it anew.
        foreach ([1, 2] as $_) {
            self::assertSame(2 + 1, $this->request($read(21, 41))[1]);
        }
    }

    public function testAListHasFiveHundredNamesAtMostAndASiteSoManyLists(): void
    {
        $this->fillPosts(700);
        $read = static fn(ObjectCache $cache): array => array_map(static fn(int $id): mixed => $cache->get($id, 'posts'), range(1, 700));
        $this->request($read);
        self::assertSame(2 + 200, $this->request($read)[1]);
        $few = static fn(ObjectCache $cache): array => array_map(static fn(int $id): mixed => $cache->get($id, 'posts'), range(1, 5));
        for ($i = 0; $i < 3_000; $i++) {
            $this->request($few, "request {$i}");
        }
        $lists = 0;
        foreach ($this->cache()->store->keys('%') as $_) {
            $lists++;
        }
        self::assertGreaterThan(900, $lists);
        self::assertLessThanOrEqual(1_024, $lists);
    }

    /** @return iterable<string, array{\Closure(ObjectCache): mixed}> */
    public static function changes(): iterable
    {
        yield 'set' => [static fn(ObjectCache $cache): bool => $cache->set('other', 1, 'shop')];
        yield 'set of core\'s' => [static fn(ObjectCache $cache): bool => $cache->set('other', 1, 'users')];
        yield 'add, which may be a lock' => [static fn(ObjectCache $cache): bool => $cache->add('lock', 1, 'locks')];
        yield 'add that comes second' => [static fn(ObjectCache $cache): array => [$cache->set('lock', 1, 'locks'), $cache->add('lock', 1, 'locks')]];
        yield 'delete' => [static fn(ObjectCache $cache): bool => $cache->delete('other', 'shop')];
        yield 'delete_multiple' => [static fn(ObjectCache $cache): array => $cache->delete_multiple([1, 2], 'users')];
        yield 'incr' => [static fn(ObjectCache $cache): mixed => $cache->incr('number', 1, 'shop')];
        yield 'flush_runtime' => [static fn(ObjectCache $cache): bool => $cache->flush_runtime()];
        yield 'a change of options' => [static fn(ObjectCache $cache): bool => $cache->set('alloptions', ['one' => 1], 'options')];
        yield 'a second' => [static fn(ObjectCache $cache): array => time_nanosleep(1, 1_000) ? [] : []];
    }

    /** @param \Closure(ObjectCache): mixed $change */
    #[DataProvider('changes')]
    public function testAfterAChangeOfItsOwnARequestReadsWhatIsThereNow(\Closure $change): void
    {
        $this->fillPosts(20);
        $read = static fn(ObjectCache $cache): array => array_map(static fn(int $id): mixed => $cache->get($id, 'posts'), range(1, 20));
        $this->request($read);
        $this->request(function (ObjectCache $cache) use ($change): void {
            self::assertSame(1, $cache->get(1, 'posts'));
            $other = new ObjectCache(new CacheBackend($this->cache()));
            $other->delete(19, 'posts');
            self::assertSame(20, $other->get(20, 'posts'));
            $other->set(20, 'newer', 'posts');
            $change($cache);
            self::assertSame([false, 'newer'], [$cache->get(19, 'posts'), $cache->get(20, 'posts')]);
        });
    }

    public function testAForcedReadAsksTheStore(): void
    {
        $this->fillPosts(20);
        $read = static fn(ObjectCache $cache): array => array_map(static fn(int $id): mixed => $cache->get($id, 'posts'), range(1, 20));
        $this->request($read);
        $this->request(function (ObjectCache $cache): void {
            $cache->get(1, 'posts');
            $other = new ObjectCache(new CacheBackend($this->cache()));
            foreach ([18, 19, 20] as $id) {
                $other->delete($id, 'posts');
            }
            self::assertFalse($cache->get(20, 'posts', true));
            self::assertSame([18 => false, 19 => false], $cache->get_multiple([18, 19], 'posts', true));
        });
    }

    public function testOnlyCoresGroupsAreReadAhead(): void
    {
        $keys = [['one', 'transient'], ['two', 'locks'], ['three', 'counters'], ['four', 'site-transient'], ['five', 'default']];
        $read = static fn(ObjectCache $cache): array => array_map(static fn(array $key): mixed => $cache->get(...$key), [[1, 'posts'], [2, 'posts'], [3, 'posts'], ...$keys]);
        $this->fillPosts(20);
        $this->request($read);
        $this->request(function (ObjectCache $cache) use ($keys): void {
            $cache->get(1, 'posts');
            $other = new ObjectCache(new CacheBackend($this->cache()));
            foreach ($keys as [$key, $group]) {
                $other->set($key, 'new', $group);
                self::assertSame('new', $cache->get($key, $group));
            }
        });
    }

    public function testAFillOfWhatWasMissingAheadIsRefusedIfAnotherProcessHasDeletedItSince(): void
    {
        $read = static fn(ObjectCache $cache): array => array_map(static fn(int $id): mixed => $cache->get($id, 'posts'), range(1, 5));
        $this->fillPosts(3);
        $this->request($read);
        $this->request(function (ObjectCache $cache): void {
            $cache->get(1, 'posts');
            (new ObjectCache(new CacheBackend($this->cache())))->delete(5, 'posts');
            self::assertFalse($cache->get(4, 'posts'));
            self::assertFalse($cache->get(5, 'posts'));
            $cache->add(4, 'kept', 'posts');
            $cache->add(5, 'of before', 'posts');
        });
        self::assertSame(['kept', false], $this->request(static fn(ObjectCache $cache): array => [$cache->get(4, 'posts'), $cache->get(5, 'posts')], 'later')[0]);
    }

    public function testAFlushEmptiesTheLists(): void
    {
        $this->fillPosts(20);
        $read = static fn(ObjectCache $cache): array => array_map(static fn(int $id): mixed => $cache->get($id, 'posts'), range(1, 20));
        $this->request($read);
        $this->request(static fn(ObjectCache $cache): bool => $cache->flush(), 'flush');
        self::assertSame(20, $this->request($read)[1]);
        self::assertSame(['posts' => 20], (new ObjectCache(new Prefetch(new CacheBackend($this->filled()), 'groups', '', [])))->groups());
    }

    private function filled(): Cache
    {
        $this->fillPosts(20);

        return $this->cache();
    }

    private function fillPosts(int $number): void
    {
        $cache = new ObjectCache(new CacheBackend($this->cache()));
        $cache->get_multiple(range(1, $number), 'posts');
        $cache->add_multiple(array_combine(range(1, $number), range(1, $number)), 'posts');
        $cache->commit();
    }

    private function cache(): Cache
    {
        return Cache::open($this->dsn);
    }

    /**
     * @template T
     *
     * @param \Closure(ObjectCache): T $do
     *
     * @return array{T, int} what it returned, and the calls of the store until then
     */
    private function request(\Closure $do, string $name = 'a request'): array
    {
        $prefetch = new Prefetch(new Counting(new CacheBackend($this->cache())), $name, '', []);
        $cache = new ObjectCache($prefetch);
        $result = $do($cache);
        $calls = $GLOBALS['larder_calls'];
        $cache->commit();
        if ($prefetch->hasLearned()) {
            $prefetch->learn();
        }

        return [$result, \is_int($calls) ? $calls : -1];
    }
}
