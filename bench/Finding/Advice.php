<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Statistics\Interval;

/** What a kind of site is advised to use on a kind of host, and what that rests on. */
final readonly class Advice
{
    /**
     * @param string|null $best the subject's name; null when nothing of it was measured
     * @param list<string> $ties subjects that are not shown to be worse
     * @param string|null $next the best of those that are shown to be worse
     * @param Interval|null $ratio what the next one takes in terms of the best
     */
    public function __construct(
        public string $site,
        public string $host,
        public ?string $best,
        public array $ties,
        public ?string $next,
        public ?Interval $ratio,
        public string $experiment,
    ) {}
}
