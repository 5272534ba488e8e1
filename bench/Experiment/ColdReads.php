<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Subject\SqliteTable;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\Values;
use Larder\SharedMemory;
use Symfony\Component\Process\Process;

/** Reads pages from files, from SQLite and from shared memory while the kernel has all, nothing or little of them in its cache. */
final class ColdReads implements Task
{
    /** The share of the data that fits where memory is small. */
    private const SMALL = 0.5;

    /** Reads that make one sample. */
    private int $reads = 1;
    /** How long is read with little memory before the times are taken, and while they are: a mapping takes 20 ms a page. */
    private float $seconds = 0.0;

    public function run(Fields $arguments): array
    {
        $items = $arguments->int('items');
        $this->reads = $arguments->int('reads');
        $this->seconds = $arguments->int('milliseconds') / 1_000;
        $directory = TemporaryDirectory::make(FileSystem::onDisk());

        return match ($arguments->string('store')) {
            'files' => $this->files($directory->path, $items, $arguments->string('forget')),
            'sqlite' => $this->sqlite($directory->path, $items, $arguments->string('forget'), false),
            'sqlite-mapped' => $this->sqlite($directory->path, $items, $arguments->string('forget'), true),
            default => $this->pool($items),
        };
    }

    /** @return array<string, mixed> */
    private function files(string $directory, int $items, string $forget): array
    {
        for ($item = 0; $item < $items; $item++) {
            file_put_contents("{$directory}/" . self::key($item), self::page($item));
        }
        return $this->states(
            static fn(): \Closure => static fn(int $item): string => (string) file_get_contents("{$directory}/" . self::key($item)),
            static fn(array $read) => self::forget($forget, array_map(static fn(int $item): string => "{$directory}/" . self::key($item), $read)),
            $items,
        );
    }

    /** @return array<string, mixed> */
    private function sqlite(string $directory, int $items, string $forget, bool $isMapped): array
    {
        $file = "{$directory}/cache.sqlite";
        $table = new SqliteTable($file, $isMapped);
        for ($item = 0; $item < $items; $item++) {
            $table->set(self::key($item), self::page($item));
        }
        $table->close();
        unset($table);

        return $this->states(
            static function () use ($file, $isMapped): \Closure {
                $table = new SqliteTable($file, $isMapped);

                return static fn(int $item): string => (string) $table->get(self::key($item));
            },
            static fn() => self::forget($forget, glob("{$file}*") ?: []),
            $items,
        );
    }

    /** @return array<string, mixed> */
    private function pool(int $items): array
    {
        $name = 'bench-' . bin2hex(random_bytes(6));
        try {
            $pool = SharedMemory::open($name, max(8 << 20, 2 * $items * strlen(self::page(0))));
            for ($item = 0; $item < $items; $item++) {
                $pool->set(self::key($item), self::page($item));
            }
            $read = static fn(int $item): string => is_string($found = $pool->get(self::key($item))) ? $found : '';

            return ['warm' => $this->read($read, $items)];
        } finally {
            SharedMemory::remove($name);
        }
    }

    /**
     * @param \Closure(): (\Closure(int): string) $open opens the store anew and returns how to read an item
     * @param \Closure(list<int>): void $forget empties the kernel's cache of what was read of these items, and of what was read with them
     * @return array<string, mixed> state => what a read took, block by block
     */
    private function states(\Closure $open, \Closure $forget, int $items): array
    {
        $read = $open();
        $this->read($read, $items);
        $found = ['warm' => $this->read($read, $items)];
        unset($read);
        $forget(range(0, $items - 1));
        // The kernel reads ahead: after a few blocks it would have a whole database, so each block begins with nothing.
        $found['cold'] = [];
        foreach ($this->blocks($items) as $block) {
            $found['cold'][] = $this->time($open(), $block);
            $forget($block);
        }
        $limit = MemoryLimit::of((int) (self::SMALL * $items * strlen(self::page(0))) + (2 << 20));
        if (is_string($limit)) {
            return [...$found, 'why' => $limit];
        }
        $read = $open();
        $this->read($read, $items, $this->seconds);

        return [...$found, 'small' => $this->read($read, $items, $this->seconds)];
    }

    /**
     * @param \Closure(int): string $read
     * @param float $timeout seconds after which no block is begun
     * @return list<array{float, float, float}> what a read took, block by block
     */
    private function read(\Closure $read, int $items, float $timeout = INF): array
    {
        $end = hrtime(true) + 1e9 * $timeout;
        $times = [];
        foreach ($this->blocks($items) as $block) {
            if ($times === [] || hrtime(true) < $end) {
                $times[] = $this->time($read, $block);
            }
        }

        return $times;
    }

    /** @return list<list<int>> all items in random order */
    private function blocks(int $items): array
    {
        $order = range(0, $items - 1);
        shuffle($order);

        return array_chunk($order, max(1, $this->reads));
    }

    /**
     * @param \Closure(int): string $read
     * @param list<int> $block
     * @return array{float, float, float} ns per read: on the clock, and of the client's and of a server's processor
     */
    private function time(\Closure $read, array $block): array
    {
        $found = [];
        $meter = CpuMeter::start();
        $begin = hrtime(true);
        foreach ($block as $item) {
            $found[$item] = $read($item);
        }
        $time = round((hrtime(true) - $begin) / count($block), 1);
        $cpu = $meter->perOperation(count($block));
        foreach ($found as $item => $page) {
            if ($page !== self::page($item)) {
                throw new \UnexpectedValueException('A page that was read is not the one that was stored: its figures would be worth nothing.');
            }
        }

        return [$time, ...$cpu];
    }

    /** @param list<string> $files */
    private static function forget(string $program, array $files): void
    {
        foreach (array_chunk($files, 500) as $some) {
            $process = new Process([$program, ...$some], timeout: null);
            if ($process->run() !== 0) {
                throw new \RuntimeException('The kernel\'s cache of a file could not be emptied: ' . trim($process->getErrorOutput()));
            }
        }
    }

    private static function key(int $item): string
    {
        return sprintf('page-%06d', $item);
    }

    private static function page(int $item): string
    {
        $page = Values::named('page')->make($item);

        return is_string($page) ? $page : '';
    }
}
