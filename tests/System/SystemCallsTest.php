<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Bench\Experiment\Counter;
use Larder\Store\Sqlite\HeadFile;
use Larder\Store\Sqlite\SqliteLog;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** Most of what a small set takes is spent in the kernel. */
#[CoversClass(HeadFile::class)]
#[CoversClass(SqliteLog::class)]
#[CoversClass(SqliteStore::class)]
final class SystemCallsTest extends TestCase
{
    /** So many that what is done now and then disappears, and so few that SQLite does not carry over its log. */
    private const SETS = 100;

    /**
     * A look whether the database is still the file of its name; the event's page, which SQLite writes in two; the head made odd (the
     * process's number, in case of a fork; locked, looked at, changed, unlocked), and even again. Then, so that the next read need not ask the log: the
     * event's nonce, a look for a notice (the process's number again), and two at what the head is now.
     */
    private const OF_A_TIER = 18;

    public function testASetThroughATierCostsEighteenSystemCallsMoreThanOneIntoTheDatabaseAlone(): void
    {
        $alone = $this->callsOfASet('');
        $tier = $this->callsOfASet('array: > ');

        self::assertGreaterThan(0, $alone);
        self::assertEqualsWithDelta(self::OF_A_TIER, $tier - $alone, 0.9);
    }

    /** What one set more costs. */
    private function callsOfASet(string $near): float
    {
        $counts = [];
        foreach ([1, 2] as $times) {
            $scratch = new Scratch();
            $counts[] = $this->calls(sprintf(
                'require %s; $cache = Larder\Cache::open(%s); for ($i = 0; $i < %d; $i++) { $cache->set("key " . $i %% 10, "value {$i}") || exit(1); }',
                var_export(\dirname(__DIR__, 2) . '/vendor/autoload.php', true),
                var_export("{$near}sqlite:{$scratch->path}/cache.db", true),
                $times * self::SETS,
            ));
        }

        return ($counts[1] - $counts[0]) / self::SETS;
    }

    private function calls(string $code): int
    {
        $counter = Counter::systemCalls();
        self::assertInstanceOf(Counter::class, $counter, \is_string($counter) ? $counter : '');
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-test-');
        try {
            (new Process([...$counter->before($file), \PHP_BINARY, '-d', 'opcache.enable_cli=0', '-r', $code], timeout: null))->mustRun();

            return $counter->read((string) file_get_contents($file));
        } finally {
            unlink($file);
        }
    }
}
