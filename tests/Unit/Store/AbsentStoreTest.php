<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Cache;
use Larder\Cache\Gate;
use Larder\Cache\Outbox;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Numbers;
use Larder\Store\AbsentStore;
use Larder\Store\ArrayStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Log\NullLogger;

/** A command line that does not reach the store of a site, and the site that does: two caches with one journal. */
#[CoversClass(AbsentStore::class)]
#[CoversClass(Gate::class)]
#[CoversClass(Outbox::class)]
final class AbsentStoreTest extends TestCase
{
    private Scratch $scratch;

    private ArrayStore $store;

    private float $now = 1_700_000_000.0;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->store = new ArrayStore();
    }

    /** @return iterable<string, array{\Closure(AbsentStore): mixed}> */
    public static function calls(): iterable
    {
        yield 'fetch' => [static fn(AbsentStore $store): mixed => $store->fetch(['key'])];
        yield 'token' => [static fn(AbsentStore $store): mixed => $store->token('key')];
        yield 'save' => [static fn(AbsentStore $store): mixed => $store->save([new Item('key', 1)])];
        yield 'delete' => [static fn(AbsentStore $store): mixed => $store->delete(['key'])];
        yield 'increment' => [static fn(AbsentStore $store): mixed => $store->increment('key')];
        yield 'touch' => [static fn(AbsentStore $store): mixed => $store->touch(['key'], 1)];
        yield 'invalidateTags' => [static function (AbsentStore $store): void {
            $store->invalidateTags(['tag']);
        }];
        yield 'noteRequest' => [static function (AbsentStore $store): void {
            $store->noteRequest();
        }];
        yield 'clear' => [static function (AbsentStore $store): void {
            $store->clear();
        }];
        yield 'prune' => [static fn(AbsentStore $store): mixed => $store->prune()];
        yield 'keys' => [static fn(AbsentStore $store): mixed => $store->keys()];
        yield 'statistics' => [static fn(AbsentStore $store): mixed => $store->statistics()];
    }

    /** @param \Closure(AbsentStore): mixed $call */
    #[DataProvider('calls')]
    public function testNothingReachesIt(\Closure $call): void
    {
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessage('is absent in this process');
        $call(new AbsentStore());
    }

    public function testWhatIsDeletedThereIsGoneForTheNextProcessThatReachesTheStore(): void
    {
        $site = $this->site();
        $site->setMany(['kept' => 1, 'deleted' => 1, 'overwritten' => 1]);
        $site->set('tagged', 1, tags: ['tag']);
        $site->namespace('menus')->set('main', 1);
        $here = $this->commandLine();
        self::assertNull($here->get('kept'));
        self::assertFalse($here->delete('deleted'));
        self::assertFalse($here->set('overwritten', 2));
        self::assertFalse($here->invalidateTags(['tag']));
        self::assertFalse($here->namespace('menus')->clear());
        self::assertFalse($here->lock('job')->acquire());
        self::assertSame(3, $here->remember('computed', static fn(): int => 3));
        self::assertTrue($here->health()->journaled);
        $next = $this->site();
        self::assertSame(['kept' => 1], $next->getMany(['kept', 'deleted', 'overwritten', 'tagged']));
        self::assertNull($next->namespace('menus')->get('main'));
        self::assertFalse($next->health()->isFlagged());
        self::assertFalse($this->commandLine()->clear());
        self::assertNull($this->site()->get('kept'));
    }

    /** One that runs the code of a site throws no more than the site does while its store is down. */
    public function testWhateverACommandLineAsksForIsRefusedAndNotThrown(): void
    {
        foreach ([false, true] as $judgesAdds) {
            $here = new Cache(new AbsentStore(), logger: new NullLogger(), journal: "{$this->scratch->path}/journal", judgesAdds: $judgesAdds);
            foreach ([$here, $here->namespace('menus')] as $cache) {
                $token = $cache->token('key');
                self::assertFalse($cache->set('key', 1, token: $token));
                self::assertFalse($cache->add('key', 1, token: $token));
                self::assertFalse($cache->replace('key', 1, token: $token));
                self::assertFalse($cache->add('another', 1));
                self::assertFalse($cache->update('key', static fn(): int => 1));
                self::assertFalse($cache->increment('key', min: 0));
                self::assertFalse($cache->increment('key', create: false));
                self::assertFalse($cache->decrement('key', numbers: Numbers::Any));
                self::assertSame('none', $cache->pull('key', 'none'));
                self::assertSame(['key'], $cache->saveMany([new Item('key', 1, token: $token)]));
                self::assertSame([], $cache->fetch(['key'])->items);
                $cache->refresh();
            }
        }
    }

    public function testASiteReadsWhileACommandLineDeletesOneKeyAfterTheOther(): void
    {
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 49));
        $this->site()->setMany(['kept' => 1, ...array_fill_keys($keys, 1)]);
        $here = $this->commandLine();
        $menus = $here->namespace('menus');
        $this->site()->namespace('menus')->set('kept', 1);
        foreach ($keys as $key) {
            self::assertFalse($here->delete($key));
            self::assertFalse($menus->delete($key));
            // A read, and another command line, find that something is undelivered before they ask.
            self::assertNull($here->get($key));
            self::assertFalse($this->commandLine()->delete('none'));
            self::assertFalse($this->commandLine()->namespace('menus')->delete('none'));
            $site = $this->site();
            self::assertSame(1, $site->get('kept'), $key);
            self::assertNull($site->get($key));
            self::assertSame(1, $site->namespace('menus')->get('kept'), $key);
        }
    }

    private function site(): Cache
    {
        return new Cache($this->store, journal: "{$this->scratch->path}/journal", clock: fn(): float => $this->now);
    }

    private function commandLine(): Cache
    {
        return new Cache(new AbsentStore(), journal: "{$this->scratch->path}/journal", clock: fn(): float => $this->now);
    }
}
