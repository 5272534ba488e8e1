<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\Unstorable;

/** How an item lies in files. The path is that of the item; a format may keep more files beside it, under longer names. */
interface Format
{
    /**
     * The value as bytes that write() puts into a file.
     *
     * @throws Unstorable
     */
    public function encode(string $key, mixed $value): string;

    /**
     * Puts an item in the place of whatever is there, at once: a reader sees the one or the other.
     *
     * @return ?int how many bytes it takes; null: it could not be written, and nothing has changed
     */
    public function write(string $path, Head $head, string $body): ?int;

    /** @return ?Head null: there is no item, or none of ours */
    public function head(string $path): ?Head;

    /** @return ?array{Head, mixed} the head and the value; null: there is none that can be read */
    public function read(string $path, object $foreign): ?array;

    /** @return ?array{Head, string} the head and what encode() made */
    public function body(string $path): ?array;

    /**
     * @return ?int how many bytes it took; null: there is still something
     */
    public function remove(string $path): ?int;

    /** Bytes. */
    public function size(string $path): int;
}
