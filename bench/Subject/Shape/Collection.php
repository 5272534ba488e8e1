<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/**
 * A collection of PHP's with properties of its own.
 *
 * @extends \ArrayObject<string, mixed>
 */
final class Collection extends \ArrayObject
{
    /** @param array<string, mixed> $content */
    public function __construct(array $content, public string $name, public int $revision)
    {
        parent::__construct($content, \ArrayObject::ARRAY_AS_PROPS);
    }
}
