<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Crowd;

use Larder\Bench\Server\CpuTime;
use Larder\Bench\Subject\Family;
use Larder\Bench\Subject\Place;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Value;
use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/** One of many processes: opens its own client, and reads and writes until its time is over. */
final class Member
{
    /** Operations before a process begins again with the same keys: so many that the processor's nearest caches do not hold them. */
    private const OPERATIONS = 5_000;
    /** Entries of the plan, of about twenty operations each, between two looks at the clock. */
    private const ENTRIES = 10;

    private mixed $client = null;
    /** @var (\Closure(mixed, Place, list<array{int, list<array{list<string>, string, mixed}>}>, int): array{int, int, mixed, string, mixed})|null */
    private ?\Closure $loop = null;
    /** @var list<array{int, list<array{list<string>, string, mixed}>}> how many operations, and the entries of the plan that they are */
    private array $parts = [];
    private bool $hasMissed = false;

    /** @param int $writes of 100 operations */
    public function __construct(
        private readonly Subject $subject,
        private readonly Value $value,
        private readonly Place $place,
        private readonly string $directory,
        private readonly int $keys,
        private readonly int $writes,
        private readonly int $number,
        private readonly bool $isWarmed = true,
    ) {}


    /** Leaves nothing stored. */
    public function open(): void
    {
        $this->client = $this->subject->open($this->place, $this->value);
        // A process's first visit of a page of shared memory is slow and its last slow one; those of PHP-FPM live long.
        if ($this->isWarmed) {
            $this->subject->warm($this->client, $this->place);
        }
    }

    /** When all have opened the subject. */
    public function prepare(): void
    {
        // What lives in a process must be stored in each of them.
        if ($this->number === 0 || $this->subject->family === Family::Yardstick) {
            $store = $this->load('store', 'foreach ($plan as [$keys, $key, $value]) { ' . $this->subject->write($this->value) . ' }');
            for ($key = 0; $key < $this->keys; $key++) {
                [, , , , $this->client] = $store($this->client, $this->place, [self::part([[[], $this->key($key), $this->value->make($key)]])], 0);
            }
        }
        $this->loop = $loop = $this->load('loop', $this->body());
        $this->parts = array_map(self::part(...), array_chunk($this->plan(), self::ENTRIES));
        if (!$this->isWarmed) {
            // A member that has not visited all memory visits what it is to read: hundreds would not get as far in a round that is thrown away.
            foreach ($this->parts as $part) {
                [, , , , $this->client] = $loop($this->client, $this->place, [$part], 0);
            }
        }
    }

    /**
     * @param int $begin by hrtime, which is the same for all processes
     * @return array{operations: int, end: int, cpu: int}
     */
    public function work(int $begin, int $end): array
    {
        $wait = intdiv($begin - hrtime(true), 1000);
        if ($wait > 0) {
            usleep($wait);
        }
        $loop = $this->loop ?? throw new \LogicException('A member was told to work before it was told to open.');
        $cpu = CpuTime::ofThisProcess();
        [$operations, $ended, $found, $key, $this->client] = $loop($this->client, $this->place, $this->parts, $end);
        $cpu = CpuTime::ofThisProcess() - $cpu;
        if ($key !== '' && $this->subject->name !== 'none') {
            $this->check($key, $found);
        }

        return ['operations' => $operations, 'end' => $ended, 'cpu' => $cpu];
    }

    public function close(): void
    {
        if ($this->number === 0) {
            $this->subject->close($this->client, $this->place);
        }
    }

    /**
     * A store that another process holds up may refuse a write, and then has lost what was there: on a machine that is busy with
     * other things that happens, once in a while. What misses twice where something was stored has no figures.
     */
    private function check(string $key, mixed $found): void
    {
        if (($found === null || $found === false) && $this->writes > 0 && !$this->hasMissed) {
            $this->hasMissed = true;

            return;
        }
        if (serialize($found) !== serialize($this->value->make((int) substr($key, 5)))) {
            throw new \UnexpectedValueException("{$this->subject->title} returned something else for {$key} than was stored: its figures would be worth nothing.");
        }
    }

    private function key(int $number): string
    {
        return sprintf('item-%08d', $number);
    }

    private function body(): string
    {
        $read = $this->subject->batch > 1
            ? throw new \LogicException("{$this->subject->title} reads many at once, which a crowd does not do.")
            : 'foreach ($keys as $key) { $value = ' . $this->subject->read($this->value) . '; } $last = $key;';
        $write = '$found = $value; $key = $written; $value = $stored; ' . $this->subject->write($this->value) . ' $value = $found;';

        return 'foreach ($plan as [$keys, $written, $stored]) { ' . ($this->writes < 100 ? $read : '') . ($this->writes > 0 ? " {$write}" : '') . ' }';
    }

    /**
     * @param list<array{list<string>, string, mixed}> $plan
     * @return array{int, list<array{list<string>, string, mixed}>} with the number of operations before it
     */
    private static function part(array $plan): array
    {
        $operations = 0;
        foreach ($plan as [$keys, , $value]) {
            $operations += count($keys) + (int) ($value !== null);
        }

        return [$operations, $plan];
    }

    /** @return list<array{list<string>, string, mixed}> keys to read one after the other, then the key and value of a write, if any */
    private function plan(): array
    {
        $random = new Randomizer(new Xoshiro256StarStar(1 + $this->number));
        $reads = $this->writes === 0 ? 20 : intdiv(100 - $this->writes, $this->writes);
        $plan = [];
        for ($operations = 0; $operations < self::OPERATIONS; $operations += $reads + (int) ($this->writes > 0)) {
            $keys = [];
            for ($read = 0; $read < $reads; $read++) {
                $keys[] = $this->key($random->getInt(0, $this->keys - 1));
            }
            $written = $random->getInt(0, $this->keys - 1);
            $plan[] = [$keys, $this->key($written), $this->writes > 0 ? $this->value->make($written) : null];
        }

        return $plan;
    }

    /** @return \Closure(mixed, Place, list<array{int, list<array{list<string>, string, mixed}>}>, int): array{int, int, mixed, string, mixed} */
    private function load(string $name, string $body): \Closure
    {
        $file = "{$this->directory}/{$name}-{$this->number}.php";
        file_put_contents($file, <<<CODE
            <?php return static function (mixed \$client, \$place, array \$parts, int \$until): array {
                \$operations = 0;
                \$value = null;
                \$last = '';
                while (true) {
                    foreach (\$parts as [\$count, \$plan]) {
                        {$body}
                        \$operations += \$count;
                        if ((\$now = hrtime(true)) >= \$until) {
                            return [\$operations, \$now, \$value, \$last, \$client];
                        }
                    }
                }
            };
            CODE);
        /** @var \Closure(mixed, Place, list<array{int, list<array{list<string>, string, mixed}>}>, int): array{int, int, mixed, string, mixed} $closure */
        $closure = require $file;

        return $closure;
    }
}
