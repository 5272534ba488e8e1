<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Tier;

use Larder\Cache;
use Larder\Exception;
use Larder\Item;
use Larder\Store\ApcuStore;
use Larder\Store\ArrayStore;
use Larder\Store\SharedMemoryStore;
use Larder\Tests\Pools;
use Larder\Tests\Scratch;
use Larder\Tier\TieredStore;
use Larder\Tier\Tiers;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Two DSNs that give their near stores one name, in front of two far stores. */
#[CoversClass(Tiers::class)]
final class SharedNearStoreTest extends TestCase
{
    private Scratch $scratch;

    /** Of pools and a prefix. */
    private string $name;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->name = 'test-' . bin2hex(random_bytes(4));
    }

    protected function tearDown(): void
    {
        Pools::remove(substr($this->name, 0, 47));
    }

    /**
     * @param class-string $class
     * @param string       $name  what is added to it
     */
    #[DataProvider('nears')]
    public function testTiersThatGiveTheirNearStoresOneNameHaveOneEach(string $near, string $class, string $name = ''): void
    {
        $this->name .= $name;
        $near = str_replace('NAME', $this->name, $near);
        [$one, $other] = [$this->tier("{$near} > sqlite:{$this->scratch->path}/one.db"), $this->tier("{$near} > sqlite:{$this->scratch->path}/other.db")];
        self::assertInstanceOf($class, $one->near);
        $caches = ['of one' => new Cache($one), 'of other' => new Cache($other)];
        foreach (['one', 'other', 'one'] as $emptied) {
            foreach ($caches as $value => $cache) {
                self::assertTrue($cache->set('key', $value, tags: ['tag']));
                $cache->refresh();
                self::assertSame($value, $cache->get('key'));
            }
            self::assertSame(['of one', 'of other'], [$one->near->read('key'), $other->near->read('key')], 'Both are in memory.');
            // Whatever else empties a near store, such as an eviction or a flush by hand, while requests go on that have looked at it.
            $emptied === 'one' ? $one->near->clear() : $other->near->clear();
            $caches['of other']->refresh();
            self::assertSame(['of other', 'of one', 'of other'], [$caches['of other']->get('key'), $caches['of one']->get('key'), $caches['of other']->get('key')]);
            self::assertTrue($caches['of one']->clear());
            $caches['of other']->refresh();
            self::assertSame(['of other', null], [$caches['of other']->get('key'), $caches['of one']->get('key')]);
        }
        self::assertSame([0, 0], [$one->statistics()->details['near bypasses'], $other->statistics()->details['near bypasses']]);
    }

    /** @return iterable<string, array{0: string, 1: class-string, 2?: string}> */
    public static function nears(): iterable
    {
        yield 'a pool' => ['shm:NAME?size=8M', SharedMemoryStore::class];
        yield 'a pool with a long name' => ['shm:NAME?size=8M', SharedMemoryStore::class, str_repeat('-', 51)];
        yield 'APCu' => ['apcu:?prefix=NAME', ApcuStore::class];
        yield 'APCu with a long prefix' => ['apcu:?prefix=NAME', ApcuStore::class, str_repeat('-', 51)];
        yield 'an array' => ['array:', ArrayStore::class];
    }

    public function testTheSameTierHasTheSameNearStoreAndADifferentNameAnother(): void
    {
        $dsn = static fn(string $name): string => "shm:{$name}?size=8M > sqlite:";
        $far = "{$this->scratch->path}/far.db";
        [$one, $same, $another, $alone] = [$this->tier($dsn($this->name) . $far), $this->tier("shm:{$this->name} > sqlite:{$far}"), $this->tier($dsn("{$this->name}.2") . $far), Cache::open("shm:{$this->name}?size=8M")];
        $one->far->save([new Item('key', 'value')]);
        self::assertSame('value', $one->read('key'));
        self::assertSame(['value', null, null], [$same->near->read('key'), $another->near->read('key'), $alone->get('key')]);
        $pool = $one->statistics()->details['near name'];
        self::assertIsString($pool);
        self::assertMatchesRegularExpression('/^' . preg_quote($this->name, '/') . '\.[0-9a-f]{16}$/D', $pool);
    }

    #[DataProvider('misnamed')]
    public function testANameThatANearStoreCannotHaveIsRefusedAsItWasGiven(string $near, string $said): void
    {
        $this->expectException(Exception::class);
        $this->expectExceptionMessageMatches("~\"{$said}\"~");
        $this->tier("{$near} > sqlite:{$this->scratch->path}/far.db");
    }

    /** @return iterable<string, array{string, string}> */
    public static function misnamed(): iterable
    {
        $long = str_repeat('x', 65);
        yield 'a pool' => ['shm:no/pool', 'shm:no/pool'];
        yield 'a pool with a name that is too long' => ["shm:{$long}", "shm:{$long}"];
        yield 'a prefix' => ['apcu:?prefix=no/prefix', 'no/prefix'];
        yield 'a prefix that is too long' => ["apcu:?prefix={$long}", $long];
        yield 'an empty prefix' => ['apcu:?prefix=', ''];
    }

    private function tier(string $dsn): TieredStore
    {
        $store = Cache::open($dsn)->store;
        self::assertInstanceOf(TieredStore::class, $store);

        return $store;
    }
}
