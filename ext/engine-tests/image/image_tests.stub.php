<?php

/** One value as an image in memory of its own, mapped read-only at a fixed address. */
final class Image
{
    /** @throws \RuntimeException with the refusal's message */
    public function __construct(mixed $value) {}

    /** What was dumped by another process. */
    public static function load(string $dump): Image {}

    /** The same for values that are alike, and for no others. */
    public static function describe(mixed $value): string {}

    /** Does an array in it contain itself through references that nothing else holds? */
    public static function unfoldsForEver(mixed $value): bool {}

    /** Has PHP's mark of a string that is valid UTF-8? */
    public static function isMarkedAsUtf8(string $string): bool {}

    /** All references in it that more than one thing holds. */
    public static function variables(mixed $value): array {}

    /** Unmaps all images: a further use of a value that was read in place crashes. */
    public static function forget(): void {}

    public function dump(): string {}

    public function kind(): int {}

    public function size(): int {}

    /** @throws \OutOfBoundsException if it is a miss */
    public function get(bool $zeroCopy = true): mixed {}

    /** A copying read by a process that sees the image at another address; the right one is not even mapped. */
    public function getShifted(): mixed {}

    /** Moves the image; nothing is mapped any more where it was, unless values that were read are still in use. */
    public function move(bool $inUse = false): void {}

    /** Nanoseconds that measuring and writing take, and reading. @return array{float, float} */
    public static function time(mixed $value, int $times, bool $zeroCopy = true): array {}
}
