<?php

declare(strict_types=1);

namespace Larder\Serializer;

/** One step from a value to a part of it. */
final class Step
{
    /**
     * @param int|string $key    of an element, or of a property as in an array that its object was cast to
     * @param ?object    $object that has the part; null: an array has it
     * @param bool       $isTold the part is an element of what the object said of itself
     */
    public function __construct(
        public readonly int|string $key,
        public readonly ?object $object = null,
        public readonly bool $isTold = false,
    ) {}
}
