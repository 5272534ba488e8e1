<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Cache\Envelope;
use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidOption;
use Larder\Exception\Unstorable;
use Larder\Key;
use Larder\PendingItem;
use Larder\Remember\StampedeOptions;
use Larder\SharedMemory;
use Larder\Store\SharedMemory\PoolRemembering;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\EventList;
use Larder\Tests\MemoryLogger;
use Larder\Ttl;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** In shared memory the pool does most of it; what the library adds is here. */
#[CoversClass(PoolRemembering::class)]
final class PoolRememberingTest extends TestCase
{
    private string $pool;

    private MemoryLogger $logger;

    private EventList $events;

    private Cache $cache;

    protected function setUp(): void
    {
        $this->pool = 'test-' . bin2hex(random_bytes(4));
        $this->logger = new MemoryLogger();
        $this->events = new EventList();
        $this->cache = Cache::open("shm:{$this->pool}?size=8M", logger: $this->logger);
    }

    protected function tearDown(): void
    {
        SharedMemory::remove($this->pool);
    }

    public function testAValueIsComputedOnceAndLiesInThePoolAsItIs(): void
    {
        $computed = 0;
        for ($i = 0; $i < 3; $i++) {
            self::assertSame(['value'], $this->cache->remember('key', static function () use (&$computed): array {
                $computed++;
                usleep(2_000);

                return ['value'];
            }, 100, grace: 100));
        }
        self::assertSame(1, $computed);
        self::assertSame(['value'], SharedMemory::open($this->pool)->get('key'));
        $look = (new Envelope('x', 1.0, 5.0, 3))->sealed();
        $this->cache->set('envelope', $look);
        self::assertSame($look, $this->cache->get('envelope'));
        self::assertSame(['envelope' => $look], $this->cache->getMany(['envelope']));
        self::assertSame($look, $this->cache->remember('other envelope', static fn(): array => $look));
        self::assertSame($look, $this->cache->get('other envelope'));
    }

    public function testAPendingItemShapesTheItem(): void
    {
        $value = $this->cache->remember('short', static function (PendingItem $pending): string {
            $pending->expireAfter(50);

            return 'value';
        }, 1_000);
        self::assertSame('value', $value);
        $item = $this->cache->store->fetch(['short'])->items['short'];
        self::assertLessThanOrEqual(time() + 51, $item->expiry);
        $this->cache->remember('forever', static function (PendingItem $pending): int {
            $pending->expireAfter(Ttl::Forever);

            return 1;
        }, 1_000);
        self::assertNull($this->cache->store->fetch(['forever'])->items['forever']->expiry);
        foreach (['not' => static fn(PendingItem $pending) => $pending->doNotStore(), 'dead' => static fn(PendingItem $pending) => $pending->expireAfter(0)] as $key => $shape) {
            self::assertSame('value', $this->cache->remember($key, static function (PendingItem $pending) use ($shape): string {
                $shape($pending);

                return 'value';
            }));
            self::assertFalse($this->cache->has($key));
        }
    }

    public function testTagsOfAPendingItemAreKept(): void
    {
        $this->cache->remember('key', static function (PendingItem $pending): string {
            $pending->tag('late');

            return 'value';
        }, tags: ['early']);
        self::assertTrue($this->cache->has('key'));
        SharedMemory::open($this->pool)->invalidateTags(['late']);
        self::assertFalse($this->cache->has('key'));
        $this->cache->remember('key', static fn(): string => 'value', tags: ['early']);
        SharedMemory::open($this->pool)->invalidateTags(['early']);
        self::assertFalse($this->cache->has('key'));
    }

    public function testWhatIsShapedIsJudgedByTheMomentTheComputationBegan(): void
    {
        $this->cache->remember('key', function (PendingItem $pending): string {
            Crowd::of(1, fn(): bool => Cache::open("shm:{$this->pool}")->delete('key'));
            $pending->expireAfter(50);

            return 'stale';
        }, 1_000);
        self::assertFalse($this->cache->has('key'));
    }

    public function testAComputationThatFailsIsCoveredByGraceAndLogged(): void
    {
        foreach ([new \DomainException('down'), new \TypeError('wrong')] as $i => $failure) {
            $this->cache->remember("key {$i}", static fn(): string => 'old', 1, grace: 100);
            usleep(1_100_000);
            self::assertFalse($this->cache->has("key {$i}"));
            self::assertSame('old', $this->cache->remember("key {$i}", static fn(): mixed => self::broken($failure), 1, grace: 100));
            self::assertCount($i + 1, $this->logger->lines);
            try {
                $this->cache->remember("absent {$i}", static fn(): mixed => self::broken($failure), 1, grace: 100);
                self::fail('The exception was lost.');
            } catch (\Throwable $thrown) {
                self::assertSame($failure, $thrown);
            }
        }
    }

