<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Tag\Design;
use Larder\Bench\Experiment\Tags;

/** What Larder's adapters of frameworks may cost, beside what the frameworks bring. */
final readonly class AdapterPromises
{
    /** On shared memory, and what the framework's sites use otherwise. */
    private const RIVALS = [
        'magento-shared-memory' => ['tag-files', 'tag-sets', 'memcached-tag-files', 'memcached-tag-sets'],
        'symfony-shared-memory' => ['symfony-own-redis', 'symfony-own-tags-redis', 'symfony-own-tags-apcu', 'symfony-own-files'],
        'laravel-shared-memory' => ['laravel-own-redis', 'laravel-own-apcu'],
    ];
    /** Those whose framework says when a request is over. */
    private const SERVE_REQUESTS = ['symfony-shared-memory', 'laravel-shared-memory'];
    /** The framework's own in the same store. */
    private const IN_THE_SAME_STORE = [
        'magento-redis' => 'tag-sets', 'magento-redis-near' => 'tag-sets', 'symfony-redis' => 'symfony-own-redis', 'symfony-redis-near' => 'symfony-own-redis',
        'symfony-apcu' => 'symfony-own-tags-apcu', 'laravel-redis' => 'laravel-own-redis', 'laravel-redis-near' => 'laravel-own-redis',
    ];
    /**
     * Rivals whose cleans look at the items that have the tag. TagAwareAdapter's replace a number, as ours do, and its reads look
     * at the numbers of all tags of an item.
     */
    private const LOOK_AT_ITEMS = ['tag-sets', 'symfony-own-redis', 'symfony-own-files'];
    /** What is neither more nor less by as much as nothing measured here tells apart. */
    private const SAME = 1.05;

    private function __construct(private Findings $findings, private TagDesigns $designs) {}

    /** @return list<Promise> that the experiment `tags` shows */
    public static function of(Findings $findings): array
    {
        $promises = new self($findings, TagDesigns::in($findings));

        return [
            ...array_merge(...array_map($promises->cleans(...), array_keys(self::RIVALS))),
            ...array_map(static fn(string $ours): Promise => $promises->fastestReads($ours, 'reads that hit', Tags::HITS), array_keys(self::RIVALS)),
            ...array_map(static fn(string $ours): Promise => $promises->fastestReads($ours, 'reads that hit in requests', Tags::HITS_IN_REQUESTS), self::SERVE_REQUESTS),
            ...array_map($promises->readsInTheSameStore(...), array_keys(self::IN_THE_SAME_STORE)),
            $promises->against('writing', 'writes', 'magento-shared-memory', 'tag-sets', 2.0),
            $promises->costs('symfony-shared-memory', 'symfony-array', 1.5),
            $promises->costs('laravel-shared-memory', 'cache-shared-memory', 2.0),
            ...array_map($promises->memory(...), array_keys(self::RIVALS)),
        ];
    }

    /** @return list<Promise> */
    private function cleans(string $ours): array
    {
        $rivals = $ours === 'symfony-shared-memory' ? self::LOOK_AT_ITEMS : ['tag-sets'];

        return array_map(fn(string $theirs): Promise => $this->against('cleaning by tag', 'cleans by tag', $ours, $theirs, 100.0), $rivals);
    }

    private function fastestReads(string $ours, string $what, string $metric): Promise
    {
        $fastest = self::RIVALS[$ours][0] ?? '';
        $most = 0.0;
        foreach (self::RIVALS[$ours] ?? [] as $theirs) {
            $speaker = $this->designs->speaker($metric, $theirs);
            $measurement = $this->findings->measurement('tags', $metric, $this->caseOf($speaker), $speaker);
            $rate = $measurement === null ? 0.0 : $this->findings->median('tags', $measurement)->estimate;
            if ($rate > $most) {
                [$fastest, $most] = [$theirs, $rate];
            }
        }

        return $this->against($what, $metric, $ours, $fastest, 5.0);
    }

    private function readsInTheSameStore(string $ours): Promise
    {
        return $this->against('reads that hit', Tags::HITS, $ours, self::IN_THE_SAME_STORE[$ours] ?? '', 1.0);
    }

    private function against(string $what, string $metric, string $ours, string $theirs, float $bound): Promise
    {
        $theirs = $this->designs->speaker($metric, $theirs);
        $items = $this->designs->case['items'] ?? 'all';
        $theirItems = $this->caseOf($theirs)['items'] ?? 'all';

        return Promise::atLeast(
            "{$what} among {$items} items, {$this->designs->title($ours)}, against {$this->designs->title($theirs)}" . ($theirItems === $items ? '' : " among {$theirItems}"),
            'rate, ours over theirs',
            $this->findings->between('tags', $metric, $this->designs->case, $ours, $this->caseOf($theirs), $theirs),
            $bound,
        );
    }

    /** @return array<string, string> the case in which a design was measured: one has fewer items than the others */
    private function caseOf(string $design): array
    {
        $fewer = Design::tryFrom($design)?->fewerBy() ?? 1;
        $items = (int) str_replace(',', '', $this->designs->case['items'] ?? '0');

        return $fewer === 1 ? $this->designs->case : ['items' => number_format(intdiv($items, $fewer))];
    }

    private function costs(string $ours, string $theirs, float $bound): Promise
    {
        return Promise::atMost(
            "a get through {$this->designs->title($ours)}, against {$this->designs->title($theirs)}",
            'time, ours over theirs',
            $this->findings->ratio('tags', Tags::GET, Tags::ONE_ITEM, $ours, $theirs),
            $bound,
        );
    }

    private function memory(string $ours): Promise
    {
        $taken = $this->findings->measurement('tags', Tags::TAKEN, Tags::AFTER_CLEANS, $ours);

        return Promise::atMost(
            "memory after 1,000 cleans, {$this->designs->title($ours)}",
            'memory, after over before',
            $taken === null ? null : $this->findings->median('tags', $taken),
            self::SAME,
        );
    }
}
