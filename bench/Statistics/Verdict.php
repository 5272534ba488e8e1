<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

/** What a comparison says, once noise has been heard. */
enum Verdict: string
{
    case Wins = 'wins';
    case Ties = 'ties';
    case Loses = 'loses';

    /**
     * @param Interval $ratio ours over theirs
     */
    public static function on(Interval $ratio, NoiseFloor $floor, Direction $direction): self
    {
        $isLower = $ratio->high < 1 / (1 + $floor->share);
        $isHigher = $ratio->low > 1 + $floor->share;

        return match (true) {
            $isLower => $direction === Direction::LowerIsBetter ? self::Wins : self::Loses,
            $isHigher => $direction === Direction::LowerIsBetter ? self::Loses : self::Wins,
            default => self::Ties,
        };
    }
}
