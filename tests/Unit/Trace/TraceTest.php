<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Trace;

use Larder\Cache;
use Larder\Console\SizeCommand;
use Larder\Console\TraceCommand;
use Larder\Exception\InvalidOption;
use Larder\Exception\InvalidTrace;
use Larder\Store\ArrayStore;
use Larder\Store\NamespacedStore;
use Larder\Tests\Scratch;
use Larder\Trace\Access;
use Larder\Trace\MissRatioCurve;
use Larder\Trace\RecordingStore;
use Larder\Trace\SumTree;
use Larder\Trace\TraceFile;
use Larder\Trace\Verb;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Tester\CommandTester;

#[CoversClass(RecordingStore::class)]
#[CoversClass(TraceFile::class)]
#[CoversClass(Access::class)]
#[CoversClass(MissRatioCurve::class)]
#[CoversClass(SumTree::class)]
#[CoversClass(SizeCommand::class)]
#[CoversClass(TraceCommand::class)]
final class TraceTest extends TestCase
{
    public function testASumTreeSumsWhatIsFromAPositionOn(): void
    {
        $tree = new SumTree();
        $numbers = [];
        mt_srand(7);
        for ($i = 1; $i <= 500; $i++) {
            $position = mt_rand(1, 10) === 1 ? mt_rand(1, $i) : $i;
            $amount = mt_rand(-50, 100);
            $numbers[$position] = ($numbers[$position] ?? 0) + $amount;
            $tree->add($position, $amount);
            $from = mt_rand(1, $i);
            $expected = array_sum(array_filter($numbers, static fn(int $at): bool => $at >= $from, \ARRAY_FILTER_USE_KEY));
            self::assertSame($expected, $tree->from($from), "{$i}: from {$from}");
        }
    }

    public function testARecorderAndTheBareStoreHaveTheSameLeases(): void
    {
        $scratch = new Scratch();
        $store = new NamespacedStore(new ArrayStore(), 'part');
        $recorded = new RecordingStore($store, "{$scratch->path}/trace");
        self::assertTrue($store->acquire('name', 'one', 60.0));
        self::assertFalse($recorded->acquire('name', 'two', 60.0));
        self::assertTrue($recorded->refresh('name', 'one', 60.0));
        self::assertTrue($recorded->release('name', 'one'));
        self::assertTrue($store->acquire('name', 'two', 60.0));
    }

    public function testWhatLiesInANamespaceIsRecordedAndWhatACacheKeepsThereForItselfIsNot(): void
    {
        $scratch = new Scratch();
        $cache = (new Cache(new RecordingStore(new ArrayStore(), "{$scratch->path}/trace", 1.0)))->namespace('shop')->namespace('menus');
        $cache->set('key', 'value');
        $cache->get('key');
        $cache->remember('computed', static fn(): string => 'x');
        unset($cache);
        $lines = \array_slice(file("{$scratch->path}/trace") ?: [], 1);
        self::assertCount(2, array_unique(array_map(static fn(string $line): string => explode(' ', $line)[1], $lines)));
    }

