<?php

declare(strict_types=1);

namespace Larder\Tools\Publication;

use Larder\Bench\Finding\Claim;
use Larder\Bench\Finding\ClaimState;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Published;
use Larder\Bench\Finding\Sources;
use Larder\Bench\Statistics\Interval;

/** Two published figures in terms of each other, which travels to other machines better than either, and the same of ours. */
final readonly class Restated
{
    /** @param string $word what ours is to theirs */
    private function __construct(public Published $above, public Published $below, public float $published, public ?Interval $found, public string $word) {}

    /** @return list<self> */
    public static function all(Findings $findings): array
    {
        $restated = [];
        foreach (Sources::comparisons() as [$above, $below]) {
            $published = $above->value / $below->value;
            $found = $findings->ratio($above->experiment, $above->metric, $above->case, $findings->spoken($above->experiment, $above->subject), $findings->spoken($below->experiment, $below->subject));
            $restated[] = new self($above, $below, $published, $found, self::word($published, $found));
        }

        return $restated;
    }

    /** What is divided by what; a circumstance that both share is said once. */
    public function title(): string
    {
        [, $circumstance] = explode(', ', $this->below->title, 2) + [1 => null];

        return ($circumstance === null ? $this->above->title : substr($this->above->title, 0, -strlen(", {$circumstance}"))) . " over {$this->below->title}";
    }

    /** As the ledger judges "about so many times": half as much again, or a third less, still is. */
    private static function word(float $published, ?Interval $found): string
    {
        $state = Claim::about('', '', '', $found, $published)->state;

        return match (true) {
            $found === null => 'not measured',
            $state === ClaimState::Agrees => 'alike',
            $state === ClaimState::Tie => 'undecided',
            ($found->estimate > 1) !== ($published > 1) => 'turned round',
            abs(log(max($found->estimate, 1e-9))) > abs(log($published)) => 'further apart',
            default => 'nearer together',
        };
    }
}
