<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Store;
use Larder\Tests\Contract\Value\Ledger;
use PHPUnit\Framework\Assert;

/**
 * One process of many that read, fill, write, delete and invalidate at random, with pauses where a slow computation
 * or an interrupted process would have them, and that check every value they read by the rule of staleness: it is no
 * older than the latest version that the cache was told of before the read began.
 */
final class History
{
    public const THINGS = 6;

    private const GROUPS = 2;

    /** @var list<string> what was read and must not have been */
    private array $stale = [];

    private int $hits = 0;

    private int $stored = 0;

    private int $refused = 0;

    private int $unavailable = 0;

    /** @param bool $tags whether the store can keep tags */
    public function __construct(
        private Store $store,
        private readonly Ledger $ledger,
        private readonly bool $tags,
    ) {}

    /**
     * @param Store|null $store goes on with this one, as another request would
     *
     * @return array{stale: list<string>, hits: int, stored: int, refused: int, unavailable: int} of all runs so far
     */
    public function run(int $steps, ?Store $store = null): array
    {
        $this->store = $store ?? $this->store;
        for ($step = 0; $step < $steps; $step++) {
            try {
                $this->step(mt_rand(0, self::THINGS - 1), mt_rand(0, 99));
            } catch (StoreUnavailable) {
                // No process was told.
                $this->unavailable++;
            }
        }

        return ['stale' => $this->stale, 'hits' => $this->hits, 'stored' => $this->stored, 'refused' => $this->refused, 'unavailable' => $this->unavailable];
    }

    /**
     * Nothing stale was read, and enough happened to say so.
     *
     * @param list<array<string, mixed>> $reports of all processes; one that did something else has none
     */
    public static function judge(array $reports, int $seed): void
    {
        Assert::assertSame([], array_merge(...array_filter(array_column($reports, 'stale'), is_array(...))), "seed {$seed}");
        foreach (['hits', 'stored', 'refused'] as $outcome) {
            Assert::assertGreaterThan(0, array_sum(array_column($reports, $outcome)), "There were no {$outcome}: the history tells nothing.");
        }
    }

    private function step(int $thing, int $die): void
    {
        match (true) {
            $die < 70 => $this->read($thing),
            $die < 78 => $this->ledger->change([$thing], function (array $versions) use ($thing): void {
                $this->store->save([$this->item($thing, $versions[$thing] ?? 0)]);
            }),
            $die < 86 => $this->ledger->change([$thing], function () use ($thing): void {
                $this->store->delete([self::key($thing)]);
            }),
            $die < 94 => $this->invalidate($thing % self::GROUPS),
            $die < 98 => $this->rewrite($thing),
            default => $this->ledger->change(range(0, self::THINGS - 1), function (): void {
                $this->store->clear();
            }),
        };
    }

    private function read(int $thing): void
    {
        $told = $this->ledger->told($thing);
        $key = self::key($thing);
        $fetched = $this->store->fetch([$key]);
        if (isset($fetched->items[$key])) {
            $this->check($key, $fetched->items[$key]->value, $told);

            return;
        }
        self::pause();
        $version = $this->ledger->version($thing);
        self::pause();
        $this->count($this->store->save([$this->item($thing, $version, $fetched->tokens[$key], true)]));
    }

    /** Reads, and writes what was made from it. */
    private function rewrite(int $thing): void
    {
        $token = $this->store->token(self::key($thing));
        $version = $this->ledger->version($thing);
        self::pause();
        $this->count($this->store->save([$this->item($thing, $version, $token)]));
    }

    private function invalidate(int $group): void
    {
        $things = array_values(array_filter(range(0, self::THINGS - 1), static fn(int $thing): bool => $thing % self::GROUPS === $group));
        if ($things !== []) {
            $this->ledger->change($things, function () use ($things, $group): void {
                if ($this->tags) {
                    $this->store->invalidateTags(["group {$group}"]);
                } else {
                    $this->store->delete(array_map(self::key(...), $things));
                }
            });
        }
    }

    private function item(int $thing, int $version, ?\Larder\Token $token = null, bool $fill = false): Item
    {
        $tags = $this->tags ? ['all', 'group ' . $thing % self::GROUPS] : [];

        return new Item(self::key($thing), ['version' => $version, 'ballast' => str_repeat('x', mt_rand(0, 3) * 500)], 1_000, $tags, $token, $fill);
    }

    private function check(string $key, mixed $value, int $told): void
    {
        $version = \is_array($value) ? $value['version'] ?? null : null;
        $this->hits++;
        if (!\is_int($version) || $version < $told) {
            $this->stale[] = "{$key}: version " . var_export($version, true) . " was read after the cache was told of {$told}";
        }
    }

    /** @param list<string> $unsaved */
    private function count(array $unsaved): void
    {
        $unsaved === [] ? $this->stored++ : $this->refused++;
    }

    private static function key(int $thing): string
    {
        return "thing {$thing}";
    }

    private static function pause(): void
    {
        if (mt_rand(0, 2) === 0) {
            usleep(mt_rand(0, 1_500));
        }
    }
}
