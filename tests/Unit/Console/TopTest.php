<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Console;

use Larder\Cache;
use Larder\Console\Dashboard;
use Larder\Console\Groups;
use Larder\Console\Printed;
use Larder\Console\Reading;
use Larder\Console\TopCommand;
use Larder\Store\ArrayStore;
use Larder\StoreStatistics;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Tester\CommandTester;

#[CoversClass(TopCommand::class)]
#[CoversClass(Dashboard::class)]
#[CoversClass(Reading::class)]
#[CoversClass(Groups::class)]
#[CoversClass(Printed::class)]
final class TopTest extends TestCase
{
    public function testRatesAreTheDifferencesBetweenTwoLooks(): void
    {
        $reading = new Reading(new StoreStatistics(hits: 300, misses: 100, evictions: 5), new StoreStatistics(hits: 120, misses: 80, evictions: 9), 2.0);
        self::assertSame(90.0, $reading->rate('hits'));
        self::assertSame(10.0, $reading->rate('misses'));
        self::assertNull($reading->rate('evictions'), 'It began anew.');
        self::assertNull($reading->rate('expired'), 'It is not known.');
        self::assertSame(0.9, $reading->hitRatio());
        self::assertSame(0.75, (new Reading(new StoreStatistics(hits: 300, misses: 100), null, 0.0))->hitRatio());
        $same = new StoreStatistics(hits: 300, misses: 100);
        self::assertSame(0.75, (new Reading($same, $same, 1.0))->hitRatio(), 'Nothing happened since.');
        self::assertNull((new Reading(new StoreStatistics(), null, 0.0))->hitRatio());
        self::assertNull((new Reading(new StoreStatistics(hits: 0, misses: 0), null, 0.0))->hitRatio());
    }

    public function testWhatTheCommandReadsItselfIsNotCounted(): void
    {
        $reading = new Reading(new StoreStatistics(hits: 300, misses: 100), null, 0.0, 20, 10);
        self::assertSame([280, 90], [$reading->known->hits, $reading->known->misses]);
        self::assertSame(60.0, (new Reading(new StoreStatistics(hits: 300), new StoreStatistics(hits: 240), 1.0, 20))->rate('hits'), 'Both looks have it in them.');
    }

    public function testGroupsAreKeysThatBeginAlikeTheLargestFirst(): void
    {
        $cache = new Cache(new ArrayStore());
        for ($i = 0; $i < 20; $i++) {
            $cache->set("page:{$i}", str_repeat('x', 1_000));
            $cache->set("user.{$i}.name", 'x');
        }
        $cache->set('single', ['array']);
        $groups = Groups::of($cache->store);
        self::assertNotNull($groups);
        self::assertSame(['page', 'user', '(others)'], array_keys($groups->groups));
        self::assertSame([20, 20, 1], array_column($groups->groups, 0));
        self::assertEqualsWithDelta(20 * 1_006.5, $groups->groups['page'][1], 20);
        self::assertSame([41, true, 17, 0], [$groups->seen, $groups->isAll, $groups->found, $groups->lost]);
        for ($i = 0; $i < 5_000; $i++) {
            $cache->set("many-{$i}", 1);
        }
        $groups = Groups::of($cache->store);
        self::assertSame([5_000, false], [$groups?->seen, $groups?->isAll]);
    }

    public function testEveryLineFitsEightyColumns(): void
    {
        $known = new StoreStatistics(\PHP_INT_MAX, \PHP_INT_MAX, \PHP_INT_MAX, \PHP_INT_MAX, \PHP_INT_MAX, \PHP_INT_MAX, \PHP_INT_MAX);
        $before = new StoreStatistics(0, 0, 0, 0, 0, 0, 0);
        $cache = new Cache(new ArrayStore());
        foreach ([str_repeat('長', 100) . ':x', str_repeat("\e", 50) . ':x', 'a:b', str_repeat('long', 50) . ':y'] as $key) {
            $cache->set($key, $key);
        }
        $lines = Dashboard::lines('redis+unix:/' . str_repeat('very/long/path/', 20), new Reading($known, $before, 0.001), Groups::of($cache->store), '12:34:56');
        foreach ($lines as $line) {
            self::assertLessThanOrEqual(80, mb_strwidth($line), $line);
            self::assertTrue(mb_check_encoding($line, 'UTF-8'));
            self::assertSame(0, preg_match('/[[:cntrl:]]/', $line), $line);
        }
        self::assertStringEndsWith('12:34:56', $lines[0]);
        self::assertStringEndsWith('] no look-ups are counted', Dashboard::lines('sqlite:a.db', new Reading(new StoreStatistics(), null, 0.0), null, '')[2]);
        self::assertStringContainsString('cannot list its keys', implode("\n", Dashboard::lines('array:', new Reading(new StoreStatistics(), null, 0.0), null, '')));
    }

    public function testWithoutATerminalThereIsOneBlockALook(): void
    {
        $scratch = new Scratch();
        Cache::open("sqlite:{$scratch->path}/cache.db")->setMany(['page:1' => 'x', 'page:2' => 'x']);
        $tester = new CommandTester(new TopCommand());
        self::assertSame(0, $tester->execute(['dsn' => "sqlite:{$scratch->path}/cache.db", '--times' => '2', '--interval' => '0.1']));
        self::assertSame(2, substr_count($tester->getDisplay(), 'hit ratio'));
        self::assertStringNotContainsString("\e", $tester->getDisplay());
        self::assertMatchesRegularExpression('/^page +2 +\d+ B$/m', $tester->getDisplay());
        self::assertSame(0, $tester->execute(['dsn' => "sqlite:{$scratch->path}/cache.db", '--times' => '2', '--interval' => '0.1', '--json' => true]));
        $lines = explode("\n", trim($tester->getDisplay()));
        self::assertCount(2, $lines);
        $look = json_decode($lines[1], true);
        self::assertIsArray($look);
        self::assertSame([2, ['page' => ['keys' => 2, 'bytes' => 14]]], [$look['items'], $look['groups']]);
    }

