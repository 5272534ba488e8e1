<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\ChildProcess;
use Larder\Bench\Experiment\ColdReads;
use Larder\Bench\Experiment\Crowd\Crowd;
use Larder\Bench\Experiment\Forked;
use Larder\Bench\Experiment\Interrupted;
use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\LoadGenerator;
use Larder\Bench\Experiment\Overfill;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Profile;
use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Experiment\Session\SessionRequests;
use Larder\Bench\Experiment\Tag\OtherTags;
use Larder\Bench\Experiment\Trace\Reference;
use Larder\Bench\Experiment\Trace\Simulation;
use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\CpuTime;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Tests\Scratch;
use Larder\Tests\Wait;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use RuntimeException;

/** The tasks of experiments, each in a process of its own, as experiments have them done. */
final class TasksTest extends TestCase
{
    private Scratch $scratch;
    private string|false $temporary;

    protected function setUp(): void
    {
        // Where the processes of tasks make directories, if this is on a disk.
        $this->scratch = new Scratch();
        $this->temporary = getenv('TMPDIR');
        putenv("TMPDIR={$this->scratch->path}");
    }

    protected function tearDown(): void
    {
        putenv($this->temporary === false ? 'TMPDIR' : "TMPDIR={$this->temporary}");
    }

    public function testItemsAreLeftAsLongAsInvalidationsOfOtherTagsAreRemembered(): void
    {
        $none = ['items' => 100, 'bytes' => 4 << 20, 'carried' => 0, 'uncarried' => 0];

        self::assertSame(['with 1' => 1.0, 'with 10' => 1.0], self::leftOf($none));
        self::assertSame(['with 1' => 0.0, 'with 10' => 0.0], self::leftOf(['carried' => 20_500] + $none), 'a pool of 4 MiB remembers 4,480');
        self::assertGreaterThan(0.5, self::leftOf(['uncarried' => 20_500] + $none)['with 10'], 'of tags that no item has carried it remembers none');
    }

    public function testTheItemsAreAllThereBeforeOtherTagsAreInvalidated(): void
    {
        $this->expectException(WorkerFailed::class);
        $this->expectExceptionMessage('does not hold 200000 items with 1 tags');

        self::leftOf(['items' => 200_000, 'bytes' => 4 << 20, 'carried' => 0, 'uncarried' => 0]);
    }

    /**
     * @param array<string, int> $arguments
     * @return array<string, float>
     */
    private static function leftOf(array $arguments): array
    {
        $found = ChildProcess::run('a task', OtherTags::class, $arguments);

        return ['with 1' => $found->float('with 1'), 'with 10' => $found->float('with 10')];
    }

    /** One that comes while PHP ends, without its handlers, kills a task that has answered. */
    #[TestWith(['answers'])]
    #[TestWith(['fails'])]
    public function testATaskThatIsOverIsWokenByNoAlarm(string $how): void
    {
        $file = "{$this->scratch->path}/alarm";
        try {
            ChildProcess::run('a task', LastAlarm::class, ['file' => $file, 'how' => $how]);
            self::assertSame('answers', $how);
        } catch (WorkerFailed) {
            self::assertSame('fails', $how);
        }

        self::assertSame('0', file_get_contents($file), 'An alarm is to come within so many seconds.');
    }

    #[TestWith(['array'])]
    #[TestWith(['apcu-php'])]
    #[TestWith(['shared-memory'])]
    #[TestWith(['sqlite'])]
    public function testACrowdFindsWhatItsFirstMemberStored(string $subject): void
    {
        $found = $this->crowd($subject, '')->all();

        foreach (['rate 1 0', 'rate 1 1', 'rate 3 0', 'rate 3 1'] as $rate) {
            self::assertGreaterThan(0, (float) ($found[$rate] ?? 0));
        }
        self::assertSame([], glob("{$this->scratch->path}/*"));
    }

    /** Nothing is what a store returns that loses what it is given; one that was refused a single write is not such. */
    #[TestWith(['"something else"'])]
    #[TestWith(['null'])]
    public function testACrowdThatReadsSomethingElseIsNoticed(string $read): void
    {
        file_put_contents("{$this->scratch->path}/liar.php", strtr(<<<'CODE'
            <?php
            use Larder\Bench\Subject\{Family, Subject};
            return new Subject(
                name: 'liar', title: 'a liar', family: Family::Memory, open: static fn () => null,
                read: static fn () => 'READ', write: static fn () => '', close: static function (): void {},
            );
            CODE, ['READ' => $read]));
        $this->expectException(WorkerFailed::class);
        $this->expectExceptionMessage('a liar returned something else');

        $this->crowd('liar', "{$this->scratch->path}/liar.php");
    }