    public function testWhatIsDeferredIsServedStaleAndComputedAtTheEnd(): void
    {
        $later = new StampedeOptions(afterResponse: true);
        self::assertSame('old', $this->cache->remember('key', static fn(): string => 'old', 1, grace: 100, stampede: $later));
        usleep(1_100_000);
        $computed = 0;
        $compute = static function () use (&$computed): string {
            $computed++;

            return 'new';
        };
        self::assertSame('old', $this->cache->remember('key', $compute, 100, grace: 100, stampede: $later));
        self::assertSame(0, $computed);
        $this->cache->finish();
        self::assertSame(['new', 1], [$this->cache->get('key'), $computed]);
        $this->cache->finish();
        self::assertSame(1, $computed);
    }

    public function testWhatCannotBeStoredIsAnErrorAndNotAMiss(): void
    {
        foreach ([false, true] as $isShaped) {
            try {
                $this->cache->remember('key', static function (PendingItem $pending) use ($isShaped): array {
                    $pending->expireAfter($isShaped ? 5 : 100);

                    return ['x' => static fn(): int => 1];
                }, 100);
                self::fail('A closure was stored.');
            } catch (Unstorable $mistake) {
                self::assertStringContainsString("['x']", $mistake->getMessage());
            }
        }
    }

    public function testAPoolThatCannotBeReachedAnyMoreIsAMissAndFalseUntilItCan(): void
    {
        $this->cache->set('key', 'stale');
        $path = (glob('/dev/shm/larder-' . posix_geteuid() . "/{$this->pool}@*") ?: [''])[0];
        SharedMemory::remove($this->pool);
        mkdir($path);
        try {
            // A pool is looked for again every now and then, not at every call.
            for ($value = 'stale'; $value !== null; usleep(10_000)) {
                $value = $this->cache->get('key');
            }
            self::assertSame('computed', $this->cache->remember('key', static function (PendingItem $pending): string {
                $pending->expireAfter(5);

                return 'computed';
            }));
            self::assertSame('computed', $this->cache->remember('key', static fn(): string => 'computed'));
            self::assertFalse($this->cache->set('key', 1));
            self::assertFalse($this->cache->setMany(['key' => 1, 'other' => 2]));
            self::assertFalse($this->cache->replace('key', 1));
            self::assertFalse($this->cache->add('key', 1));
            self::assertFalse($this->cache->increment('n'));
            self::assertFalse($this->cache->delete('key'));
            self::assertFalse($this->cache->clear());
            self::assertTrue($this->cache->health()->isFlagged());
            // One of the failure, one of what was missed, and perhaps one of what was refused before that was noticed.
            self::assertLessThanOrEqual(3, \count($this->logger->lines));
        } finally {
            rmdir($path);
        }
        do {
            usleep(10_000);
        } while (!$this->cache->set('key', 'again'));
        self::assertSame('again', $this->cache->get('key'));
        self::assertFalse($this->cache->health()->isFlagged());
    }

    public function testEventsTellWhatHappened(): void
    {
        $cache = new Cache($this->cache->store, events: $this->events);
        $cache->remember('key', static fn(): int => 1);
        $cache->remember('key', static fn(): int => 1);
        self::assertSame(
            ['Missed', 'Computed', 'Written', 'Hit'],
            array_map(static fn(object $event): string => (new \ReflectionClass($event))->getShortName(), $this->events->events),
        );
    }

    public function testANamespaceIsAPartOfThePoolAndRemembersAsThePoolDoes(): void
    {
        $shop = $this->cache->namespace('shop');
        $slow = static function (): array {
            usleep(2_000);

            return ['value'];
        };
        self::assertSame(['value'], $shop->remember('key', $slow, 100, grace: 100));
        $shop->namespace('inner')->set('key', 'inner');
        $pool = SharedMemory::open($this->pool);
        $outer = Key::internal('in', 'shop:key');
        self::assertSame(['value'], $pool->get($outer));
        self::assertSame('inner', $pool->get(Key::internal('in', 'shop:' . Key::internal('in', 'inner:key'))));
        $shop->remember('shaped', static function (PendingItem $pending): int {
            $pending->expireAfter(50);

            return 1;
        });
        self::assertSame(['key' => ['value'], 'shaped' => 1], $shop->getMany(['absent', 'key', 'shaped']));
        self::assertSame(['key' => ['value'], 'shaped' => 1], $shop->getMany(['key', 'shaped']));
        self::assertSame([7 => 'seven', 'key' => ['value']], $shop->set('7', 'seven') ? $shop->getMany([7, 'key', 'key']) : []);
        self::assertNull($this->cache->get('key'));
        self::assertTrue($shop->delete('7'));
        $shop->clear();
        self::assertSame([], $shop->getMany(['7', 'key', 'shaped']));
        self::assertNull($shop->namespace('inner')->get('key'));
    }

