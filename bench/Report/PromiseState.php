<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

enum PromiseState: string
{
    case Met = 'met';
    case Missed = 'missed';
    case NotMeasured = 'not measured';
}
