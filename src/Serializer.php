<?php

declare(strict_types=1);

namespace Larder;

/**
 * Turns values that are neither int nor string into bytes, for stores that keep bytes, and back. Values with objects of a user's class
 * that has a __serialize() or __sleep() are the exception: they are written in PHP's own form.
 */
interface Serializer
{
    /**
     * One capital letter, none of G, H, S and T, that begins every payload this serializer wrote. What begins with
     * another is a miss.
     */
    public function mark(): string;

    /** @throws \Throwable if some object inside forbids it */
    public function serialize(mixed $value): string;

    /**
     * @throws \UnexpectedValueException if these bytes are not what serialize() returns
     * @throws \Throwable                what a class inside throws when it is made again
     */
    public function unserialize(string $bytes): mixed;
}
