<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Store\Tags;
use Larder\Store\Verdict;

/** One row of the items, as it was found. */
final class Row
{
    public readonly string $key;

    public readonly ?int $expiry;

    public readonly int $stamp;

    public readonly int $guard;

    /** @var list<string> */
    public readonly array $tags;

    public Verdict $verdict = Verdict::Dead;

    /** Dead, but still there for a while to refuse what is under way. */
    public bool $isTombstone = false;

    /** What comes before the value. */
    public readonly string $mark;

    /**
     * @param int|float|string|null $value null: a tombstone; where only the length is asked for, that
     * @param int|float|string|null $mark  the first byte of a value that was read without it
     */
    public function __construct(
        int|float|string|null $key,
        int|float|string|null $expiry,
        int|float|string|null $stamp,
        int|float|string|null $guard,
        int|float|string|null $tags,
        public readonly int|float|string|null $value,
        int|float|string|null $mark = null,
    ) {
        $this->mark = (string) $mark;
        $this->key = (string) $key;
        $this->expiry = $expiry === null ? null : (int) $expiry;
        $this->stamp = (int) $stamp;
        $this->guard = (int) $guard;
        $this->tags = \is_string($tags) ? Tags::unpack($tags) : [];
    }
}
