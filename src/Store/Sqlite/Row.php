<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Store\Tags;
use Larder\Store\Verdict;

/** One row of the items, as it was found. */
final class Row
{
    /** Seconds that a row stays whose key version refuses what is in flight; a fill that is in flight for longer may be refused for nothing. */
    public const LINGERS = 60;

    /** No tag is empty: in place of a tag's length, this says that a mark follows. */
    public const APART = "\0";

    public readonly string $key;

    public readonly ?int $expiry;

    public readonly int $version;

    public readonly int $keyVersion;

    /** @var list<string> */
    public readonly array $tags;

    public Verdict $verdict = Verdict::Dead;

    /** Dead, but still there for a while to refuse what is in flight. */
    public bool $isTombstone = false;

    /** Dead for so long that its key version refuses nothing but what takes longer than key versions linger. */
    public bool $isLongDead = false;

    /** The payload's first byte, where it lies apart from the rest. */
    public readonly string $mark;

    /**
     * @param string       $mark '' if the value has it
     * @param list<string> $tags
     *
     * @return ?string the column that tells both
     */
    public static function packed(string $mark, array $tags): ?string
    {
        $packed = ($mark === '' ? '' : self::APART . $mark) . Tags::pack($tags);

        return $packed === '' ? null : $packed;
    }

    /**
     * @param string $packed begins with APART, unless it is damaged
     *
     * @return array{string, ?string} the mark, '' if none lies apart, and the packed tags
     */
    public static function unpacked(string $packed): array
    {
        if (\strlen($packed) < 2 || $packed[0] !== self::APART) {
            return ['', $packed];
        }

        return [$packed[1], \strlen($packed) === 2 ? null : substr($packed, 2)];
    }

    /** @param int|float|string|null $value null: a tombstone; where only the length is asked for, that */
    public function __construct(
        int|float|string|null $key,
        int|float|string|null $expiry,
        int|float|string|null $version,
        int|float|string|null $keyVersion,
        int|float|string|null $tags,
        public readonly int|float|string|null $value,
    ) {
        $this->key = (string) $key;
        $this->expiry = $expiry === null ? null : (int) $expiry;
        $this->version = (int) $version;
        $this->keyVersion = (int) $keyVersion;
        [$this->mark, $packed] = \is_string($tags) ? self::unpacked($tags) : ['', null];
        $this->tags = $packed === null ? [] : Tags::unpack($packed);
    }
}
