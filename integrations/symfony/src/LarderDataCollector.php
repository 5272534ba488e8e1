<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Larder\Cache;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\DataCollector\DataCollector;
use Symfony\Component\HttpKernel\DataCollector\LateDataCollectorInterface;

/**
 * The profiler's panel: how each store of the site is, and how full. What pools were asked is in Symfony's own panel, "Cache".
 */
final class LarderDataCollector extends DataCollector implements LateDataCollectorInterface
{
    /** @var list<Cache> */
    private array $caches = [];

    public function add(Cache $cache): void
    {
        $this->caches[] = $cache;
    }

    public function collect(Request $request, Response $response, ?\Throwable $exception = null): void {}

    /** After the response: a store may be asked over a network. */
    public function lateCollect(): void
    {
        $this->data = [];
        foreach ($this->caches as $cache) {
            $statistics = $cache->statistics();
            $health = $cache->health();
            $this->data[] = [
                'store' => (new \ReflectionClass($cache->store))->getShortName(),
                'available' => $statistics !== null && $health->available,
                'flagged' => $health->isFlagged(),
                'failures' => $health->failures,
                'items' => $statistics?->items,
                'bytes' => $statistics?->bytes,
                'capacity' => $statistics?->capacity,
                'hits' => $statistics?->hits,
                'misses' => $statistics?->misses,
                'evictions' => $statistics?->evictions,
            ];
        }
    }

    public function reset(): void
    {
        $this->data = [];
    }

    /** @return list<array{store: string, available: bool, flagged: bool, failures: int, items: ?int, bytes: ?int, capacity: ?int, hits: ?int, misses: ?int, evictions: ?int}> */
    public function getStores(): array
    {
        /** @var list<array{store: string, available: bool, flagged: bool, failures: int, items: ?int, bytes: ?int, capacity: ?int, hits: ?int, misses: ?int, evictions: ?int}> */
        return \is_array($this->data) ? $this->data : [];
    }

    public function isTroubled(): bool
    {
        return array_filter($this->getStores(), static fn(array $store): bool => !$store['available'] || $store['flagged']) !== [];
    }

    public function getName(): string
    {
        return 'larder';
    }
}
