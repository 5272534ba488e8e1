<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

/** What a run says about a source's claim. */
enum ClaimState: string
{
    case Agrees = 'agrees';
    case Disagrees = 'disagrees';
    /** The run cannot tell: what was claimed and its opposite are both within the interval or the noise. */
    case Tie = 'tie';
    case NotMeasured = 'not measured';
}
