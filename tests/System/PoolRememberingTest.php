<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Draft;
use Larder\Exception\Unstorable;
use Larder\Remember\Envelope;
use Larder\Remember\Patience;
use Larder\Remember\PoolRemembering;
use Larder\SharedMemory;
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

    public function testADraftShapesTheItem(): void
    {
        $value = $this->cache->remember('short', static function (Draft $draft): string {
            $draft->expireAfter(50);

            return 'value';
        }, 1_000);
        self::assertSame('value', $value);
        $item = $this->cache->store->fetch(['short'])->items['short'];
        self::assertLessThanOrEqual(time() + 51, $item->expiry);
        $this->cache->remember('forever', static function (Draft $draft): int {
            $draft->expireAfter(Ttl::Forever);

            return 1;
        }, 1_000);
        self::assertNull($this->cache->store->fetch(['forever'])->items['forever']->expiry);
        foreach (['not' => static fn(Draft $draft) => $draft->doNotStore(), 'dead' => static fn(Draft $draft) => $draft->expireAfter(0)] as $key => $shape) {
            self::assertSame('value', $this->cache->remember($key, static function (Draft $draft) use ($shape): string {
                $shape($draft);

                return 'value';
            }));
            self::assertFalse($this->cache->has($key));
        }
    }

    public function testADraftsTagsAreKept(): void
    {
        $this->cache->remember('key', static function (Draft $draft): string {
            $draft->tag('late');

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
        $this->cache->remember('key', function (Draft $draft): string {
            Crowd::of(1, fn(): bool => Cache::open("shm:{$this->pool}")->delete('key'));
            $draft->expireAfter(50);

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

    public function testWhatIsPutOffIsServedStaleAndComputedAtTheEnd(): void
    {
        $later = new Patience(afterResponse: true);
        self::assertSame('old', $this->cache->remember('key', static fn(): string => 'old', 1, grace: 100, patience: $later));
        usleep(1_100_000);
        $computed = 0;
        $compute = static function () use (&$computed): string {
            $computed++;

            return 'new';
        };
        self::assertSame('old', $this->cache->remember('key', $compute, 100, grace: 100, patience: $later));
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
                $this->cache->remember('key', static function (Draft $draft) use ($isShaped): array {
                    $draft->expireAfter($isShaped ? 5 : 100);

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
            self::assertSame('computed', $this->cache->remember('key', static function (Draft $draft): string {
                $draft->expireAfter(5);

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

    private static function broken(\Throwable $failure): mixed
    {
        throw $failure;
    }
}
