<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Key;
use Larder\Serializer\Payload;
use Larder\Store\Tags;

/**
 * One file for each item:
 *
 *     "Ldr2" | expiry 8 | version 8 | epoch 8 | length of the key 4, of the tags 4, of the payload 8 | seal 32 | key | tags | payload
 *
 * A payload that has to be unserialised is sealed by a MAC made with the directory's secret. It is left alone if the MAC does not match.
 * So a stranger who finds a way to put a file here still cannot make PHP unserialise it. Other payloads are sealed by a checksum. After
 * a power cut, files of the half minute before may have zeros in them, as no write waits for the disk.
 */
final class BinaryFormat implements Format
{
    private const MAGIC = 'Ldr2';

    /** Bytes before the seal, and before the key. */
    private const SIGNED = 44;

    private const HEAD = 76;

    /** What one read brings of an item's head, which mostly is all of it. */
    private const GLANCE = 1_024;

    public function __construct(
        private readonly Payload $payload,
        private readonly Secret $secret,
        private readonly Folder $folder,
    ) {}

    public function encode(string $key, mixed $value): string
    {
        return $this->payload->encode($key, $value);
    }

    public function write(string $path, Head $head, string $body): ?int
    {
        $tags = Tags::pack($head->tags);
        $bytes = self::MAGIC . pack('J2', $head->expiry ?? 0, $head->written()) . $head->epoch
            . pack('N2J', \strlen($head->key), \strlen($tags), \strlen($body));
        $rest = $head->key . $tags . $body;
        $seal = $this->payload->isSerialized($body)
            ? hash_hmac('sha256', $bytes . $rest, $this->secret->readOrMake(), true)
            : self::checksum($bytes . $head->key . $tags, $body);

        return $this->folder->replace($path, $bytes . $seal . $rest) ? self::HEAD + \strlen($rest) : null;
    }

    public function head(string $path): ?Head
    {
        $bytes = $this->folder->directory->contents($path, self::GLANCE);
        $lengths = $bytes === null ? null : self::lengths($bytes);
        if ($bytes === null || $lengths === null) {
            return null;
        }
        $end = self::HEAD + $lengths[0] + $lengths[1];
        if ($end > \strlen($bytes)) {
            $bytes = (string) $this->folder->directory->contents($path, $end);
        }

        return $end > \strlen($bytes) ? null : self::headIn($bytes, $lengths);
    }

    public function read(string $path, object $foreign): ?array
    {
        $found = $this->body($path);
        if ($found === null) {
            return null;
        }
        $value = $this->payload->decode($found[1], $foreign, $found[0]->key);

        return $value === $foreign ? null : [$found[0], $value];
    }

    public function body(string $path): ?array
    {
        $bytes = $this->folder->directory->contents($path);
        $lengths = $bytes === null ? null : self::lengths($bytes);
        if ($bytes === null || $lengths === null || \strlen($bytes) !== self::HEAD + array_sum($lengths)) {
            return null;
        }
        $body = substr($bytes, self::HEAD + $lengths[0] + $lengths[1]);
        $seal = substr($bytes, self::SIGNED, 32);
        if ($this->payload->isSerialized($body)) {
            $secret = $this->secret->read();
            $signed = substr($bytes, 0, self::SIGNED) . substr($bytes, self::HEAD);
            $isWhole = $secret !== null && hash_equals(hash_hmac('sha256', $signed, $secret, true), $seal);
        } else {
            $isWhole = $seal === self::checksum(substr($bytes, 0, self::SIGNED) . substr($bytes, self::HEAD, $lengths[0] + $lengths[1]), $body);
        }

        return $isWhole ? [self::headIn($bytes, $lengths), $body] : null;
    }

    public function remove(string $path): ?int
    {
        $size = $this->size($path);

        return Folder::unlink($path) ? $size : null;
    }

    public function size(string $path): int
    {
        clearstatcache(true, $path);

        return (int) @filesize($path);
    }

    /** In two steps, so that a large body is not copied. */
    private static function checksum(string $head, string $body): string
    {
        return str_pad(hash('xxh128', $head . hash('xxh128', $body, true), true), 32, "\0");
    }

    /** @return ?array{int, int, int} of key, tags and payload; null: nothing of ours */
    private static function lengths(string $bytes): ?array
    {
        if (\strlen($bytes) < self::HEAD || !str_starts_with($bytes, self::MAGIC)) {
            return null;
        }
        /** @var array{key: int, tags: int, body: int} $found */
        $found = unpack('Nkey/Ntags/Jbody', $bytes, 28) ?: ['key' => 0, 'tags' => 0, 'body' => 0];

        return $found['key'] < 1 || $found['key'] > Key::LONGEST || $found['body'] < 0 ? null : [$found['key'], $found['tags'], $found['body']];
    }

    /** @param array{int, int, int} $lengths */
    private static function headIn(string $bytes, array $lengths): Head
    {
        /** @var array{1: int, 2: int} $times */
        $times = unpack('J2', $bytes, 4) ?: [1 => 0, 2 => 0];

        return Head::read(
            substr($bytes, self::HEAD, $lengths[0]),
            $times[1] === 0 ? null : $times[1],
            Tags::unpack(substr($bytes, self::HEAD + $lengths[0], $lengths[1])),
            substr($bytes, 20, 8),
            $times[2],
        );
    }
}
