<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Cache;
use Larder\Cache\Envelope;
use Larder\Capability;
use Larder\Item;
use Larder\Leases;
use Larder\Psr6\CacheItem;
use Larder\Psr6\CachePool;
use Larder\Reads;
use Larder\Store;
use Larder\Store\NamespacedStore;
use Larder\Tests\EventList;

/** What every store promises through a cache: of pulls, of namespaces, and of the leases that locks are made of. */
final class CacheContract extends Suite
{
    /** A cache with a listener reads another way. */
    public function testASetAfterAMissIsJudgedAlsoWithAListener(): void
    {
        if (!$this->can(Capability::Tokens)) {
            self::assertNotContains(Capability::Tokens, $this->store()->capabilities());

            return;
        }
        $misses = [
            static fn(Cache $cache): mixed => $cache->get('key'),
            static fn(Cache $cache): mixed => $cache->getMany(['other', 'key'])['key'] ?? null,
        ];
        foreach ([[null, $misses[0]], [null, $misses[1]], [new EventList(), $misses[0]], [new EventList(), $misses[1]]] as [$events, $miss]) {
            $cache = new Cache($this->store(), strict: true, events: $events);
            $cache->delete('key');
            self::assertNull($miss($cache));
            $this->of->elsewhere(static function (Store $store): void {
                $store->save([new Item('key', 'new', 1_000)]);
            });
            self::assertFalse($cache->set('key', 'computed before'));
            self::assertSame('new', $this->value('key'));
        }
    }

    /** A limiter of requests, say, is missed once, and read and written back ever after. */
    public function testWhatWasFoundAfterAMissIsNewTruthWhenItIsSet(): void
    {
        $reads = [
            'get' => static fn(Cache $cache): mixed => $cache->get('key'),
            'getMany' => static fn(Cache $cache): mixed => $cache->getMany(['other', 'key'])['key'] ?? null,
            'has' => static fn(Cache $cache): mixed => $cache->has('key') ? 'there' : null,
            'remember' => static fn(Cache $cache): mixed => $cache->remember('key', static fn(): string => 'computed'),
        ];
        foreach ([null, new EventList()] as $events) {
            foreach ($reads as $name => $read) {
                foreach (['plain', 'sealed'] as $form) {
                    $cache = new Cache($this->store(), strict: true, events: $events);
                    $cache->delete('key');
                    self::assertNull($cache->get('key'));
                    $this->of->elsewhere(static function (Store $store) use ($form): void {
                        $store->save([new Item('key', 'first', 1_000)]);
                        $store->save([new Item('key', $form === 'plain' ? ['second'] : (new Envelope(['second'], 0.1, microtime(true) + 500.0, 5))->sealed(), 1_000)]);
                    });
                    self::assertNotNull($read($cache), $name);
                    self::assertTrue($cache->set('key', 'made of the second'), "{$name}, {$form}");
                    self::assertSame('made of the second', $cache->get('key'));
                }
            }
        }
    }

    public function testWhatWasMissedAndIsOlderLeavesWhatIsNewer(): void
    {
        if (!$this->can(Capability::Tokens)) {
            self::assertNotContains(Capability::Tokens, $this->store()->capabilities());

            return;
        }
        $sets = [
            static fn(Cache $cache): bool => $cache->set('key', 'older', 1_000),
            static fn(Cache $cache): bool => $cache->setMany(['key' => 'older', 'other' => 1], 1_000),
            static fn(Cache $cache): bool => $cache->saveMany([new Item('key', 'older', 1_000), new Item('other', 1)]) === [],
        ];
        foreach ($sets as $set) {
            $cache = new Cache($this->store(), strict: true);
            $cache->delete('key');
            self::assertNull($cache->get('key'));
            $this->of->elsewhere(static function (Store $store): void {
                $store->save([new Item('key', 'first', 1_000)]);
                $store->save([new Item('key', 'newer', 1_000)]);
            });
            self::assertFalse($set($cache));
            self::assertSame('newer', $this->value('key'));
        }
        // One that would not even fit in some is still older.
        $cache = new Cache($this->store(), strict: true);
        $cache->delete('key');
        self::assertNull($cache->get('key'));
        $this->of->elsewhere(static function (Store $store): void {
            $store->save([new Item('key', 'newer', 1_000)]);
        });
        self::assertFalse($cache->set('key', str_repeat('x', 3_000_000), 1_000));
        self::assertSame('newer', $this->value('key'));
    }

