<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;
use Larder\Store\SharedMemory\PoolFiles;
use Larder\Store\SharedMemoryStore;

/** A pool of this user, as `larder pools` and `larder doctor` list it. */
final class ListedPool
{
    /** @param array<string, mixed> $statistics of a pool that this process has opened to look at it */
    private function __construct(
        public readonly string $name,
        public readonly array $statistics,
        public readonly ?string $locksOf,
        private readonly ?int $lastUse,
    ) {}

    /**
     * @param ?list<string>                $only   those of these names; null: all
     * @param callable(PoolUnusable): void $failed hears of each that cannot be opened
     *
     * @return list<self>
     *
     * @throws PoolUnusable if none can be looked at
     */
    public static function all(?array $only, callable $failed): array
    {
        $names = SharedMemory::names();
        sort($names);
        $locks = SharedMemoryStore::leasesAmong($names);
        $files = (new PoolFiles())->own();
        $pools = [];
        foreach ($only === null ? $names : array_intersect($names, $only) as $name) {
            try {
                $pools[] = $pool = new self($name, self::opened($name)->statistics(), $locks[$name] ?? null, $files[$name]['used'] ?? null);
            } catch (PoolUnusable $failure) {
                $failed($failure);
                continue;
            }
            if ($pool->processes() === 0 && isset($files[$name])) {
                // A look is no use.
                @touch($files[$name]['path'], $files[$name]['used']);
            }
        }

        return $pools;
    }

    /** @return int how many processes have it open, without this one */
    public function processes(): int
    {
        return max(0, $this->number('processes') - 1);
    }

    /** @param string $name of a figure in statistics() */
    public function number(string $name): int
    {
        return \is_int($this->statistics[$name] ?? null) ? $this->statistics[$name] : 0;
    }

    public function evicts(): bool
    {
        return $this->statistics['evict'] === true;
    }

    /** @return int seconds since a process has begun to use it; 0: one has it open */
    public function unusedSeconds(): int
    {
        return $this->processes() > 0 || $this->lastUse === null ? 0 : max(0, time() - $this->lastUse);
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return ['name' => $this->name] + array_combine(['size', 'bytes', 'capacity', 'items', 'hits', 'misses'], array_map($this->number(...), ['size', 'bytes', 'capacity', 'items', 'hits', 'misses']))
            + ['evicts' => $this->evicts(), 'path' => $this->statistics['path'], 'processes' => $this->processes(), 'unused_seconds' => $this->unusedSeconds(), 'locks_of' => $this->locksOf];
    }

    /** @throws PoolUnusable */
    private static function opened(string $name): SharedMemory
    {
        try {
            return SharedMemory::open($name);
        } catch (PoolUnusable) {
            // One that does not evict is opened by those alone who know that.
            return SharedMemory::open($name, null, false);
        }
    }
}
