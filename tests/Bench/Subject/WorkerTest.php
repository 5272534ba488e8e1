<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Subject;

use ArrayObject;
use Larder\Bench\FileSystem;
use Larder\Bench\Subject\Family;
use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\Place;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Subjects;
use Larder\Bench\Subject\Values;
use Larder\Bench\Subject\Worker;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use UnexpectedValueException;

final class WorkerTest extends TestCase
{
    private string $directory;

    /** That of the worker's pools begins with it. */
    private string $name;

    protected function setUp(): void
    {
        $this->name = 'test-' . bin2hex(random_bytes(6));
        $this->directory = sys_get_temp_dir() . '/larder-worker-' . bin2hex(random_bytes(6));
        foreach (['', '/items', '/code', '/tmpfs'] as $part) {
            mkdir($this->directory . $part, 0o700);
        }
    }

    protected function tearDown(): void
    {
        FileSystem::remove($this->directory);
        Pools::remove($this->name);
    }

    #[TestWith(['none'])]
    #[TestWith(['array'])]
    #[TestWith(['array-object'])]
    #[TestWith(['sqlite'])]
    #[TestWith(['file-disk'])]
    #[TestWith(['file-tmpfs'])]
    #[TestWith(['php-file'])]
    #[TestWith(['cache-php-file'])]
    #[TestWith(['cache-tier-apcu'])]
    #[TestWith(['cache-tier-apcu-request'])]
    #[TestWith(['cache-tier-shared-memory'])]
    #[TestWith(['shared-memory-remember'])]
    #[TestWith(['cache-shared-memory-remember'])]
    #[TestWith(['cache-shared-memory-begin'])]
    #[TestWith(['cache-shared-memory-namespace'])]
    public function testASubjectReadsBackEveryValueAfterEveryOperation(string $name): void
    {
        $subject = Subjects::all()[$name] ?? null;
        self::assertNotNull($subject);
        self::assertNull($subject->missing());
        $worker = $this->worker($subject);
        foreach (Values::all() as $value) {
            self::assertSame(['keys' => 3], $worker->prepare($value->name, 3));
            foreach (Operation::cases() as $operation) {
                if ($subject->exempt($operation, $value) === null) {
                    self::assertSame(20, $worker->block($operation, 20)['operations']);
                }
            }
        }
        $worker->finish();
        self::assertSame([], glob("{$this->directory}/{items,tmpfs}/*", GLOB_BRACE));
    }

    public function testAValueThatIsNotTheOneStoredIsNoticed(): void
    {
        $this->expectException(UnexpectedValueException::class);
        $this->expectExceptionMessage('its figures would be worth nothing');

        $this->worker(self::subject('"something else"'))->prepare('string-20', 1);
    }

    public function testAReadOfAnotherKeyIsNoticed(): void
    {
        $this->expectException(UnexpectedValueException::class);

        $this->worker(self::subject('($client->getArrayCopy())["string-20-00000000"]'))->prepare('string-20', 5);
    }

    public function testAChangeToAReadValueThatReachesTheItemIsNoticed(): void
    {
        $worker = $this->worker(self::subject('$client[$key]'));
        $worker->prepare('post', 1);
        $worker->block(Operation::Get, 10);
        $this->expectException(UnexpectedValueException::class);

        $worker->block(Operation::Modify, 10);
    }

    public function testABlockTakesAboutAsLongAsWasAskedFor(): void
    {
        $worker = $this->worker(self::subject('$client[$key]'));
        $worker->prepare('string-20', 1);
        // Both take a moment, in which another process may have had the processor.
        for ($short = $long = $try = 0; $try < 100 && $long <= 5 * $short; $try++) {
            $short = $worker->calibrate(Operation::Get, 100_000);
            $long = $worker->calibrate(Operation::Get, 10_000_000);
        }

        self::assertGreaterThan(5 * $short, $long);
    }

    public function testAPauseWhileTheLengthOfABlockIsLookedForDoesNotShortenIt(): void
    {
        // The first read checks what was stored; the second is the first that is timed.
        $worker = $this->worker(self::subject('(static function () use ($client, $key) { $client["reads"] = ($client["reads"] ?? 0) + 1; if ($client["reads"] === 2) { usleep(100_000); } '
            . 'return $client[$key]; })()'));
        // The machine itself may pause as well.
        for ($operations = $try = 0; $try < 100 && $operations < 100; $try++) {
            $worker->prepare('string-20', 1);
            $operations = $worker->calibrate(Operation::Get, 10_000_000);
        }

        self::assertGreaterThanOrEqual(100, $operations);
    }

