<?php

declare(strict_types=1);

namespace Larder\Trace;

enum Verb: string
{
    case Read = 'r';
    case Write = 'w';
    case Delete = 'd';
}
