<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Experiment\Tags;
use Larder\Bench\Statistics\Interval;

/** What tags may cost. */
final readonly class TagPromises
{
    private const OURS = 'shared-memory';
    /** Two times within 5 % of each other are the same, because nothing measured here is told apart more finely. */
    private const SAME = 1.05;

    /** @param array<string, string> $items the case of the re-created benchmark */
    private function __construct(private Findings $findings, private array $items) {}

    /** @return array<string, list<Promise>> by the experiment that shows them */
    public static function of(Findings $findings): array
    {
        $outcome = $findings->run->outcome('tags');
        $items = $outcome === null ? [] : $findings->cases($outcome, 'reads')[0] ?? [];
        $promises = new self($findings, $items);
        $count = $items['items'] ?? 'all';
        $one = ['tagged items' => '1'];
        $many = ['tagged items' => '1,000,000'];
        $time = $findings->measurement('tags', Tags::INVALIDATE, $many, self::OURS);

        return ['tags' => [
            Promise::atMost('invalidating a tag of 1,000,000 items', 'time, over that of a tag of one item', $findings->between('tags', Tags::INVALIDATE, $many, self::OURS, $one, self::OURS), self::SAME),
            Promise::atMost('invalidating a tag of 1,000,000 items, again and again', 'ns', $time === null ? null : $findings->median('tags', $time), 1_000),
            Promise::atLeast("cleaning {$count} items by tag, against tag sets in Redis", 'cleans per second, ours over theirs', $promises->against('cleans by tag', 'tag-sets'), 100),
            Promise::atLeast("reading {$count} tagged items, against tag files", 'reads per second, ours over theirs', $promises->against('reads', 'tag-files'), 1),
            Promise::atLeast("writing {$count} tagged items, against tag sets in Redis", 'writes per second, ours over theirs', $promises->against('writes', 'tag-sets'), 1),
        ]];
    }

    private function against(string $metric, string $design): ?Interval
    {
        return $this->findings->ratio('tags', $metric, $this->items, self::OURS, $design);
    }
}
