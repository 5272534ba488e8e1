<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Console;

use Larder\Bench\Console\Session;
use Larder\Bench\Experiment\Experiment;
use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\Needs;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Profile;
use Larder\Bench\Experiment\Progress;
use Larder\Bench\Finding\Run;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Subjects;
use Larder\Tests\Scratch;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Output\BufferedOutput;

final class SessionTest extends TestCase
{
    private const TOO_MUCH = 999_999_999;

    public function testTooLittleSharedMemoryStopsOnlyWhatLiesThere(): void
    {
        [$hasFailed, $said, $run, $laboratory] = self::measure(['shared-memory', 'file-tmpfs', 'file-disk'], self::TOO_MUCH, 0, true);

        self::assertTrue($hasFailed);
        self::assertSame(1, substr_count($said, 'MiB of /dev/shm and'));
        self::assertMatchesRegularExpression('/The experiment asks is done without Larder shared memory, .+: it needs 999,999,999 MiB of \/dev\/shm and [\d,]+ are free: /', $said);
        self::assertSame(['shared-memory', 'file-tmpfs'], array_keys($run->outcomes[0]->leftOut ?? []));
        self::assertSame(['can be measured' => 'file-disk'], $run->outcomes[0]->parameters ?? []);
        self::assertNull($laboratory->subjects['shared-memory']->missing(), 'the next experiment may need less');
    }

    public function testWhereNothingThatWasAskedForLiesInSharedMemoryItIsNotMissed(): void
    {
        [$hasFailed, $said, $run] = self::measure(['file-disk', 'php-file', 'array'], self::TOO_MUCH, 0);

        self::assertFalse($hasFailed);
        self::assertStringNotContainsString('/dev/shm', $said);
        self::assertSame([], $run->outcomes[0]->leftOut ?? null);
    }

    public function testWhatIsNotInstalledIsAFailureOnlyWhereItWasAskedFor(): void
    {
        $lacking = (Subjects::all()['file-disk'])->leftOut('it is not installed: install the package one.');
        foreach ([true, false] as $isAskedFor) {
            [$hasFailed, $said, $run] = self::measure(['file-disk', 'array'], 0, 0, $isAskedFor, ['file-disk' => $lacking]);

            self::assertSame($isAskedFor, $hasFailed);
            self::assertSame($isAskedFor, str_contains($said, 'asks: it is not installed: install the package one.'));
            self::assertSame(['can be measured' => 'array'], $run->outcomes[0]->parameters ?? []);
        }
    }

    public function testANamedExperimentThatCanMeasureNothingIsAFailureAndIsDoneWhenTheRunIsResumed(): void
    {
        $lacking = (Subjects::all()['file-disk'])->leftOut('it is not installed: install the package one.');
        foreach ([true, false] as $isNamed) {
            [$hasFailed, $said, $run] = self::measure(['file-disk'], 0, 0, false, ['file-disk' => $lacking], $isNamed);

            self::assertSame($isNamed, $hasFailed);
            self::assertSame($isNamed, str_contains($said, 'asks: it is not installed: install the package one.'));
            self::assertFalse($run->outcomes[0]->isComplete ?? null);
        }
    }

    public function testANamedExperimentThatHasNoneOfTheSubjectsIsAFailure(): void
    {
        foreach ([true, false] as $isNamed) {
            [$hasFailed, $said] = self::measure([], 0, 0, false, [], $isNamed);

            self::assertSame($isNamed, $hasFailed);
            self::assertSame($isNamed, str_contains($said, 'asks: nothing of it was measured: give other --subjects'));
        }
    }

    public function testTooLittleMemoryGivesAnExperimentUp(): void
    {
        [$hasFailed, $said, $run] = self::measure(['file-disk'], 0, self::TOO_MUCH);

        self::assertTrue($hasFailed);
        self::assertStringContainsString('The experiment asks was given up: it needs 999,999,999 MiB of memory', $said);
        self::assertSame([], $run->outcomes[0]->parameters ?? null);
    }

    public function testWhatFailsBecauseTheRunIsToStopIsNotAFailure(): void
    {
        foreach ([true, false] as $isInterrupted) {
            [$hasFailed, $said, $run] = self::measure(['file-disk'], 0, 0, does: static function (Laboratory $laboratory) use ($isInterrupted): never {
                if ($isInterrupted) {
                    $laboratory->interrupt();
                }
                throw new \RuntimeException('The load generator gave up.');
            });

            self::assertSame(!$isInterrupted, $hasFailed);
            self::assertSame(!$isInterrupted, str_contains($said, 'The experiment asks was given up: The load generator gave up.'));
            self::assertFalse($run->outcomes[0]->isComplete ?? null);
            self::assertFalse($run->isComplete);
        }
    }

    public function testADiskThatIsFullIsAFailureAndTheRunGoesOn(): void
    {
        [$hasFailed, $said, $run] = self::measure(['file-disk'], 0, 0, json: '/dev/full');

        self::assertTrue($hasFailed);
        self::assertStringContainsString('The file /dev/full could not be written: free some space there, or give another path.', $said);
        self::assertSame(['can be measured' => 'file-disk'], $run->outcomes[0]->parameters ?? []);
    }

    /**
     * @param list<string> $subjects
     * @param array<string, Subject> $instead of those
     * @param (\Closure(Laboratory): void)|null $does what the experiment does
     * @return array{bool, string, Run, Laboratory} whether something failed, what was said, and what was written
     */
    private static function measure(array $subjects, int $sharedMegabytes, int $megabytes, bool $isAskedFor = false, array $instead = [], bool $isNamed = false, ?string $json = null, ?\Closure $does = null): array
    {
        $laboratory = new Laboratory(Profile::Quick, [...array_intersect_key(Subjects::all(), array_flip($subjects)), ...$instead], Placement::ofThisMachine());
        $experiment = new class ($sharedMegabytes, $megabytes, $does) implements Experiment {
            /** @param (\Closure(Laboratory): void)|null $does when it has asked who can be measured */
            public function __construct(private readonly int $sharedMegabytes, private readonly int $megabytes, private readonly ?\Closure $does) {}

            public function name(): string
            {
                return 'asks';
            }

            public function title(): string
            {
                return 'Subjects that can be measured';
            }

            public function recreates(): string
            {
                return 'Nothing.';
            }

            public function needs(Profile $profile): Needs
            {
                return new Needs($this->sharedMegabytes, $this->megabytes, 1);
            }

            public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
            {
                $can = array_filter($laboratory->subjects, static fn(Subject $subject): bool => $outcome->includes($laboratory, $subject->name, $subject->name));
                $outcome->parameters = ['can be measured' => implode(' ', array_keys($can))];
                if ($this->does !== null) {
                    ($this->does)($laboratory);
                }
            }
        };
        $run = new Run('larder bench', 'quick', '2024-05-01T10:00:00Z', [], 'anywhere', [], []);
        $said = new BufferedOutput();
        $scratch = new Scratch();
        $hasFailed = (new Session($run, $laboratory, $said, $json ?? "{$scratch->path}/run.json", $isAskedFor, $isNamed))->measure(['asks' => $experiment]);

        return [$hasFailed, $said->fetch(), $run, $laboratory];
    }
}
