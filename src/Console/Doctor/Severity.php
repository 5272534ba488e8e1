<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

enum Severity: string
{
    case Fine = 'ok';

    /** It works, but not as well as it could. */
    case Advice = 'advice';

    /** It does not work, or will not when it matters. */
    case Problem = 'problem';
}
