<?php

declare(strict_types=1);

namespace Larder;

/**
 * Turns the values that are neither int nor string into bytes, for stores that keep bytes, and back; all but those in
 * which objects of a user's class say themselves what they are made of, which are written in PHP's own form.
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
