<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** Where a subject keeps its items; the report's colours and shapes go by it. */
enum Family: string
{
    case Yardstick = 'yardstick';
    case Memory = 'memory of this machine';
    case File = 'files';
    case Server = 'server';
    case Library = 'through the library';
}
