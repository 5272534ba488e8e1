<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/**
 * One of PHP's containers with a property of its own.
 *
 * @extends \ArrayObject<array-key, mixed>
 */
final class Crate extends \ArrayObject
{
    public mixed $label = null;
}