    public function testAnItemOfPsr6IsJudgedByTheMomentAtWhichItWasRead(): void
    {
        $pool = new CachePool(new Cache($this->store(), strict: true));
        $elsewhere = fn(mixed ...$values) => $this->of->elsewhere(static function (Store $store) use ($values): void {
            foreach ($values as $value) {
                $theirs = new CachePool(new Cache($store, strict: true));
                self::assertTrue($theirs->save($theirs->getItem('key')->set($value)->expiresAfter(1_000)));
            }
        });
        foreach (['getItem', 'getItems'] as $way) {
            $item = static function () use ($pool, $way): CacheItem {
                $items = $way === 'getItem' ? ['key' => $pool->getItem('key')] : $pool->getItems(['other', 'key']);
                foreach ($items as $key => $item) {
                    if ($key === 'key') {
                        return $item;
                    }
                }
                self::fail('There is no item.');
            };
            foreach (['save', 'saveDeferred'] as $how) {
                $save = static fn(CacheItem $item): bool => $pool->{$how}($item->expiresAfter(1_000)) && $pool->commit();
                $pool->deleteItem('key');
                $missed = $item();
                self::assertFalse($missed->isHit());
                $elsewhere(1, 2);
                $hit = $item();
                self::assertSame(2, $hit->get());
                $elsewhere(3);
                self::assertTrue($save($hit->set(4)), 'A value that was read and written back is new truth.');
                self::assertSame(4, $this->value('key'));
                if ($this->can(Capability::Tokens)) {
                    $elsewhere(5);
                    self::assertFalse($save($missed->set('older')), "A hit of another item's does not make this one younger.");
                    self::assertSame(5, $this->value('key'));
                    $pool->deleteItem('key');
                    $missed = $item();
                    $this->of->elsewhere(static function (Store $store): void {
                        $store->delete(['key']);
                    });
                    self::assertFalse($item()->isHit());
                    self::assertFalse($save($missed->set('older')), 'Nor does another miss.');
                    self::assertFalse($this->has('key'));
                }
            }
        }
    }

    public function testWhateverIsThereIsReadTheSameWithAndWithoutAListener(): void
    {
        $values = ['null' => null, 'false' => false, '7' => 7, 'text' => 'text', 'list' => ['a', [1]], 'like a seal' => [Reads::SEAL], 'object' => (object) ['a' => 1]];
        $writer = new Cache($this->store(), strict: true);
        foreach ($values as $key => $value) {
            self::assertTrue($writer->set((string) $key, $value));
        }
        $writer->remember('remembered', static fn(): array => ['computed'], 1_000, grace: 10);
        // One that may only be served in place of nothing, and one that was touched since.
        $this->store()->save([
            new Item('past', (new Envelope('old', 0.1, microtime(true) - 10.0, 1_000))->sealed(), 500),
            new Item('touched', (new Envelope('kept', 0.1, microtime(true) - 10.0, 5))->sealed(), 500),
        ]);
        $keys = array_map(strval(...), ['absent', ...array_reverse(array_keys($values)), 'past', 'remembered', 'touched', 'missing']);
        $read = [];
        foreach ([null, new EventList()] as $i => $events) {
            $cache = new Cache($this->store(), strict: true, events: $events);
            $read[$i] = $cache->getMany($keys);
            foreach ($keys as $key) {
                self::assertEquals($read[$i][$key] ?? null, $cache->get($key), $key);
                self::assertSame(\array_key_exists($key, $read[$i]), $cache->has($key), $key);
            }
        }
        self::assertEquals($read[1], $read[0]);
        self::assertSame(array_keys($read[1]), array_keys($read[0]));
        self::assertEquals($values + ['remembered' => ['computed']], array_diff_key($read[0], ['past' => true, 'touched' => true]));
    }

    public function testAPullTakesNothingAwayButWhatItReturns(): void
    {
        if (!$this->can(Capability::Tokens)) {
            self::assertNotContains(Capability::Tokens, $this->store()->capabilities());

            return;
        }
        $overtaken = $this->overtakenBefore(['delete', 'take'], static fn(Store $store): array => $store->save([new Item('key', 'new', 1_000)]));
        $cache = new Cache($overtaken, strict: true);
        self::assertTrue($cache->set('key', 'old', 1_000));
        self::assertSame('new', $cache->pull('key'));
        self::assertFalse($this->has('key'));
        self::assertNull($cache->pull('key'));
        $this->store()->save([new Item('key', 'again', 1_000)]);
        self::assertSame('again', $cache->pull('key'));
        self::assertNull($cache->pull('key'));
    }

