<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;
use Larder\SharedMemory;

/**
 * Replays a trace on a pool of shared memory that holds about as many items as asked for.
 *
 * The number of items in a pool depends on their size. So the size of the values is found first, by filling the pool until it
 * evicts. The answer has the largest number of live items that the pool held, which is what a reference policy must be given
 * too.
 */
final class Replay implements Task
{
    private const SEARCHES = 6;
    /** Accesses between two looks at the number of live items. */
    private const LOOK = 200;

    public function run(Fields $arguments): array
    {
        $trace = Trace::read($arguments->string('file'));
        $name = 'bench-' . bin2hex(random_bytes(6));
        $bytes = $arguments->int('bytes');
        try {
            $length = $this->length($name, $bytes, $arguments->int('items'));
            [$misses, $most, $held] = $this->replay($name, $bytes, str_repeat('v', $length), $trace);
        } finally {
            SharedMemory::remove($name);
        }

        return ['accesses' => count($trace->keys), 'misses' => $misses, 'most' => $most, 'length' => $length, 'held' => $held];
    }

    /** The length of values of which about so many fit. */
    private function length(string $name, int $bytes, int $items): int
    {
        $length = max(1, intdiv($bytes, $items) - 100);
        for ($search = 0; $search < self::SEARCHES; $search++) {
            $fit = $this->fill($name, $bytes, str_repeat('v', $length), 3 * $items);
            if (abs($fit / $items - 1) < 0.01) {
                break;
            }
            // Key and header stay, so it is the whole item that must shrink or grow.
            $length = max(1, (int) (($length + 60) * $fit / $items) - 60);
        }

        return $length;
    }

    /** @return int the largest number of items held while filling */
    private function fill(string $name, int $bytes, string $value, int $sets): int
    {
        $pool = SharedMemory::open($name, $bytes);
        $most = 0;
        for ($key = 0; $key < $sets; $key++) {
            $pool->set((string) $key, $value);
            if ($key % self::LOOK === 0) {
                $most = max($most, $pool->statistics()['items']);
            }
        }
        unset($pool);
        SharedMemory::remove($name);

        return max(1, $most);
    }

    /** @return array{int, int, int} misses, the largest number of live items, and the bytes of values they were */
    private function replay(string $name, int $bytes, string $value, Trace $trace): array
    {
        $pool = SharedMemory::open($name, $bytes);
        $misses = $most = 0;
        foreach ($trace->keys as $position => $key) {
            $found = $pool->get((string) $key);
            if ($found === null) {
                $misses++;
                $pool->set((string) $key, $value);
            } elseif ($found !== $value) {
                throw new \UnexpectedValueException("The pool returned another value than was stored for the key {$key}: its misses would be worth nothing.");
            }
            if ($position % self::LOOK === 0) {
                $most = max($most, $pool->statistics()['items']);
            }
        }

        return [$misses, max($most, $pool->statistics()['items']), $most * strlen($value)];
    }
}
