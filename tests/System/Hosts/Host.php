<?php

declare(strict_types=1);

namespace Larder\Tests\System\Hosts;

use Larder\Cache;
use Larder\Tests\Contract\Value\Ledger;
use Larder\Tier\TieredStore;

/**
 * One of several hosts with a near store each, in front of the same far one. Its workers read, fill, write and invalidate at random, some of
 * them in a new request each time, some in a process that stays. A ledger that all hosts share tells the order: no request may read a version
 * older than the one that was told before it began. Of what was not delivered, only this host's own requests must know.
 *
 * What is found is appended to files, as workers are killed.
 */
final class Host
{
    public const THINGS = 8;

    private const STEPS = 10;

    private readonly Ledger $all;

    private readonly Ledger $own;

    /** Only of a worker that stays. */
    private ?Cache $cache = null;

    /** @var array<string, int> */
    private array $counts = [];

    /** @param string $folder that all hosts share: "ledger", "done" once it is over, "problems" and counts */
    public function __construct(
        private readonly string $dsn,
        private readonly string $folder,
        private readonly string $name,
    ) {
        $this->all = new Ledger("{$folder}/ledger");
        $this->own = new Ledger("{$folder}/ledger-{$name}");
    }

    /** @param int $requests at least; it goes on until it is over, whatever is more */
    public function work(int $seed, int $requests): void
    {
        mt_srand($seed);
        for ($request = 0; $request < $requests || !$this->isOver(); $request++) {
            $told = $this->told();
            $cache = $seed % 2 === 0 ? $this->opened() : $this->cache ??= $this->opened();
            $cache->refresh();
            for ($step = 0; $step < self::STEPS; $step++) {
                $this->step($cache, mt_rand(0, self::THINGS - 1), mt_rand(0, 99), $told);
            }
            $this->note();
        }
    }

    /** Whether this host is well: it can write, owes nothing, and reads from its own memory if it has values there. */
    public function isWell(): bool
    {
        $key = "alive {$this->name}";
        if (!$this->opened()->set($key, 'yes') || $this->opened()->get($key) !== 'yes') {
            return false;
        }
        $cache = $this->opened();
        $store = $cache->store;

        return $cache->get($key) === 'yes' && (!$store instanceof TieredStore || $store->near->read($key) === 'yes') && !$cache->health()->isFlagged();
    }

    /** @param array<int, int> $told */
    private function step(Cache $cache, int $thing, int $die, array $told): void
    {
        if ($die < 40) {
            $this->check($thing, $cache->get("thing {$thing}"), $told[$thing] ?? 0) || $this->fill($cache, $thing);
        } elseif ($die < 80) {
            $keys = array_map(static fn(int $each): string => "thing {$each}", range(0, self::THINGS - 1));
            $values = $cache->getMany($keys);
            foreach ($keys as $each => $key) {
                $this->check($each, $values[$key] ?? null, $told[$each] ?? 0);
            }
        } else {
            $this->change($thing, $die);
        }
    }

    private function fill(Cache $cache, int $thing): void
    {
        $version = $this->all->version($thing);
        usleep(mt_rand(0, 2_000));
        $cache->set("thing {$thing}", ['version' => $version], 1_000, ["tag {$thing}", 'all']);
    }

    private function change(int $thing, int $die): void
    {
        // One that has missed nothing, so that what it sets is no fill.
        $cache = $this->opened();
        $things = $die === 99 ? range(0, self::THINGS - 1) : [$thing];
        try {
            $this->all->change($things, function (array $versions) use ($cache, $thing, $things, $die): void {
                $writes = $die >= 92 && $die !== 99;
                $isDelivered = match (true) {
                    $die === 99 => mt_rand(0, 1) === 0 ? $cache->clear() : $cache->invalidateTags(['all']),
                    $die < 86 => $cache->delete("thing {$thing}"),
                    $die < 92 => $cache->invalidateTags(["tag {$thing}"]),
                    default => $cache->set("thing {$thing}", ['version' => $versions[$thing] ?? 0], 1_000, ["tag {$thing}", 'all']),
                };
                $this->count($isDelivered ? 'delivered' : 'undelivered');
                // A busy machine may refuse a write as late. Then nothing older is left, and nothing is owed.
                if (!$isDelivered && !$writes && !$cache->health()->isFlagged()) {
                    $this->problem('Something was not delivered, and the health flag is down.');
                }
                // The lock of the things is held: no process of this host changes them meanwhile.
                foreach ($things as $each) {
                    $this->own->tell($each, $versions[$each] ?? 0);
                }
                $isDelivered || throw new \UnexpectedValueException('Only this host knows.');
            });
        } catch (\UnexpectedValueException) {
            // Others are not told.
        }
    }

    /** @return bool whether there was a value */
    private function check(int $thing, mixed $value, int $told): bool
    {
        if ($value === null) {
            $this->count('misses');

            return false;
        }
        $this->count('hits');
        $version = \is_array($value) ? $value['version'] ?? null : null;
        if (!\is_int($version) || $version < $told) {
            $this->problem("host {$this->name}, thing {$thing}: version " . var_export($version, true) . " was read by a request that began when {$told} was told");
        }

        return true;
    }

    /** @return array<int, int> of each thing the version that a request that begins now must know */
    private function told(): array
    {
        return array_map(fn(int $thing): int => max($this->all->told($thing), $this->own->told($thing)), range(0, self::THINGS - 1));
    }

    private function opened(): Cache
    {
        return Cache::open($this->dsn, journal: "{$this->folder}/journal-{$this->name}");
    }

    private function isOver(): bool
    {
        clearstatcache();

        return file_exists("{$this->folder}/done");
    }

    private function problem(string $what): void
    {
        file_put_contents("{$this->folder}/problems", $what . "\n", \FILE_APPEND);
    }

    private function count(string $what): void
    {
        $this->counts[$what] = ($this->counts[$what] ?? 0) + 1;
    }

    private function note(): void
    {
        $line = '';
        foreach ($this->counts as $what => $count) {
            $line .= "{$what} {$count}\n";
        }
        $this->counts = [];
        file_put_contents("{$this->folder}/counts", $line, \FILE_APPEND);
    }
}