    public function testWhatReadingAnItemRemembersDoesNotTakeTheReadersComputation(): void
    {
        Bystander::$then = fn(): mixed => $this->cache->remember('other', static fn(): string => 'of the other', 50);
        $this->cache->set('key', new Bystander());
        self::assertSame('own', $this->cache->remember('key', static fn(): string => 'own', 100));
        self::assertSame('own', $this->cache->get('key'));
        self::assertSame('of the other', $this->cache->get('other'));
    }

    public function testAComputationMayRememberAndFailAndTheNextOneIsItsOwn(): void
    {
        $inner = fn(): mixed => $this->cache->remember('inner', static fn(): string => 'inner', 100);
        self::assertSame('outer inner', $this->cache->remember('outer', fn(): string => 'outer ' . $inner() . $this->cache->remember('none', static fn(): string => ''), 100));
        $this->cache->remember('old', static fn(): string => 'old', 1, grace: 100);
        usleep(1_100_000);
        self::assertSame('old', $this->cache->remember('old', static fn(): mixed => self::broken(new \DomainException($inner())), 1, grace: 100));
        self::assertCount(1, $this->logger->lines);
        for ($i = 0; $i < 2; $i++) {
            try {
                $this->cache->remember('absent', static fn(): mixed => self::broken(new \DomainException($inner())));
                self::fail('The exception was lost.');
            } catch (\DomainException) {
                self::assertSame('inner', $this->cache->remember('inner', static fn(): string => 'again', 100));
            }
        }
        self::assertCount(1, $this->logger->lines);
    }

    public function testNothingOfAComputationIsKept(): void
    {
        $held = new \stdClass();
        $seen = \WeakReference::create($held);
        for ($i = 0; $i < 2; $i++) {
            $this->cache->remember('key', static fn(): int => \count((array) $held));
        }
        unset($held);
        self::assertNull($seen->get());
    }

    public function testKeysAndOptionsThatAreNoneAreRefusedInTheFastWaysToo(): void
    {
        $internal = Key::internal('in', 'x');
        foreach ([[$this->cache, 0], [$this->cache->namespace('shop'), \strlen(Key::internal('in', 'shop:'))]] as [$cache, $prefix]) {
            $long = str_repeat('k', Key::LONGEST + 1 - $prefix);
            $calls = [
                'set' => static fn(string $key): mixed => $cache->set($key, 1),
                'delete' => static fn(string $key): mixed => $cache->delete($key),
                'remember' => static fn(string $key): mixed => $cache->remember($key, static fn(): int => 1),
                'get' => static fn(string $key): mixed => $cache->get($key),
                'getMany' => static fn(string $key): mixed => $cache->getMany(['a', $key]),
            ];
            foreach ($calls as $name => $call) {
                foreach (['', $long, ...(\in_array($name, ['set', 'remember'], true) ? [$internal] : [])] as $key) {
                    try {
                        $call($key);
                        self::fail("{$name} took a key of " . \strlen($key) . ' bytes.');
                    } catch (InvalidKey) {
                        self::assertNull($cache->get('a'));
                    }
                }
                $call(substr($long, 1));
            }
            foreach ([[-1, 1.0], [0, -0.1], [0, \NAN], [0, 1_001.0]] as [$grace, $beta]) {
                try {
                    $cache->remember('a', static fn(): int => 1, grace: $grace, beta: $beta);
                    self::fail('An option out of its range was taken.');
                } catch (InvalidOption) {
                    self::assertNull($cache->get('a'));
                }
            }
        }
    }

    public function testAWayThatIsFastWaitsAsStampedeOptionsSay(): void
    {
        $stampede = new StampedeOptions();
        $says = [];
        foreach ((new \ReflectionMethod(SharedMemory::class, 'remember'))->getParameters() as $parameter) {
            $says[$parameter->getName()] = $parameter->isOptional() ? $parameter->getDefaultValue() : null;
        }
        self::assertSame([$stampede->lease, $stampede->staleWait, $stampede->retry], [$says['lease'], $says['staleWait'], $says['retry']]);
        // The wait is told by the lease.
        self::assertSame([null, $stampede->missWait], [$says['missWait'], 2 * $stampede->lease]);
    }

    private static function broken(\Throwable $failure): mixed
    {
        throw $failure;
    }
}
