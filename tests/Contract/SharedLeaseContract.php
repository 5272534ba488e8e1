<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Cache;
use Larder\Capability;
use Larder\Remember\StampedeOptions;
use Larder\Store;
use Larder\Tests\Scratch;

/** What a store that several processes share promises of the lease that one of them has while others wait. */
final class SharedLeaseContract extends SharedSuite
{
    public function testALeaseIsWonByExactlyOneProcess(): void
    {
        $won = $this->inProcesses(function (Store $store, int $process): array {
            $won = [];
            for ($i = 0; $i < 20; $i++) {
                if ($this->of->leases()->acquire("round {$i}", "process {$process}", 1_000.0)) {
                    $won[] = $i;
                }
            }

            return $won;
        });
        $rounds = array_merge(...$won);
        sort($rounds);
        self::assertSame(range(0, 19), $rounds);
        foreach ($won as $process => $its) {
            foreach ($its as $i) {
                self::assertTrue($this->of->leases()->release("round {$i}", "process {$process}"), 'Its holder owns it.');
            }
        }
    }

    public function testTheNumbersOfALeaseGrowFromProcessToProcess(): void
    {
        $scratch = new Scratch();
        $seen = "{$scratch->path}/seen";
        // A clear leaves leases alone, so that another test's may still be held.
        $name = 'numbered';
        file_put_contents($seen, '0');
        $given = $this->inProcesses(function (Store $store, int $process) use ($name, $seen): array {
            $leases = $this->of->leases();
            for ($given = []; \count($given) < 10; usleep(1_000)) {
                if (!$leases->acquire($name, "process {$process}", 1_000.0)) {
                    continue;
                }
                $number = $leases->fence($name, "process {$process}");
                self::assertGreaterThan((int) file_get_contents($seen), $number);
                file_put_contents($seen, (string) $number);
                $given[] = (int) $number;
                self::assertTrue($leases->release($name, "process {$process}"));
            }

            return $given;
        });
        self::assertCount(10 * self::PROCESSES, array_unique(array_merge(...$given)));
    }

    public function testAfterARefusedFillOneOfThoseWhoWaitComputesAndNotAllAtOnce(): void
    {
        if ($this->lacks(Capability::Tags, Capability::Tokens)) {
            self::assertLessThan(2, \count(array_filter([Capability::Tags, Capability::Tokens], $this->can(...))));

            return;
        }
        $scratch = new Scratch();
        [$computing, $waiting] = ["{$scratch->path}/computing", "{$scratch->path}/waiting"];
        $answers = $this->inProcesses(static function (Store $store, int $process) use ($computing, $waiting): array {
            $cache = new Cache($store, strict: true);
            if ($process > 0) {
                self::await(static fn(): bool => file_exists($computing));
                if ($process === 1) {
                    $cache->invalidateTags(['tag']);
                }
                file_put_contents($waiting, '.', \FILE_APPEND | \LOCK_EX);
            }
            $answer = $cache->remember('key', static function () use ($process, $computing, $waiting): string {
                file_put_contents($computing, '.', \FILE_APPEND | \LOCK_EX);
                if ($process === 0) {
                    self::await(static function () use ($waiting): bool {
                        clearstatcache();

                        return @filesize($waiting) === self::PROCESSES - 1;
                    });
                    // They have said so just before they begin to. One that has not begun yet cannot fail, but shows nothing.
                    usleep(50_000);
                }

                return "by {$process}";
            }, 1_000, ['tag'], stampede: new StampedeOptions(lease: (float) self::TIMEOUT));

            return [$answer];
        });
        self::assertSame('..', file_get_contents($computing), 'As many as have computed.');
        $answers = array_merge(...$answers);
        self::assertSame('by 0', array_shift($answers));
        self::assertCount(1, array_unique($answers));
        self::assertNotContains('by 0', $answers, 'What was invalidated is served.');
    }
}
