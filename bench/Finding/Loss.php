<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Statistics\Interval;

/** A rival that shared memory loses to by one metric, in one case or in several. */
final readonly class Loss
{
    /**
     * @param int $cases in which it loses
     * @param int $compared cases in which the two were compared
     * @param Interval $ratio ours over theirs where we lose most
     * @param array<string, string> $case the case of that ratio
     * @param bool $isJudged false: it was measured too seldom for a verdict, and this is what was seen
     */
    public function __construct(
        public string $metric,
        public string $rival,
        public int $cases,
        public int $compared,
        public Interval $ratio,
        public array $case,
        public bool $isJudged,
    ) {}

    /** This loss and another case of it; the worse of the two ratios is kept. */
    public function with(self $other): self
    {
        $worse = self::distance($other->ratio) > self::distance($this->ratio) ? $other : $this;

        return new self($this->metric, $this->rival, $this->cases + $other->cases, $this->compared, $worse->ratio, $worse->case, $this->isJudged);
    }

    /** The same, of so many cases. */
    public function of(int $compared): self
    {
        return new self($this->metric, $this->rival, $this->cases, $compared, $this->ratio, $this->case, $this->isJudged);
    }

    /** How far a ratio is from 1, whichever side of it. */
    private static function distance(Interval $ratio): float
    {
        return abs(log(max($ratio->estimate, 1e-9)));
    }
}