    public function testABatchIsReadAtOnce(): void
    {
        /** @var ArrayObject<string, mixed> $sizes */
        $sizes = new ArrayObject();
        $batched = new Subject(
            name: 'batched',
            title: 'a subject that reads ten at once',
            family: Family::Memory,
            open: static fn(): ArrayObject => $sizes,
            read: static fn(): string => '(static function () use ($client, $keys) { $client["sizes"] = count($keys); '
                . 'return array_map(static fn ($key) => $client[$key], $keys); })()',
            write: static fn(): string => '$client[$key] = $value;',
            close: static function (): void {},
            batch: 10,
        );
        $worker = $this->worker($batched);
        $worker->prepare('string-20', 10);

        self::assertSame(30, $worker->block(Operation::Get, 35)['operations']);
        self::assertSame(1, $sizes['sizes'], 'the check after the block reads one');
        self::assertSame(10, $worker->calibrate(Operation::Get, 1) % 10 + 10);
    }

    public function testNoWorkerIsAskedForAHundredValuesOfAMebibyteAtOnce(): void
    {
        foreach (Subjects::all() as $subject) {
            if ($subject->batch > 1) {
                self::assertNotNull($subject->exempt(Operation::Get, Values::named('string-1m')), $subject->name);
                if (!in_array($subject->name, ['redis-mget', 'cache-redis-many', 'shared-memory-many', 'cache-shared-memory-many'], true)) {
                    self::assertNull($subject->exempt(Operation::Get, Values::named('string-32k')), $subject->name);
                }
            }
        }
    }

    /** @param array{int, int} $touches how much was in the cache when the first and the second value were stored */
    #[TestWith([false, [1, 1]])]
    #[TestWith([true, [1, 0]])]
    public function testAMemoryIsTouchedBeforeItIsMeasuredAndAgainOnlyWhereItIsNewMemory(bool $staysWarm, array $touches): void
    {
        /** @var ArrayObject<string, mixed> $cache */
        $cache = new ArrayObject();
        $subject = new Subject(
            name: 'warmed',
            title: 'a subject with memory to touch',
            family: Family::Memory,
            open: static fn(): ArrayObject => $cache,
            read: static fn(): string => '$client[$key]',
            write: static fn(): string => '$client["touched at"] ??= count($client); $client[$key] = $value;',
            close: static function (mixed $client): void {
                $client instanceof ArrayObject && $client->exchangeArray([]);
            },
            warm: static function (mixed $client, Place $place): void {
                $client instanceof ArrayObject && $client->exchangeArray([$place->name => $place->bytes]);
            },
            staysWarm: $staysWarm,
        );
        $worker = $this->worker($subject);
        foreach (['string-20', 'hello'] as $which => $value) {
            $worker->prepare($value, 1);
            self::assertSame($touches[$which], $cache['touched at']);
        }
    }

    public function testValuesHaveTheSizesTheirNamesSay(): void
    {
        foreach (['hello' => 11, 'string-20' => 20, 'string-32' => 32, 'string-1k' => 1024, 'string-32k' => 32_768, 'string-1m' => 1_048_576] as $name => $bytes) {
            $value = Values::named($name)->make(5);
            self::assertIsString($value);
            self::assertSame($bytes, strlen($value));
        }
        $page = Values::named('page')->make(5);
        self::assertIsString($page);
        self::assertEqualsWithDelta(30_000, strlen($page), 1_000);
        $options = Values::named('alloptions')->make(5);
        self::assertIsArray($options);
        self::assertCount(600, $options);
        self::assertEqualsWithDelta(100_000, array_sum(array_map(strlen(...), array_filter($options, is_string(...)))), 10_000);
        foreach (['post', 'entity'] as $name) {
            self::assertCount(20, (array) Values::named($name)->make(5));
        }
    }

    private static function subject(string $read): Subject
    {
        return new Subject(
            name: 'planted',
            title: 'a planted subject',
            family: Family::Memory,
            open: static fn(): ArrayObject => new ArrayObject(),
            read: static fn(): string => $read,
            write: static fn(): string => '$client[$key] = $value;',
            close: static function (): void {},
        );
    }

    private function worker(Subject $subject): Worker
    {
        return new Worker(
            $subject,
            new Place("{$this->directory}/items", "{$this->directory}/tmpfs", $this->name, 64 << 20, []),
            "{$this->directory}/code",
        );
    }
}