    public function testTheCurveIsThatOfAnLru(): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/trace";
        mt_srand(11);
        $accesses = [];
        for ($i = 0; $i < 3_000; $i++) {
            $key = \sprintf('%016x', (int) (mt_rand(1, 40) * mt_rand(1, 40) / 20));
            $accesses[] = [mt_rand(1, 20) === 1 ? Verb::Delete : (mt_rand(1, 10) === 1 ? Verb::Write : Verb::Read), $key, 10 + hexdec($key) % 90];
        }
        file_put_contents($path, TraceFile::head(1.0) . implode('', array_map(static fn(array $each): string => TraceFile::line($each[0], $each[1], (int) $each[2]), $accesses)));
        $curve = MissRatioCurve::of(TraceFile::open($path), 0);
        foreach ([100, 500, 1_000, 2_000, 1_000_000] as $capacity) {
            // Not the same: what is evicted for a large item leaves some room, which the distances do not know of.
            self::assertEqualsWithDelta(self::lruMissRatio($accesses, $capacity), $curve->missRatio($capacity), 0.01, "{$capacity} bytes");
        }
        $enough = $curve->sizeFor(0.9);
        $possible = 1 - $curve->missRatio(\PHP_INT_MAX);
        self::assertGreaterThanOrEqual(0.9 * $possible, 1 - $curve->missRatio($enough));
        self::assertLessThan(0.9 * $possible, 1 - $curve->missRatio($enough - 1));
    }

    /** As after a deployment, or a night. */
    public function testWhatIsDeletedInTheEndIsCountedAllTheSame(): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/trace";
        $lines = [[Verb::Write, 'a', 10], [Verb::Write, 'b', 30], [Verb::Read, 'a', 10], [Verb::Delete, 'b', 0], [Verb::Write, 'c', 25], [Verb::Delete, 'a', 0], [Verb::Delete, 'c', 0]];
        file_put_contents($path, TraceFile::head(1.0) . implode('', array_map(static fn(array $line): string => TraceFile::line($line[0], sprintf('%016x', \ord($line[1])), $line[2]), $lines)));
        $curve = MissRatioCurve::of(TraceFile::open($path), 0);
        self::assertSame([1, 3, 40], [$curve->reads, $curve->items, $curve->footprint]);
    }

    public function testASampleTellsAboutTheWhole(): void
    {
        $scratch = new Scratch();
        $stores = ["{$scratch->path}/all" => 1.0, "{$scratch->path}/some" => 0.2];
        $curves = [];
        foreach ($stores as $path => $rate) {
            $cache = new Cache(new RecordingStore(new ArrayStore(1_000_000), $path, $rate));
            mt_srand(3);
            for ($i = 0; $i < 40_000; $i++) {
                $key = 'key ' . (int) (2_000 * (mt_rand() / mt_getrandmax()) ** 2);
                $cache->get($key) ?? $cache->set($key, str_repeat('x', 100));
            }
            unset($cache);
            $curves[$path] = MissRatioCurve::of(TraceFile::open($path), 0);
        }
        [$all, $some] = array_values($curves);
        self::assertLessThan(0.3 * $all->reads, $some->reads);
        foreach ([50_000, 100_000, 150_000, 200_000] as $bytes) {
            self::assertEqualsWithDelta($all->missRatio($bytes), $some->missRatio($bytes), 0.06, "{$bytes} bytes");
        }
        self::assertEqualsWithDelta($all->footprint, $some->footprint, 0.2 * $all->footprint);
    }

    public function testARecordingStoreIsTheStoreAndWritesDownWhatItIsAsked(): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/trace";
        $cache = new Cache(new RecordingStore(new ArrayStore(), $path, 1.0));
        $cache->get('key');
        $cache->set('key', 'value', 100, ['tag']);
        $cache->get('key');
        $cache->set('key', ['array']);
        $cache->increment('n');
        $cache->touch('n', 100);
        $cache->delete('key');
        $cache->delete('absent');
        $cache->invalidateTags(['tag']);
        self::assertSame(['n'], [...$cache->store->keys()]);
        self::assertSame(0, $cache->store->prune());
        self::assertSame(1, $cache->statistics()?->items);
        $cache->remember('late', static fn(): string => 'x');
        $cache->clear();
        unset($cache);
        $key = hash('xxh3', 'key');
        $late = hash('xxh3', 'late');
        $n = hash('xxh3', 'n');
        self::assertSame([
            TraceFile::head(1.0), "r {$key} 0\n", "w {$key} 8\n", "r {$key} 8\n", "w {$key} 25\n", "w {$n} 5\n", "d {$key} 0\n", "r {$late} 0\n", "r {$late} 0\n", "w {$late} 5\n",
        ], file($path));
        self::assertStringNotContainsString('value', (string) file_get_contents($path));
    }

    public function testRecordersOfOneFileTakeTheShareThatItsHeadSays(): void
    {
        $scratch = new Scratch();
        foreach ([0.5, 0.5] as $rate) {
            $cache = new Cache(new RecordingStore(new ArrayStore(), "{$scratch->path}/trace", $rate));
            $cache->get('key');
            unset($cache);
        }
        self::assertSame(1, substr_count((string) file_get_contents("{$scratch->path}/trace"), '#'));
        self::assertSame(0.5, TraceFile::open("{$scratch->path}/trace")->rate);
    }

    public function testWhatIsNoTraceIsOneClearError(): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/trace";
        $wrong = [
            'a line that is none' => TraceFile::head(1.0) . "r 0123456789abcdef 5\nx y z\nr 0123456789abcdef 5\n",
            'a rate of nothing' => "# larder trace 1 rate 0\n",
        ];
        foreach ($wrong as $name => $bytes) {
            file_put_contents($path, $bytes);
            try {
                iterator_to_array(TraceFile::open($path)->accesses(), false);
                self::fail("It was read: {$name}");
            } catch (InvalidTrace $mistake) {
                self::assertMatchesRegularExpression('/^Line \d of ".+" is no access; give .+\.$/', $mistake->getMessage());
            }
        }
        // Bytes whose number is a multiple of four may be integers, or anything.
        foreach (["This is no trace.\n", random_bytes(4_000), ''] as $bytes) {
            file_put_contents($path, $bytes);
            try {
                TraceFile::open($path);
                self::fail('Something else was taken for a trace.');
            } catch (InvalidTrace $mistake) {
                self::assertStringContainsString('is no trace; give one that', $mistake->getMessage());
            }
        }
        file_put_contents($path, TraceFile::head(1.0) . "r 0123456789abcdef 5\nr 01234567");
        self::assertCount(1, [...TraceFile::open($path)->accesses()], 'The last line is still being written.');
        foreach (['/no/such/file', $scratch->path] as $none) {
            foreach ([static fn(): mixed => TraceFile::open($none), static fn(): mixed => new RecordingStore(new ArrayStore(), $none)] as $open) {
                try {
                    $open();
                    self::fail('A file was opened that is none.');
                } catch (InvalidTrace $mistake) {
                    self::assertStringContainsString($none, $mistake->getMessage());
                }
            }
        }
        $this->expectException(InvalidOption::class);
        new RecordingStore(new ArrayStore(), $path, 0.0);
    }

    public function testTheCommandsReadATrace(): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/trace";
        file_put_contents($path, pack('V*', 1, 2, 3, 1, 2, 3, 1, 4));
        $tester = new CommandTester(new TraceCommand());
        self::assertSame(0, $tester->execute(['dsn' => 'array:', 'trace' => $path, '--integers' => true, '--json' => true]));
        $answer = json_decode($tester->getDisplay(), true);
        self::assertIsArray($answer);
        self::assertSame([8, 4, 0.5, 4, 0], [$answer['reads'], $answer['hits'], $answer['hit_ratio'], $answer['writes'], $answer['refused']]);
        self::assertSame(0, $tester->execute(['dsn' => 'array:', 'trace' => $path, '--integers' => true]));
        self::assertStringContainsString('reads    8, of which 50.0 % hit', $tester->getDisplay());
        $tester = new CommandTester(new SizeCommand());
        self::assertSame(0, $tester->execute(['trace' => $path, '--integers' => true, '--overhead' => '0', '--json' => true]));
        $answer = json_decode($tester->getDisplay(), true);
        self::assertIsArray($answer);
        self::assertSame([8, 4, 4, 3], [$answer['reads'], $answer['items'], $answer['footprint'], $answer['enough']]);
        self::assertIsArray($answer['curve']);
        self::assertSame(['bytes' => 4, 'miss_ratio' => 0.5], end($answer['curve']));
        self::assertSame(0, $tester->execute(['trace' => $path, '--integers' => true]));
        self::assertStringContainsString('are enough', $tester->getDisplay());
        self::assertSame(2, $tester->execute(['trace' => $path, '--overhead' => 'x'], ['capture_stderr_separately' => true]));
        self::assertStringContainsString('no number of bytes', $tester->getErrorOutput());
        self::assertSame(2, $tester->execute(['trace' => '/no/such/file'], ['capture_stderr_separately' => true]));
        self::assertStringContainsString('cannot be read', $tester->getErrorOutput());
        file_put_contents($path, TraceFile::head(1.0));
        self::assertSame(2, $tester->execute(['trace' => $path], ['capture_stderr_separately' => true]));
        self::assertStringContainsString('There is no access', $tester->getErrorOutput());
    }

    /** @param list<array{Verb, string, int|float}> $accesses */
    private static function lruMissRatio(array $accesses, int $capacity): float
    {
        $cache = [];
        $reads = $misses = 0;
        foreach ($accesses as [$verb, $key, $bytes]) {
            if ($verb === Verb::Read) {
                $reads++;
                $misses += isset($cache[$key]) ? 0 : 1;
            }
            unset($cache[$key]);
            if ($verb !== Verb::Delete) {
                $cache[$key] = $bytes;
            }
            while (array_sum($cache) > $capacity) {
                unset($cache[array_key_first($cache)]);
            }
        }

        return $misses / $reads;
    }
}