    public function testTheStoresOfATierStandSideBySide(): void
    {
        $scratch = new Scratch();
        $dsn = "array: > sqlite:{$scratch->path}/cache.db";
        Cache::open($dsn)->setMany(['page:1' => 'x', 'page:2' => 'x']);
        $tester = new CommandTester(new TopCommand());
        self::assertSame(0, $tester->execute(['dsn' => $dsn, '--times' => '1']));
        foreach (['/^near hit ratio /m', '/^far hit ratio /m', '/^near memory .* B/m', '/^far memory .* KiB/m', '/^ +near per second +near in all +far per second +far in all$/m', '/^items +\d+ +2$/m', '/^log +.*, \d+ applied$/m'] as $line) {
            self::assertMatchesRegularExpression($line, $tester->getDisplay());
        }
        self::assertSame(0, $tester->execute(['dsn' => $dsn, '--times' => '1', '--json' => true]));
        $look = json_decode(trim($tester->getDisplay()), true);
        self::assertIsArray($look);
        self::assertIsArray($look['near']);
        self::assertSame([], array_diff(['items', 'bytes', 'hits', 'misses', 'hit_ratio', 'hits_per_second', 'lag', 'position', 'events', 'bypasses', 'bypassed because'], array_keys($look['near'])));
        self::assertArrayNotHasKey('near', (array) json_decode(self::looked("sqlite:{$scratch->path}/cache.db"), true));
    }

    private static function looked(string $dsn): string
    {
        $tester = new CommandTester(new TopCommand());
        $tester->execute(['dsn' => $dsn, '--times' => '1', '--json' => true]);

        return trim($tester->getDisplay());
    }

    public function testTheRatesOfANearStoreAreItsOwn(): void
    {
        $look = static fn(int $near, int $far): StoreStatistics => new StoreStatistics(hits: $far, misses: 0, details: ['near hits' => $near, 'near misses' => $near, 'near bypasses' => 3, 'near bypassed because' => 'It was down.', 'near lag' => 1, 'near events' => 5]);
        $reading = new Reading($look(300, 50), $look(100, 40), 2.0);
        self::assertSame([100.0, 5.0, 0.5, 1.0], [$reading->rate('near hits'), $reading->rate('hits'), $reading->hitRatio('near '), $reading->hitRatio()]);
        $lines = Dashboard::lines('array: > sqlite:a.db', $reading, null, '');
        self::assertContains('hits' . \sprintf('%25d%17d%17.1f%17d', 100, 300, 5, 50), $lines);
        self::assertContains('log          one event to follow, 5 applied, left aside 3 times: It was down.', $lines);
        foreach (Dashboard::lines('a > b', new Reading($look(\PHP_INT_MAX, \PHP_INT_MAX), $look(0, 0), 0.001), null, '12:34:56') as $line) {
            self::assertLessThanOrEqual(80, mb_strwidth($line), $line);
        }
    }

    public function testAStoreThatIsDownIsShownAndWaitedFor(): void
    {
        $tester = new CommandTester(new TopCommand());
        self::assertSame(1, $tester->execute(['dsn' => 'redis://127.0.0.1:1', '--times' => '2', '--interval' => '0.1']));
        self::assertSame(2, substr_count($tester->getDisplay(), 'is unavailable'));
        self::assertSame(1, $tester->execute(['dsn' => 'redis://127.0.0.1:1', '--times' => '1', '--json' => true]));
        $look = json_decode($tester->getDisplay(), true);
        self::assertIsArray($look);
        self::assertSame(['time', 'failure'], array_keys($look));
        self::assertSame(0, $tester->execute(['dsn' => 'array:', '--times' => '1']));
    }

    public function testWrongNumbersAreOneClearError(): void
    {
        foreach ([['--interval' => '0'], ['--interval' => 'x'], ['--times' => '0'], ['--times' => 'x']] as $options) {
            $tester = new CommandTester(new TopCommand());
            self::assertSame(2, $tester->execute(['dsn' => 'array:', ...$options], ['capture_stderr_separately' => true]));
            self::assertStringContainsString('give such numbers', $tester->getErrorOutput());
        }
    }

    public function testWithQuietThereIsNothingToWatchWhichIsAnError(): void
    {
        $tester = new CommandTester(new TopCommand());
        self::assertSame(2, $tester->execute(['dsn' => 'array:'], ['capture_stderr_separately' => true, 'verbosity' => OutputInterface::VERBOSITY_QUIET]));
        self::assertSame('', $tester->getDisplay());
        self::assertStringContainsString('leave it out', $tester->getErrorOutput());
    }

    public function testSizesAreReadable(): void
    {
        self::assertSame(['–', '0 B', '1023 B', '1.0 KiB', '1.5 MiB', '8192.0 TiB'], array_map(Printed::bytes(...), [null, 0, 1_023, 1_024, 3 << 19, 1 << 53]));
    }
}