    public function testTheClearOfANamespaceLeavesItsNamesakesAndTheirCounters(): void
    {
        if (!$this->can(Capability::Tags)) {
            self::assertNotContains(Capability::Tags, $this->store()->capabilities());

            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $deep = static fn(string $first): Cache => array_reduce(range(1, 5), static fn(Cache $in): Cache => $in->namespace(str_repeat('n', 64)), $cache->namespace($first));
        $all = [
            'x' => $cache->namespace('x'),
            'a/x' => $cache->namespace('a')->namespace('x'),
            'b/x' => $cache->namespace('b')->namespace('x'),
            'b/x/x' => $cache->namespace('b')->namespace('x')->namespace('x'),
            'deep in a' => $deep('a'),
            'deep in b' => $deep('b'),
        ];
        foreach ($all as $name => $namespace) {
            self::assertTrue($namespace->set('key', $name));
            self::assertSame(1, $namespace->increment('n'));
            self::assertSame(2, $namespace->increment('n'));
        }
        $gone = [];
        foreach (['a/x' => ['a/x'], 'deep in a' => ['deep in a'], 'b/x' => ['b/x', 'b/x/x']] as $cleared => $goes) {
            self::assertTrue($all[$cleared]->clear());
            array_push($gone, ...$goes);
            foreach ($all as $name => $namespace) {
                $left = \in_array($name, $gone, true) ? [] : ['key' => $name, 'n' => 2];
                self::assertSame($left, $namespace->getMany(['key', 'n']), "{$name} after the clear of {$cleared}");
            }
        }
    }

    public function testACounterThatGoesWhileItIsCountedIsMadeAnewInItsNamespace(): void
    {
        if (!$this->can(Capability::Tags)) {
            self::assertNotContains(Capability::Tags, $this->store()->capabilities());

            return;
        }
        $part = new NamespacedStore($this->overtakenBefore(['increment'], static fn(Store $store): array => (new NamespacedStore($store, 'part'))->delete(['n'])), 'part');
        $part->save([new Item('n', 1, 1_000)]);
        self::assertSame(11, $part->increment('n', 1, 10, 1_000));
        self::assertSame(12, $part->increment('n', 1, 10, 1_000));
        $part->clear();
        self::assertSame([], $part->fetch(['n'])->items);
    }

    public function testALeaseThatWasHandedOnIsNotEndedByItsFirstHolder(): void
    {
        [$first, $second] = [$this->of->leases(), $this->of->leases()];
        self::assertTrue($first->acquire('name', 'one', 60.0));
        self::assertTrue($second->release('name', 'one'));
        self::assertTrue($second->acquire('name', 'two', 60.0));
        self::assertFalse($first->release('name', 'one'));
        self::assertFalse($first->refresh('name', 'one', 60.0));
        self::assertTrue($second->refresh('name', 'two', 60.0));
        self::assertTrue($second->release('name', 'two'));
    }

    public function testAClearEndsNoLeaseWhereThereCanBeLocks(): void
    {
        if (!$this->can(Capability::Retention)) {
            self::assertNotContains(Capability::Retention, $this->store()->capabilities());

            return;
        }
        $leases = $this->of->leases();
        foreach (['name', str_repeat('n', 2_000), "\0\xff"] as $name) {
            self::assertTrue($leases->acquire($name, 'one', 60.0));
            $this->store()->save([new Item($name, 'value', 1_000, $this->can(Capability::Tags) ? ['tag'] : []), new Item('other', 'value')]);
            $this->store()->clear();
            self::assertSame([], $this->store()->fetch([$name, 'other'])->items);
            self::assertFalse($leases->acquire($name, 'two', 60.0));
            self::assertTrue($leases->refresh($name, 'one', 60.0));
            $this->store()->clear();
            self::assertTrue($leases->release($name, 'one'));
            self::assertTrue($leases->acquire($name, 'two', 60.0));
            self::assertTrue($leases->release($name, 'two'));
        }
    }
}
