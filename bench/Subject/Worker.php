<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Larder\Bench\Server\CpuTime;
use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/**
 * One subject in a process of its own, which does one block at a time when it is told to.
 *
 * Values that were read are compared with those that were written, outside the timed region. That is every key once after it
 * was stored, and the last value of each block. The item is compared once more after each block, which finds a change of a
 * value read that reaches it.
 */
final class Worker
{
    /**
     * Reads of the largest value before each block. PHP gives the memory of such values back to the kernel until it has done so
     * five times in a row, and then keeps it (zend_mm_delete_chunk() in Zend/zend_alloc.c): blocks of few reads took twenty times as
     * long as others, for page faults.
     */
    private const LEADING = 8;
    /** Keys in the list that a loop goes through; longer blocks go through it several times. */
    private const LIST = 1000;

    private readonly Loop $loop;
    private ?Value $value = null;
    private mixed $client = null;
    private mixed $stored = null;
    /** @var non-empty-list<int> numbers of the keys, in the order they are read */
    private array $order = [0];
    private int $position = 0;

    private Place $place;
    private int $prepared = 0;
    /** @var array<int, mixed> number => what is expected there, where making it anew each time would take longer than reading it */
    private array $expected = [];

    public function __construct(private readonly Subject $subject, private readonly Place $home, string $codeDirectory)
    {
        $this->loop = new Loop($codeDirectory);
        $this->place = $home;
    }

    /**
     * Stores this many items of the value and reads each of them back.
     *
     * @return array{keys: int}
     */
    public function prepare(string $value, int $keys): array
    {
        $this->finish();
        $this->value = Values::named($value);
        $this->place = $this->home->named($this->home->name . '-' . $this->prepared++);
        $this->client = $this->subject->open($this->place, $this->value);
        if ($this->prepared === 1 || !$this->subject->staysWarm) {
            $this->subject->warm($this->client, $this->place);
        }
        $this->stored = $this->value->make(0);
        $this->expected = [];
        $this->position = 0;
        $this->order = range(0, $keys - 1);
        foreach ($this->order as $number) {
            $this->run(Operation::Set, [$this->key($number)], $this->value->make($number), 1);
        }
        foreach ($this->order as $number) {
            $this->check($number, $this->read($number));
        }
        $this->order = (new Randomizer(new Xoshiro256StarStar(7)))->shuffleArray($this->order);

        return ['keys' => count($this->order)];
    }

    /**
     * How many operations take about so long; the search warms everything up as well.
     *
     * @param int $nanoseconds the time that a block shall take
     */
    public function calibrate(Operation $operation, int $nanoseconds): int
    {
        $operations = $this->subject->batch;
        do {
            $taken = $this->block($operation, $operations)['nanoseconds'];
            if ($taken * 2 >= $nanoseconds) {
                // One pause of this machine looks the same. Blocks of too few operations would measure how each begins.
                $taken = min($taken, $this->block($operation, $operations)['nanoseconds']);
            }
            $taken = max(1, $taken);
            $enough = $taken * 2 >= $nanoseconds;
            $operations = $enough
                ? (int) ($operations * $nanoseconds / $taken)
                : $operations * (int) max(2, min(10, $nanoseconds / $taken));
        } while (!$enough);

        return max($this->subject->batch, $operations);
    }

    /**
     * @return array{operations: int, nanoseconds: int, cpu: int} `cpu`: this process's own time, user and system, in ns
     */
    public function block(Operation $operation, int $operations): array
    {
        $length = max($this->subject->batch, min($operations, count($this->order) > 1 ? $operations : self::LIST));
        $length -= $length % $this->subject->batch;
        $numbers = $this->next($length);
        $keys = array_map($this->key(...), $numbers);
        $rounds = max(1, (int) round($operations / $length));
        if ($this->value()->name === Values::LARGEST && !$operation->isChange()) {
            $this->run($operation, [$keys[0]], null, self::LEADING);
        }
        $before = CpuTime::ofThisProcess();
        [$nanoseconds, $value] = $this->run($operation, $keys, $this->stored, $rounds);
        $cpu = CpuTime::ofThisProcess() - $before;
        $last = $numbers[$length - 1];
        if ($operation->isChange()) {
            // The block stored one value under all its keys, or deleted them; each gets its own again.
            foreach (array_unique($numbers) as $number) {
                $this->run(Operation::Set, [$this->key($number)], $this->expected($number), 1);
            }
        } elseif ($operation !== Operation::Modify) {
            $this->check($last, $value);
        }
        $this->check($last, $this->read($last));

        return ['operations' => $length * $rounds, 'nanoseconds' => $nanoseconds, 'cpu' => $cpu];
    }

    public function finish(): void
    {
        if ($this->value !== null) {
            $this->subject->close($this->client, $this->place);
            $this->value = $this->client = $this->stored = null;
        }
    }

    private function value(): Value
    {
        return $this->value ?? throw new \LogicException('The worker was told to run a block before it was told to prepare a value.');
    }

    private function key(int $number): string
    {
        return sprintf('%s-%08d', $this->value()->name, $number);
    }

    /** @return non-empty-list<int> */
    private function next(int $length): array
    {
        $numbers = [];
        do {
            $numbers[] = $this->order[$this->position];
            $this->position = ($this->position + 1) % count($this->order);
        } while (count($numbers) < $length);

        return $numbers;
    }

    /**
     * @param non-empty-list<string> $keys
     * @return array{int, mixed} nanoseconds and the last value
     */
    private function run(Operation $operation, array $keys, mixed $stored, int $rounds): array
    {
        [$nanoseconds, $value, $this->client] = $this->loop->run(
            $this->subject,
            $this->value(),
            $operation,
            $this->client,
            $this->place,
            $keys,
            $stored,
            $rounds,
        );

        return [$nanoseconds, $value];
    }

    private function read(int $number): mixed
    {
        return $this->run(Operation::Get, [$this->key($number)], null, 1)[1];
    }

    private function check(int $number, mixed $found): void
    {
        if ($this->subject->name === 'none') {
            return;
        }
        $expected = $this->expected($number);
        // Of what has objects in it no two are identical. Those of some classes know that they were read: what is stored of them is the same.
        $isSame = $found === $expected || (get_debug_type($found) === get_debug_type($expected) && serialize($found) === serialize($expected));
        if (!$isSame) {
            throw new \UnexpectedValueException(sprintf(
                '%s returned %s for the key %s, not %s that was stored: its figures would be worth nothing.',
                $this->subject->title,
                get_debug_type($found),
                $this->key($number),
                $this->value()->title,
            ));
        }
    }

    /** An object is made anew each time: the one kept could be the very one that a subject hands out and a block changes. */
    private function expected(int $number): mixed
    {
        if (count($this->order) > 1 || is_object($this->stored)) {
            return $this->value()->make($number);
        }

        return $this->expected[$number] ??= $this->value()->make($number);
    }
}
