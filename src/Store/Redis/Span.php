<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/**
 * All invalidations of tags between two ticks, as one string:
 *
 *     history 40 | since 6 | until 6 | hash of a tag 8, tick 6 | … the oldest first
 *
 * It says of every tag whether it was invalidated after `since`, up to `until`. No later event makes that untrue.
 */
final class Span
{
    /** Bytes of a clock that name its epoch, its life and its process. */
    public const HISTORY = 40;

    /** In a tick, that what was killed may still be served, as only the server can judge. */
    public const MAY_BE_SERVED = 1 << 47;

    private const HEAD = self::HISTORY + 12;

    private const RECORD = 14;

    /** Of more records, the older half is forgotten. */
    private const MOST = 1_024;

    private function __construct(
        public readonly string $bytes,
        public readonly int $since,
        public readonly int $until,
    ) {}

    /** Of no time at all: from then on it can be extended. */
    public static function at(string $history, int $tick): self
    {
        $number = self::number($tick);

        return new self($history . $number . $number, $tick, $tick);
    }

    /** @return ?self null: it is none of that history */
    public static function read(string $bytes, string $history): ?self
    {
        return \strlen($bytes) >= self::HEAD && (\strlen($bytes) - self::HEAD) % self::RECORD === 0 && str_starts_with($bytes, $history)
            ? new self($bytes, Entry::number($bytes, self::HISTORY), Entry::number($bytes, self::HISTORY + 6))
            : null;
    }

    /** @return string the part of a clock that names its history */
    public static function history(string $clock): string
    {
        return substr($clock, 1, Script::EPOCH) . substr($clock, Script::LIFE, 2 * Life::NAME);
    }

    /** The name of a tag in it. Two tags with the same are invalidated with each other, which is misses. */
    public static function hash(string $tag): string
    {
        return hash('xxh3', $tag, true);
    }

    public static function number(int $number): string
    {
        return substr(pack('J', $number), 2);
    }

    public function isOf(string $history): bool
    {
        return str_starts_with($this->bytes, $history);
    }

    /** Whether what was known of a tag at the end of that one is known in this one's time as well. */
    public function goesOnFrom(self $before): bool
    {
        return $before->isOf(substr($this->bytes, 0, self::HISTORY)) && $this->since <= $before->until;
    }

    /**
     * @param int $tick 0: of all
     *
     * @return list<array{string, int}> the hash of each tag that was invalidated after it, and when, the oldest first
     */
    public function after(int $tick): array
    {
        $invalidations = [];
        for ($at = \strlen($this->bytes) - self::RECORD; $at >= self::HEAD; $at -= self::RECORD) {
            $when = Entry::number($this->bytes, $at + 8);
            if (($when & ~self::MAY_BE_SERVED) <= $tick) {
                break;
            }
            $invalidations[] = [substr($this->bytes, $at, 8), $when];
        }

        return array_reverse($invalidations);
    }

    /**
     * With what the server's list has behind it. Each entry names the invalidation before it. So a
     * missing one shows.
     *
     * @param mixed $entries as XRANGE tells them
     * @param int   $until   the tick at which a tag was last invalidated when they were read
     *
     * @return ?self null: they are not all that was invalidated in between
     */
    public function extended(mixed $entries, int $until): ?self
    {
        $records = '';
        $before = $this->until;
        foreach (\is_array($entries) ? $entries : [] as $entry) {
            [$id, $fields] = \is_array($entry) ? $entry + [null, null] : [null, null];
            if (!\is_string($id) || !\is_array($fields) || ($fields[0] ?? null) !== 'e' || ($fields[1] ?? null) !== substr($this->bytes, 0, Script::EPOCH) . self::number($before)) {
                return null;
            }
            $before = (int) $id;
            for ($i = 2; isset($fields[$i + 1]) && \is_string($fields[$i + 1]); $i += 2) {
                $records .= self::hash($fields[$i + 1]) . self::number($fields[$i] === 't' ? $before : $before | self::MAY_BE_SERVED);
            }
        }
        if ($before !== $until) {
            return null;
        }
        $since = $this->since;
        $records = substr($this->bytes, self::HEAD) . $records;
        $forgotten = \strlen($records) > self::MOST * self::RECORD ? \strlen($records) - self::RECORD * (self::MOST >> 1) : 0;
        if ($forgotten > 0) {
            // Others of the same tick may stay.
            $since = Entry::number($records, $forgotten - 6) & ~self::MAY_BE_SERVED;
            $records = substr($records, $forgotten);
        }

        return new self(substr($this->bytes, 0, self::HISTORY) . self::number($since) . self::number($until) . $records, $since, $until);
    }
}