    public function testTheMembersOfACrowdGoRoundTheProcessors(): void
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-crowd-');
        $where = "{$file}.where";
        file_put_contents($file, strtr(<<<'CODE'
            <?php
            use Larder\Bench\Experiment\Placement;
            use Larder\Bench\Subject\{Family, Subject};
            return new Subject(
                name: 'witness', title: 'a witness', family: Family::Memory,
                open: static function () { file_put_contents('WHERE', implode(',', Placement::allowed()) . "\n", FILE_APPEND); return new ArrayObject(); },
                read: static fn () => 'Larder\Bench\Subject\Values::named("string-1k")->make((int) substr($key, 5))',
                write: static fn () => '', close: static function (): void {},
            );
            CODE, ['WHERE' => $where]));
        try {
            $this->crowd('witness', $file);
            $found = file($where, FILE_IGNORE_NEW_LINES) ?: [];
        } finally {
            unlink($file);
            @unlink($where);
        }
        $processors = array_map(strval(...), Placement::allowed());

        self::assertEqualsCanonicalizing(array_map(static fn(int $number): string => $processors[$number % count($processors)], [0, 1, 2]), $found);
    }

    public function testTheFailureOfAForkedProcessIsToldAndTheOthersEnd(): void
    {
        $this->expectException(RuntimeException::class);
        $this->expectExceptionMessage('the second failed');

        Forked::all(3, static function (int $number): array {
            if ($number === 1) {
                throw new RuntimeException('the second failed');
            }
            if ($number === 2) {
                sleep(100);
            }

            return ['number' => $number];
        });
    }

    /** @param array<string, string> $settings */
    private static function sessions(array $settings = []): Fields
    {
        $directory = FileSystem::inMemory() . '/larder-sessions-' . bin2hex(random_bytes(6));
        mkdir($directory, 0o700);
        try {
            return ChildProcess::run('sessions', SessionRequests::class, ['handler' => 'files', 'endpoint' => '', 'operations' => 5, 'blocks' => 1, 'milliseconds' => 100, 'servers' => ''], [
                'session.use_cookies' => '0', 'session.cache_limiter' => '', 'session.save_handler' => 'files', 'session.save_path' => $directory, ...$settings,
            ]);
        } finally {
            FileSystem::remove($directory);
        }
    }

    public function testASessionThatComesBackAnotherHasNoFigures(): void
    {
        $this->expectException(WorkerFailed::class);
        $this->expectExceptionMessage('or not what was stored');
        // A price of 24.5 does not survive being written with one digit.
        self::sessions(['serialize_precision' => '1']);
    }

    public function testSessionsOfFilesLoseNoChange(): void
    {
        $found = self::sessions();

        self::assertSame(0, $found->int('lost'));
        self::assertGreaterThan(0, $found->int('changes'));
        self::assertGreaterThan(0.0, $found->float('read 0'));
        self::assertSame(0.0, $found->float('server cpu of read 0'), 'files have no server');
    }

    public function testAFullStoreThatReturnsAWrongValueHasNoFigures(): void
    {
        $pool = 'bench-' . bin2hex(random_bytes(6));
        RawStores::open(RawStores::SHARED_MEMORY, $pool, 8, null)->set('key-1', 'nobody stored this');

        $this->expectException(WorkerFailed::class);
        $this->expectExceptionMessage('returned something else for key-1 than was stored');
        ChildProcess::run('a full pool', Overfill::class, ['store' => 'shared-memory', 'endpoint' => $pool, 'megabytes' => 8, 'bytes' => 8_000, 'operations' => 1_000, 'milliseconds' => 60_000, 'ttl' => 0, 'servers' => '']);
    }

    public function testAFullPoolGoesOnHitting(): void
    {
        $found = ChildProcess::run('a full pool', Overfill::class, ['store' => 'shared-memory', 'endpoint' => 'bench-' . bin2hex(random_bytes(6)), 'megabytes' => 8, 'bytes' => 8_000, 'operations' => 20_000, 'milliseconds' => 60_000, 'ttl' => 0, 'servers' => '']);

        $series = $found->rows('series');
        self::assertNotSame([], $series);
        self::assertGreaterThan(0.1, $series[count($series) - 1][0] ?? 0);
        self::assertGreaterThan(0.0, $found->object('set')->float('p99.99'));
        self::assertLessThan(0.9, $found->float('lost'));
        self::assertGreaterThan(0.0, $found->numbers('cpu')[0] ?? 0.0);
    }

    #[TestWith(['files'])]
    #[TestWith(['sqlite'])]
    #[TestWith(['sqlite-mapped'])]
    public function testPagesAreReadWarmAndCold(string $store): void
    {
        $found = ChildProcess::run('cold reads', ColdReads::class, ['store' => $store, 'items' => 10, 'reads' => 5, 'milliseconds' => 100, 'forget' => LoadGenerator::directory() . '/forget']);

        foreach (['warm', 'cold'] as $state) {
            self::assertCount(2, $found->rows($state));
            foreach ($found->rows($state) as [$time, $client, $server]) {
                self::assertGreaterThan(0, $time);
                self::assertGreaterThanOrEqual(0, $client);
                self::assertSame(0, (int) $server, 'files have no server');
            }
        }
        self::assertTrue($found->has('small') || $found->has('why'));
    }

    public function testATaskIsStoppedWhenTheRunIsToStop(): void
    {
        $this->expectException(Interrupted::class);
        try {
            ChildProcess::run('a crowd', Crowd::class, $this->arguments('shared-memory', '', 60_000), isInterrupted: static fn(): bool => true);
        } finally {
            self::assertSame([], glob("{$this->scratch->path}/*"));
        }
    }

    public function testTasksThatTimeNothingAreDoneBesideEachOther(): void
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-trace-');
        $keys = [1, 2, 3, 1, 2, 1, 4, 1];
        file_put_contents($file, pack('N*', ...$keys));
        $policies = array_column(Reference::cases(), 'value');
        $begun = [];
        try {
            $found = (new Laboratory(Profile::Quick, [], Placement::ofThisMachine()))->tasks(
                Simulation::class,
                array_combine($policies, array_map(static fn(string $policy): array => ['file' => $file, 'policy' => $policy, 'items' => 2], $policies)),
                static function (string $title) use (&$begun): void {
                    $begun[] = $title;
                },
            );
        } finally {
            unlink($file);
        }

        self::assertSame($policies, $begun);
        self::assertSame(
            array_map(static fn(string $policy): float => Reference::from($policy)->missRatio($keys, 2), $policies),
            array_map(static fn(string $policy): float => $found[$policy]->float('miss ratio'), $policies),
        );
    }

    public function testATaskDoesNotOutliveWhoStartedIt(): void
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-crowd-');
        $who = "{$file}.who";
        file_put_contents($file, strtr(<<<'CODE'
            <?php
            use Larder\Bench\Subject\{Family, Subject};
            return new Subject(
                name: 'lasting', title: 'a lasting one', family: Family::Memory,
                open: static function () { file_put_contents('WHO', getmypid() . "\n"); },
                read: static fn () => 'Larder\Bench\Subject\Values::named("string-1k")->make((int) substr($key, 5))', write: static fn () => '', close: static function (): void {},
            );
            CODE, ['WHO' => $who]));
        try {
            // Left alone, it would take ten minutes.
            $task = ChildProcess::start('a crowd', Crowd::class, [...$this->arguments('lasting', $file, 500), 'rounds' => 600]);
            for ($try = 0; $try < 6_000 && !str_ends_with((string) @file_get_contents($who), "\n"); $try++) {
                usleep(10_000);
            }
            $process = (int) file_get_contents($who);
            self::assertTrue(posix_kill($process, 0), 'It has begun.');
            unset($task);

            self::assertFalse(posix_kill($process, 0));
        } finally {
            unlink($file);
            @unlink($who);
        }
    }

    public function testATaskEndsWhenWhoStartedItIsKilled(): void
    {
        $file = "{$this->scratch->path}/lasting.php";
        $who = "{$this->scratch->path}/who";
        file_put_contents($file, strtr(<<<'CODE'
            <?php
            use Larder\Bench\Subject\{Family, Subject};
            return new Subject(
                name: 'lasting', title: 'a lasting one', family: Family::Memory,
                open: static function () { file_put_contents('WHO', posix_getppid() . "\n"); },
                read: static fn () => 'Larder\Bench\Subject\Values::named("string-1k")->make((int) substr($key, 5))', write: static fn () => '', close: static function (): void {},
            );
            CODE, ['WHO' => $who]));
        $script = 'require ' . var_export(dirname(__DIR__, 3) . '/vendor/autoload.php', true) . ';'
            // Left alone, it would take ten minutes.
            . '$task = Larder\Bench\Experiment\ChildProcess::start("a crowd", Larder\Bench\Experiment\Crowd\Crowd::class, json_decode($argv[1], true)); sleep(1000);';
        $starter = proc_open([PHP_BINARY, '-r', $script, json_encode([...$this->arguments('lasting', $file, 500), 'rounds' => 600], JSON_THROW_ON_ERROR)], [['file', '/dev/null', 'r']], $pipes);
        self::assertIsResource($starter);
        $task = 0;
        Wait::until('a task has begun', static function () use ($who, &$task): bool {
            $said = (string) @file_get_contents($who);
            $task = (int) $said;

            return str_ends_with($said, "\n");
        });
        self::assertTrue(CpuTime::isAlive($task));
        proc_terminate($starter, SIGKILL);
        proc_close($starter);

        Wait::until('its task has ended', static fn(): bool => !CpuTime::isAlive($task));
        self::assertSame([], glob("{$this->scratch->path}/larder-*"), 'and has removed what it made');
    }

    private function crowd(string $subject, string $file): \Larder\Bench\Fields
    {
        return ChildProcess::run('a crowd', Crowd::class, $this->arguments($subject, $file, 10), ['apc.shm_size' => '64M']);
    }

    /** @return array<string, string|int> */
    private function arguments(string $subject, string $file, int $milliseconds): array
    {
        return [
            'subject' => $subject, 'file' => $file, 'value' => 'string-1k', 'keys' => 50, 'writes' => 5, 'counts' => '1 3', 'milliseconds' => $milliseconds,
            'rounds' => 2, 'warmed' => 1, 'bytes' => 16 << 20, 'endpoint' => '{}',
        ];
    }
}
