<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

/** What a run says about a promise. */
enum PromiseState: string
{
    case Met = 'met';
    case Missed = 'missed';
    /** The interval is too wide to tell, which is not met. */
    case NotShown = 'not shown';
    case NotMeasured = 'not measured';
}
