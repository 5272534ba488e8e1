<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Item;
use Larder\Reads;

/**
 * A value with the facts that remember() needs, as it lies in a store. They are the time to compute it, until when it is fresh, and
 * the seconds after that in which it may be served stale.
 *
 * Ints are never sealed, as they are counters. A cache takes the envelope off each value that it reads.
 */
final class Envelope
{
    /** Seconds by which expiries as two clocks count them may differ, through rounding. */
    private const ROUNDING = 2.0;

    /**
     * @param float $cost       seconds
     * @param float $freshUntil Unix time in seconds; INF: for ever
     * @param int   $grace      seconds
     */
    public function __construct(
        public readonly mixed $value,
        public readonly float $cost = 0.0,
        public readonly float $freshUntil = \INF,
        public readonly int $grace = 0,
    ) {}

    /** @return array{string, float, float, int, mixed} */
    public function sealed(): array
    {
        return [Reads::SEAL, $this->cost, $this->freshUntil, $this->grace, $this->value];
    }

    /** The value as it can be stored: what looks like an envelope is put into one. */
    public static function plain(mixed $value): mixed
    {
        return \is_array($value) && ($value[0] ?? null) === Reads::SEAL ? (new self($value))->sealed() : $value;
    }

    /** Takes the envelope off; a value without one is fresh for ever. */
    public static function open(mixed $stored): self
    {
        if (!\is_array($stored) || ($stored[0] ?? null) !== Reads::SEAL || !\array_key_exists(4, $stored)) {
            return new self($stored);
        }
        [, $cost, $freshUntil, $grace, $value] = $stored + [null, 0.0, 0.0, 0];

        return new self(
            $value,
            \is_float($cost) ? $cost : 0.0,
            \is_float($freshUntil) ? $freshUntil : 0.0,
            \is_int($grace) ? $grace : 0,
        );
    }

    /**
     * What an item holds. The item may have been touched since it was sealed: if it outlives its grace, its own
     * expiry is what counts.
     */
    public static function of(Item $item): self
    {
        $envelope = self::open($item->value);
        $expiry = (float) ($item->expiry ?? \INF);
        if ($expiry <= $envelope->freshUntil + $envelope->grace + self::ROUNDING) {
            return $envelope;
        }

        return new self($envelope->value, $envelope->cost, $expiry, 0);
    }
}
