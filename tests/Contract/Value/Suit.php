<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

enum Suit: string
{
    case Hearts = 'h';
    case Spades = 's';
}
