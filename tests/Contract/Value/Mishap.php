<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

final class Mishap extends \RuntimeException
{
    /** @param array<string, string> $details */
    public function __construct(string $message, public readonly array $details)
    {
        parent::__construct($message, 5);
    }
}
