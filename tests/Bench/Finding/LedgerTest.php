<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Experiment\Clients;
use Larder\Bench\Finding\Claim;
use Larder\Bench\Finding\ClaimState;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Ledger;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\NoiseFloor;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class LedgerTest extends TestCase
{
    private const FIFTY = ['operation of the clients' => 'GET', 'requests' => '10,000', 'clients' => '50'];

    public function testARunThatMeasuredNothingNeitherAgreesNorDisagrees(): void
    {
        $claims = Ledger::of(new Findings((new RunFixture())->run()));

        self::assertNotSame([], $claims);
        self::assertSame(['A', 'B', 'C', 'D'], array_values(array_unique(array_map(static fn(Claim $claim): string => $claim->source, $claims))));
        foreach ($claims as $claim) {
            self::assertSame(ClaimState::NotMeasured, $claim->state, $claim->claim);
        }
    }

    #[TestWith([300.0, ClaimState::Agrees])]
    #[TestWith([130.0, ClaimState::Disagrees])]
    #[TestWith([460.0, ClaimState::Disagrees])]
    public function testAboutThreeTimesIsBetweenTwoAndFourAndAHalf(float $redis, ClaimState $state): void
    {
        $fixture = (new RunFixture())->gets('hello', 'get', ['none' => 0.0, 'redis-tcp' => $redis, 'file-disk' => 100.0]);

        self::assertSame($state, self::claim($fixture, 'files are about three times as fast as Redis in one request')->state);
    }

    public function testAnIntervalThatLiesPartlyInWhatIsClaimedDoesNotTell(): void
    {
        self::assertSame(ClaimState::Tie, Claim::about('A', 'x', 'y', new Interval(3.0, 1.0, 9.0), 3)->state);
        self::assertSame(ClaimState::Tie, Claim::about('A', 'x', 'y', new Interval(0.3, 0.1, 2.5), 3)->state);
        self::assertSame(ClaimState::Disagrees, Claim::about('A', 'x', 'y', new Interval(0.3, 0.1, 1.9), 3)->state);
    }

    #[TestWith([2.0, 1.0, ClaimState::Agrees])]
    #[TestWith([1.0, 2.0, ClaimState::Disagrees])]
    #[TestWith([1.02, 1.0, ClaimState::Tie])]
    public function testReadsFromFilesAreFastestOnlyWhenTheyAre(float $files, float $sets, ClaimState $state): void
    {
        $fixture = (new RunFixture())
            ->add('tags', ['items' => '5,000'], 'reads', Direction::HigherIsBetter, 'tag-files', $files)
            ->add('tags', ['items' => '5,000'], 'reads', Direction::HigherIsBetter, 'tag-sets', $sets);

        self::assertSame($state, self::claim($fixture, 'reads are fastest from files')->state);
    }

    #[TestWith([80.0, 20.0, ClaimState::Agrees, ClaimState::Disagrees])]
    #[TestWith([60.0, 60.0, ClaimState::Disagrees, ClaimState::Agrees])]
    public function testWhetherMemoryIsGivenBackIsSeenInWhatTheServerOccupies(float $full, float $flushed, ClaimState $givesBack, ClaimState $keepsToItsLimit): void
    {
        $fixture = (new RunFixture())
            ->add('memory', ['limit' => '64 MiB', 'after' => 'writing twice what fits'], 'memory occupied', Direction::LowerIsBetter, 'redis', $full * (1 << 20), 0.0)
            ->add('memory', ['limit' => '64 MiB', 'after' => 'flushing'], 'memory occupied', Direction::LowerIsBetter, 'redis', $flushed * (1 << 20), 0.0);

        self::assertSame($givesBack, self::claim($fixture, 'Redis gives unused memory back')->state);
        self::assertSame($keepsToItsLimit, self::claim($fixture, 'Redis never exceeds its limit')->state);
    }

    public function testMemcachedSetsAreComparedWithItsGets(): void
    {
        $fixture = new RunFixture();
        foreach (['SET' => 900.0, 'GET' => 1000.0] as $operation => $rate) {
            $fixture->add('clients', ['operation of the clients' => $operation, 'requests' => '10,000', 'clients' => '50'], 'rate', Direction::HigherIsBetter, 'memcached-1', $rate);
        }
        $claim = self::claim($fixture, 'Memcached sets faster than it gets');

        self::assertSame(ClaimState::Disagrees, $claim->state);
        self::assertEqualsWithDelta(0.9, $claim->found?->estimate, 1e-9);
    }

    /**
     * Claims of one ratio: the case it is of, what stands above and below, and a ratio that agrees and one that does not.
     *
     * @return iterable<string, array{string, string, array<string, string>, string, string, float, float}>
     */
    public static function ratios(): iterable
    {
        $hello = ['value' => 'hello', 'operation' => 'get', 'keys' => 'one hot key'];
        $options = [...$hello, 'value' => 'alloptions'];
        $connect = [...$hello, 'operation' => 'connect, get, close'];
        $items = ['items' => '5,000'];
        $get = ['operation of the clients' => 'GET', 'requests' => '10,000', 'clients' => '50'];
        yield 'files are about three times as fast as Memcached in one request' => ['gets', 'time', $hello, 'memcached-tcp', 'file-disk', 3.0, 9.0];
        yield 'on one server, files beat Redis' => ['gets', 'time', $hello, 'redis-unix', 'file-disk', 2.0, 0.5];
        yield 'on one server, files beat Memcached' => ['gets', 'time', $hello, 'memcached-unix', 'file-disk', 2.0, 0.5];
        yield 'with connections, files are about ten times as fast as Redis' => ['connect', 'time', $connect, 'redis-tcp', 'file-disk', 12.0, 30.0];
        yield 'with connections, files are about ten times as fast as Memcached' => ['connect', 'time', $connect, 'memcached-tcp', 'file-disk', 8.0, 2.0];
        foreach (['1', '50'] as $concurrency) {
            $case = ['value' => 'hello', 'keep-alive' => 'off', 'concurrency' => $concurrency];
            yield "files give about 50 % more requests through the web server than Redis, {$concurrency} at a time" => ['web', 'requests per second', $case, 'file', 'redis', 1.6, 0.9];
            yield "files give about 50 % more requests through the web server than Memcached, {$concurrency} at a time" => ['web', 'requests per second', $case, 'file', 'memcached', 1.4, 3.0];
        }
        yield 'APCu is the fastest of the object caches: faster than SQLite' => ['gets', 'time', $options, 'sqlite', 'apcu-php', 2.0, 0.5];
        yield 'APCu is the fastest of the object caches: faster than Redis' => ['gets', 'time', $options, 'redis-unix', 'apcu-php', 2.0, 0.5];
        yield 'levels of APCu and SQLite, written through, might work: faster reads than SQLite alone' => ['gets', 'time', $options, 'sqlite', 'sqlite-apcu', 2.0, 0.5];
        yield 'the SQLite Object Cache gives more page views than none (36 %)' => ['pages', 'pages per second', ['cache' => 'warm', 'page' => 'catalogue'], 'rival-sqlite', 'none', 1.4, 0.9];
        yield 'a Redis object cache gives more page views than none (25 %; 14 % by its own figures)' => ['pages', 'pages per second', ['cache' => 'warm', 'page' => 'catalogue'], 'rival-redis', 'none', 1.2, 0.9];
        yield 'a transient is read faster with SQLite than with Redis (60 against 856 µs)' => ['transients', 'time of a transient', ['call' => 'get'], 'rival-redis', 'rival-sqlite', 2.0, 0.5];
        yield 'a transient is set faster with APCu than with SQLite (22 against 396 µs)' => ['transients', 'time of a transient', ['call' => 'set'], 'rival-sqlite', 'rival-apcu', 9.0, 0.5];
        yield 'round trips dominate Redis' => ['gets', 'time', $hello, 'redis-unix', 'redis-pipeline', 3.0, 1.5];
        yield 'round trips dominate Memcached' => ['gets', 'time', $hello, 'memcached-unix', 'memcached-multi', 3.0, 1.5];
        yield 'igbinary explains some of the gain' => ['serializers', 'time', ['value' => 'alloptions', 'direction' => 'fetch'], 'php+none', 'igbinary+none', 1.3, 0.9];
        yield 'gzdeflate is very slow on large objects' => ['serializers', 'time', ['value' => 'alloptions', 'direction' => 'store'], 'igbinary+zlib', 'igbinary+none', 6.0, 4.0];
        yield 'Redis is ahead of Memcached at 32 bytes, reading' => ['clients', 'rate', $get, 'redis', 'memcached-1', 1.2, 0.8];
        yield 'Redis is ahead of Memcached at 32 bytes, writing' => ['clients', 'rate', [...$get, 'operation of the clients' => 'SET'], 'redis', 'memcached-1', 1.2, 0.8];
        yield 'what evicts by LFU or LRU keeps what is needed' => ['full', 'hit ratio over time', ['limit' => '16 MiB'], 'redis-allkeys-lru', 'redis-allkeys-random', 1.2, 0.8];
        yield 'reads are fastest from files, faster than from Memcached in two levels' => ['tags', 'reads', $items, 'tag-files', 'memcached-tag-sets', 1.2, 0.8];
        yield 'reads are fastest from files, faster than from Memcached in front of them' => ['tags', 'reads', $items, 'tag-files', 'memcached-tag-files', 1.2, 0.8];
        foreach (['reads', 'writes', 'cleans by tag'] as $metric) {
            foreach (['tag-sets' => 'Redis', 'tag-files' => 'files'] as $design => $title) {
                yield "Memcached in two levels is not worth it: {$metric}, in front of {$title}" => ['tags', $metric, $items, $design, "memcached-{$design}", 1.2, 0.8];
            }
        }
    }

    /** @param array<string, string> $case */
    #[DataProvider('ratios')]
    public function testAClaimOfARatioAgreesWhereTheRatioIsAsClaimed(string $experiment, string $metric, array $case, string $above, string $below, float $agrees, float $disagrees): void
    {
        foreach ([[$agrees, ClaimState::Agrees], [$disagrees, ClaimState::Disagrees]] as [$ratio, $state]) {
            $fixture = new RunFixture();
            // What evicts and what two levels hold is looked for where these were measured.
            foreach (['tags' => 'reads', 'full' => 'hit ratio over time'] as $first => $its) {
                if ($first === $experiment && $its !== $metric) {
                    $fixture->add($first, $case, $its, Direction::HigherIsBetter, 'another', 1.0);
                }
            }
            $fixture->add($experiment, $case, $metric, Direction::LowerIsBetter, $below, 1000.0)->add($experiment, $case, $metric, Direction::LowerIsBetter, $above, 1000.0 * $ratio);
            $claim = self::claim($fixture, (string) $this->dataName());

            self::assertSame($state, $claim->state);
            self::assertEqualsWithDelta($ratio, $claim->found?->estimate, 1e-9);
        }
    }

    #[TestWith([1.1, ClaimState::Agrees])]
    #[TestWith([4.0, ClaimState::Agrees])]
    #[TestWith([400.0, ClaimState::Disagrees])]
    public function testTheSlotsOfApcuAreItsItems(float $thousands, ClaimState $state): void
    {
        $fixture = (new RunFixture())->add('memory', ['limit' => '64 MiB', 'key' => '20 bytes', 'value' => '20 bytes'], 'items', Direction::HigherIsBetter, 'apcu', 1000 * $thousands);

        self::assertSame($state, self::claim($fixture, 'APCu has about 4,096 slots')->state);
    }

    public function testThePageCacheIsWhyFilesAreFastWhenTheyAreSlowWithoutIt(): void
    {
        foreach ([[1000.0, ClaimState::Agrees], [100.0, ClaimState::Tie], [50.0, ClaimState::Disagrees]] as [$cold, $state]) {
            $fixture = (new RunFixture())
                ->add('cold', ['the page cache' => 'has all of it'], 'time of a read', Direction::LowerIsBetter, 'files', 100.0)
                ->add('cold', ['the page cache' => 'has nothing of it'], 'time of a read', Direction::LowerIsBetter, 'files', $cold);

            self::assertSame($state, self::claim($fixture, 'the kernel\'s page cache keeps files in memory, and that is why they are fast')->state);
        }
    }

    public function testAnIntervalOnBothSidesOfABoundDoesNotTell(): void
    {
        self::assertSame(ClaimState::Tie, Claim::atMost('A', 'x', 'y', new Interval(0.9, 0.8, 1.1), 1.0)->state);
        self::assertSame(ClaimState::Agrees, Claim::atMost('A', 'x', 'y', new Interval(0.9, 0.8, 1.0), 1.0)->state);
        self::assertSame(ClaimState::Disagrees, Claim::atMost('A', 'x', 'y', new Interval(1.2, 1.1, 1.3), 1.0)->state);
    }

    #[TestWith([0.5, 0.5, ClaimState::Agrees, 'over Memcached with one thread'])]
    #[TestWith([0.5, 0.95, ClaimState::Agrees, 'the GETs of memcached-1, which may be faster'])]
    #[TestWith([0.95, 0.95, ClaimState::NotMeasured, 'the rates are its own'])]
    public function testTwoRatesThatAreBothTheLoadGeneratorsAreNotCompared(float $redis, float $memcached, ClaimState $state, string $figure): void
    {
        $fixture = new RunFixture();
        foreach (['redis' => [1200.0, $redis], 'memcached-1' => [1000.0, $memcached]] as $subject => [$rate, $share]) {
            $fixture->add('clients', self::FIFTY, 'rate', Direction::HigherIsBetter, $subject, $rate, 0.01, $share);
        }
        $claim = self::claim($fixture, 'Redis is ahead of Memcached at 32 bytes, reading');

        self::assertSame($state, $claim->state);
        self::assertStringContainsString($figure, $claim->figure);
    }

    #[TestWith([5_000.0, ClaimState::Agrees])]
    #[TestWith([7_000.0, ClaimState::Disagrees])]
    #[TestWith([6_100.0, ClaimState::Tie])]
    #[TestWith([0.0, ClaimState::NotMeasured])]
    public function testWhereBothRatesAreTheLoadGeneratorsTheProcessorTimesOfTheServersAreCompared(float $set, ClaimState $state): void
    {
        $fixture = new RunFixture();
        foreach (['SET' => $set, 'GET' => 6_000.0] as $operation => $server) {
            $fixture->add('clients', [...self::FIFTY, 'operation of the clients' => $operation], 'rate', Direction::HigherIsBetter, 'memcached-1', 1_000.0, 0.01, 0.95, $server);
        }
        $claim = self::claim($fixture, 'Memcached sets faster than it gets');

        self::assertSame($state, $claim->state);
        self::assertStringContainsString('the rates are its own', $claim->figure);
    }

    public function testTheProcessorTimeOfSeveralThreadsSaysNothingOfTheirRate(): void
    {
        $fixture = new RunFixture();
        foreach (['memcached-1' => 6_000.0, 'memcached-3' => 3_000.0] as $subject => $server) {
            $fixture->add('clients', self::FIFTY, 'rate', Direction::HigherIsBetter, $subject, 1_000.0, 0.01, 0.95, $server);
        }
        $fixture->parameters('clients', [Clients::PROCESSORS => 3]);

        self::assertSame(ClaimState::NotMeasured, self::claim($fixture, 'one core and one thread are unfair to a multi-threaded server (a comment)')->state);
    }

    #[TestWith([1, ClaimState::NotMeasured])]
    #[TestWith([3, ClaimState::Agrees])]
    public function testThreadsAreJudgedWhereEachHasAProcessor(int $processors, ClaimState $state): void
    {
        $fixture = new RunFixture();
        foreach (['memcached-1' => 1000.0, 'memcached-3' => 2000.0] as $subject => $rate) {
            $fixture->add('clients', self::FIFTY, 'rate', Direction::HigherIsBetter, $subject, $rate);
        }
        $fixture->parameters('clients', [Clients::PROCESSORS => $processors]);

        self::assertSame($state, self::claim($fixture, 'one core and one thread are unfair to a multi-threaded server (a comment)')->state);
    }

    public function testValkeySpeaksForRedisWhereOnlyValkeyWasMeasured(): void
    {
        $fixture = (new RunFixture())->gets('hello', 'get', ['none' => 0.0, 'valkey-tcp' => 300.0, 'file-disk' => 100.0]);

        // None of these is a Redis: a script of whatever server there is, a subject of the library, a program that loads.
        foreach ([['web', 'redis'], ['gets', 'redis-script'], ['clients', 'redis-benchmark']] as [$experiment, $subject]) {
            $fixture->add($experiment, ['value' => 'hello', 'keep-alive' => 'off', 'concurrency' => '1'], 'requests per second', Direction::HigherIsBetter, $subject, 100.0);
        }
        $fixture->add('web', ['value' => 'hello', 'keep-alive' => 'off', 'concurrency' => '1'], 'requests per second', Direction::HigherIsBetter, 'file', 150.0);

        self::assertSame(ClaimState::Agrees, self::claim($fixture, 'files are about three times as fast as Redis in one request')->state);
        self::assertSame(ClaimState::Agrees, self::claim($fixture, 'files give about 50 % more requests through the web server than Redis, 1 at a time')->state);
    }

    #[TestWith([1.2, 1.4, ClaimState::Agrees])]
    #[TestWith([0.7, 0.8, ClaimState::Disagrees])]
    #[TestWith([0.9, 1.4, ClaimState::Tie])]
    #[TestWith([1.01, 1.04, ClaimState::Tie])]
    public function testAClaimNeedsTheWholeIntervalBeyondTheNoise(float $low, float $high, ClaimState $state): void
    {
        self::assertSame($state, Claim::above('A', 'x', 'y', new Interval(($low + $high) / 2, $low, $high), new NoiseFloor(0.05))->state);
    }

    private static function claim(RunFixture $fixture, string $claim): Claim
    {
        foreach (Ledger::of(new Findings($fixture->run())) as $row) {
            if ($row->claim === $claim) {
                return $row;
            }
        }
        self::fail("There is no claim \"{$claim}\" in the ledger.");
    }
}
