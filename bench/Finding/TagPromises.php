<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Tag\Design;
use Larder\Bench\Experiment\Tags;

/** What tags may cost. */
final readonly class TagPromises
{
    private const OURS = 'shared-memory';
    private const MANY = 200_000;
    /** On several hosts, each of which judges by tags itself. */
    private const NEAR = 'cache-redis-near';
    /** On several hosts, each with memory of its own. */
    private const BEFORE_REDIS = 'cache-tier-shared-memory-redis';
    /** Two times within 5 % of each other are the same, because nothing measured here is told apart more finely. */
    private const SAME = 1.05;
    /**
     * What a thousand times as many items may cost a clean: processors keep less of them near, and a tree has a level
     * more. What looks at the items that have the tag takes a hundred times as long.
     */
    private const AMONG_MANY = 1.5;
    /** Larder's own. */
    private const DESIGNS = [
        Design::SharedMemory, Design::LibrarySharedMemory, Design::LibraryApcu, Design::LibrarySqlite, Design::LibraryFile, Design::LibraryPhpFile,
        Design::LibraryApcuTier, Design::LibrarySharedMemoryTier, Design::LibraryRedis, Design::LibraryRedisNear, Design::LibraryRedisCluster, Design::LibraryMemcached,
        ...Design::ADAPTERS,
    ];

    private function __construct(private Findings $findings, private TagDesigns $designs) {}

    /** @return array<string, list<Promise>> by the experiment that shows them */
    public static function of(Findings $findings): array
    {
        $promises = new self($findings, TagDesigns::in($findings));
        $one = ['tagged items' => '1'];
        $many = ['tagged items' => '1,000,000'];

        return ['tags' => [
            Promise::atMost('invalidating a tag of 1,000,000 items', 'time, over that of a tag of one item', $findings->between('tags', Tags::INVALIDATE, $many, self::OURS, $one, self::OURS), self::SAME),
            $promises->invalidating('1,000,000 items, again and again', Tags::INVALIDATE, $many),
            $promises->invalidating('one living item', Tags::LIVE, $one),
            $promises->invalidating('1,000,000 living items', Tags::LIVE, $many),
            $promises->against('cleaning %s items by tag', 'cleans by tag', 'cleans', 'tag-sets', 100),
            $promises->against('reading %s tagged items', 'reads', 'reads', 'tag-files', 1),
            $promises->against('writing %s tagged items', 'writes', 'writes', 'tag-sets', 1),
            $promises->against('reading %s tagged items, of those that hit', Tags::HITS, 'reads', 'tag-sets', 0.95, self::NEAR),
            $promises->against('writing %s tagged items', 'writes', 'writes', 'tag-sets', 1, self::NEAR),
            $promises->against('reading %s tagged items, of those that hit', Tags::HITS, 'reads', 'tag-sets', 20, self::BEFORE_REDIS),
            $promises->against('reading %s tagged items, hits and misses', 'reads', 'reads', 'tag-sets', 20, self::BEFORE_REDIS),
            ...$promises->cleansAmongMany(),
            $promises->against('storing again what was cleaned of %s tagged items', Tags::REFILLS, 'writes', 'tag-sets', 1),
            ...$promises->amongMany(),
            $promises->left(true, 0.95),
            $promises->left(false, 0.99),
            ...AdapterPromises::of($findings),
        ]];
    }

    /** @return list<Promise> how long tag sets take to clean depends on their items: among few they are nearly as fast as a round trip */
    private function cleansAmongMany(): array
    {
        return (int) str_replace(',', '', $this->designs->case['items'] ?? '0') < self::MANY
            ? []
            : [$this->against('cleaning %s items by tag', 'cleans by tag', 'cleans', 'tag-sets', 100, self::NEAR)];
    }

    private function left(bool $isCarried, float $bound): Promise
    {
        $case = Tags::caseOfLeft(10, $isCarried);
        $share = $this->findings->measurement('tags', Tags::LEFT, $case, self::OURS);

        return Promise::atLeast(
            "items with ten tags that are left after invalidations of {$case['invalidated']}",
            'share of items',
            $share === null ? null : $this->findings->median('tags', $share),
            $bound,
        );
    }

    /** @param array<string, string> $case */
    private function invalidating(string $items, string $metric, array $case): Promise
    {
        $time = $this->findings->measurement('tags', $metric, $case, self::OURS);

        return Promise::atMost("invalidating a tag of {$items}", 'ns', $time === null ? null : $this->findings->median('tags', $time), 1_000);
    }

    /** @return list<Promise> */
    private function amongMany(): array
    {
        $outcome = $this->findings->run->outcome('tags');
        $few = ['items in the store' => number_format(Tags::FEW)];
        $others = $outcome === null ? [] : array_values(array_filter($this->findings->cases($outcome, Tags::CLEAN), static fn(array $case): bool => $case !== $few));
        $many = $others[0] ?? ['items in the store' => 'many'];
        $title = "cleaning a tag among {$many['items in the store']} items";
        $promises = [];
        foreach (self::DESIGNS as $design) {
            $promises[] = Promise::atMost(
                "{$title}, {$this->designs->title($design->value)}",
                'time, over that among ' . Tags::FEW . ' items',
                $this->findings->between('tags', Tags::CLEAN, $many, $design->value, $few, $design->value),
                self::AMONG_MANY,
            );
        }
        $time = $this->findings->measurement('tags', Tags::CLEAN, $many, self::OURS);
        $promises[] = Promise::atMost("{$title}, each tag once", 'ns', $time === null ? null : $this->findings->median('tags', $time), 10_000);

        return $promises;
    }

    /** @param string $title of the promise, with a place for the number of items */
    private function against(string $title, string $metric, string $what, string $design, float $bound, string $ours = self::OURS): Promise
    {
        $theirs = $this->designs->speaker($metric, $design);

        return Promise::atLeast(
            sprintf($title, $this->designs->case['items'] ?? 'all') . ($ours === self::OURS ? '' : ", {$this->designs->title($ours)}") . ", against {$this->designs->title($theirs)}",
            "{$what} per second, ours over theirs",
            $this->findings->ratio('tags', $metric, $this->designs->case, $ours, $theirs),
            $bound,
        );
    }
}
