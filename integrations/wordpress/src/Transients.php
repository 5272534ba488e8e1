<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Times transients as the SQLite Object Cache plugin's published measurement does: hackhack$i = [name, i, padding], for an hour. */
final class Transients
{
    public function __construct(
        private readonly int $items,
    ) {}

    /** @return array<string, array{median: float, p95: float, p99: float, max: float}> µs by operation */
    public function measure(): array
    {
        $measured = [];
        foreach ([
            'set' => static fn(string $name, int $i): bool => set_transient($name, [$name, $i, str_pad('test', $i, 'x')], 3_600),
            'get' => static fn(string $name, int $i): mixed => get_transient($name),
            'delete' => static fn(string $name, int $i): bool => delete_transient($name),
        ] as $operation => $do) {
            wp_cache_flush_runtime();
            $times = [];
            for ($i = 0; $i < $this->items; $i++) {
                $name = "hackhack{$i}";
                $begun = hrtime(true);
                $do($name, $i);
                $times[] = (hrtime(true) - $begun) / 1_000;
            }
            sort($times);
            $at = static fn(float $share): float => $times[min(\count($times) - 1, (int) ($share * \count($times)))];
            $measured[$operation] = ['median' => $at(0.5), 'p95' => $at(0.95), 'p99' => $at(0.99), 'max' => $at(1.0)];
        }

        return $measured;
    }
}
