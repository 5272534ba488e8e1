<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\PageCaches;
use Larder\Bench\Experiment\Pages;
use Larder\Bench\Experiment\Transients;
use Larder\Bench\WordPress\ObjectCache;
use Larder\Bench\WordPress\PageCacheDesign as Design;

/** What the object cache of WordPress may cost, in pages and in transients, and what a page from its page cache may. */
final readonly class WordPressPromises
{
    private const CPU = 'processor time, ours over theirs';

    private function __construct(private Findings $findings) {}

    /** @return array<string, list<Promise>> by the experiment that shows them */
    public static function of(Findings $findings): array
    {
        $promises = new self($findings);

        return ['transients' => $promises->transients(), 'pages' => $promises->pages(), 'pagecache' => $promises->pageCache()];
    }

    /** @return list<Promise> every row of the published table, by its re-created design or the database */
    private function transients(): array
    {
        $promises = [];
        foreach ([ObjectCache::POOL, ObjectCache::TIER] as $ours) {
            foreach ([ObjectCache::NONE, ...ObjectCache::RIVALS] as $theirs) {
                foreach (Transients::CALLS as $call) {
                    $promises[] = Promise::atMost(
                        sprintf('%s of a transient, %s against %s', $call, $this->title('transients', $ours), $this->title('transients', $theirs)),
                        'time, ours over theirs',
                        $this->findings->ratio('transients', Transients::TIME, ['call' => $call], $ours, $theirs),
                        1.0,
                    );
                }
            }
        }

        return $promises;
    }

    /** @return list<Promise> */
    private function pages(): array
    {
        $promises = [];
        foreach ([Pages::CATALOGUE, Pages::FRONT] as $page) {
            $promises[] = $this->page($page, Pages::WARM, ObjectCache::POOL, ObjectCache::NONE, 0.74);
            $promises[] = $this->page($page, Pages::WARM, ObjectCache::POOL, ObjectCache::LIMIT, 1.03);
        }
        foreach (ObjectCache::OURS as $ours) {
            foreach (ObjectCache::RIVALS as $theirs) {
                if (!\in_array($theirs, ObjectCache::ON_REDIS, true) || \in_array($ours, ObjectCache::ON_REDIS, true)) {
                    $promises[] = $this->page(Pages::CATALOGUE, Pages::WARM, $ours, $theirs, 1.0);
                    $promises[] = $this->page(Pages::FRONT, Pages::WARM, $ours, $theirs, 1.0);
                }
            }
        }
        foreach (ObjectCache::OURS as $ours) {
            $promises[] = $this->page(Pages::FRONT, Pages::COLD, $ours, ObjectCache::NONE, $ours === ObjectCache::POOL ? 1.2 : 1.4);
            $promises[] = $this->page(Pages::SAVE, Pages::WARM, $ours, ObjectCache::NONE, $ours === ObjectCache::POOL ? 1.3 : 1.6);
        }

        return $promises;
    }

    /** @return list<Promise> */
    private function pageCache(): array
    {
        $promises = [];
        foreach (PageCaches::CONCURRENCY as $concurrency) {
            $case = ['page' => PageCaches::PROMISED, 'concurrency' => (string) $concurrency, 'keep-alive' => 'on'];
            foreach ([[Design::POOL_QUICK, Design::EMPTY, 1.45], [Design::POOL, Design::EMPTY, 2.4], ...array_map(static fn(string $rival): array => [Design::POOL, $rival, 1.0], Design::RIVALS), ...array_map(static fn(string $rival): array => [Design::FILES, $rival, 1.0], Design::RIVALS_OF_FILES)] as [$ours, $theirs, $bound]) {
                $promises[] = Promise::atMost(
                    sprintf('a page of %s for %d clients: %s against %s', PageCaches::PROMISED, $concurrency, $this->title('pagecache', $ours), $this->title('pagecache', $theirs)),
                    self::CPU,
                    $this->findings->ratio('pagecache', PageCaches::CPU, $case, $ours, $theirs),
                    $bound,
                );
            }
        }
        foreach ([Design::POOL_QUICK, Design::POOL, Design::FILES_QUICK, Design::FILES, Design::REDIS] as $ours) {
            $made = $this->findings->measurement('pagecache', PageCaches::MADE, PageCaches::AFTER_A_PURGE, $ours);
            $promises[] = Promise::atMost("50 clients after a purge, {$this->title('pagecache', $ours)}", PageCaches::MADE, $made === null ? null : $this->findings->median('pagecache', $made), 1.0);
            $fresh = $this->findings->measurement('pagecache', PageCaches::FRESH, PageCaches::WHILE_SAVED, $ours);
            $promises[] = Promise::atLeast("one save a second, {$this->title('pagecache', $ours)}", PageCaches::FRESH, $fresh === null ? null : $this->findings->median('pagecache', $fresh), 1.0);
        }
        $promises[] = Promise::atLeast(
            "one save a second: {$this->title('pagecache', Design::POOL)} against {$this->title('pagecache', Design::POOL_CLEARED)}",
            'requests per second, ours over the other',
            $this->findings->ratio('pagecache', PageCaches::RATE, PageCaches::WHILE_SAVED, Design::POOL, Design::POOL_CLEARED),
            10.0,
        );

        return $promises;
    }

    private function page(string $page, string $cache, string $ours, string $theirs, float $bound): Promise
    {
        return Promise::atMost(
            sprintf('%s, %s: %s against %s', $page, $cache, $this->title('pages', $ours), $this->title('pages', $theirs)),
            self::CPU,
            $this->findings->ratio('pages', Pages::CPU, ['cache' => $cache, 'page' => $page], $ours, $theirs),
            $bound,
        );
    }

    private function title(string $experiment, string $name): string
    {
        return $this->findings->run->outcome($experiment)->titles[$name] ?? $name;
    }
}
