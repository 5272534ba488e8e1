<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Times transients as the SQLite Object Cache plugin's published measurement does: hackhack$i = [name, i, padding], for an hour. */
final class Transients
{
    public const OPERATIONS = ['set', 'get', 'delete'];

    public function __construct(
        private readonly int $items,
        private readonly string $name = 'hackhack',
    ) {}

    /** @return array<string, array{median: float, p95: float, p99: float, max: float, ...}> the Distribution of each operation, in µs */
    public function measure(): array
    {
        $measured = [];
        foreach (self::OPERATIONS as $operation) {
            $times = $this->time($operation, 0, \INF)['times'];
            $measured[$operation] = Distribution::of($times === [] ? [0.0] : $times);
        }

        return $measured;
    }

    /**
     * Times one operation, on one transient after the other.
     *
     * @param string $operation one of OPERATIONS
     * @param int    $from      the number of the first
     * @param float  $seconds   after which it stops
     *
     * @return array{times: list<float>, next: int, wrong: int} µs of each; the number to go on with; how many were not what they should be
     */
    public function time(string $operation, int $from, float $seconds): array
    {
        // A request that follows does not have them at hand.
        wp_cache_flush_runtime();
        $end = microtime(true) + $seconds;
        $times = [];
        $wrong = 0;
        for ($i = $from; $i < $this->items && ($times === [] || microtime(true) < $end); $i++) {
            $name = $this->name . $i;
            $value = [$name, $i, str_pad('test', $i, 'x')];
            $begun = hrtime(true);
            $found = match ($operation) {
                'set' => set_transient($name, $value, 3_600),
                'get' => get_transient($name),
                default => delete_transient($name),
            };
            $times[] = (hrtime(true) - $begun) / 1_000;
            $wrong += $found === ($operation === 'get' ? $value : true) ? 0 : 1;
        }

        return ['times' => $times, 'next' => $i, 'wrong' => $wrong];
    }
}
