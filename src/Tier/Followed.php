<?php

declare(strict_types=1);

namespace Larder\Tier;

/** How far a near store has followed the log, as it lies in that store. */
final class Followed
{
    /** Seconds by which the machine's two clocks may have drifted apart since the log was asked. More is another boot, or a set clock. */
    private const DRIFT = 1.0;

    /**
     * @param ?string $head     of a log that is beside; null: it had none, or has none
     * @param ?string $position null: nothing was followed yet
     * @param int     $sent     when the log was asked for that, in ns of hrtime(); 0: it is not told
     * @param float   $offset   by how many seconds the time of day was ahead of hrtime() then
     * @param string  $place    of the far store that the log is of, for those who look after the near one
     * @param int     $events   of the log that were applied since the near store began with it, for the same
     * @param string  $stored   how all this lies in the near store: as a string, which costs each request least
     */
    private function __construct(
        public readonly ?string $head = null,
        public readonly ?string $position = null,
        public readonly int $sent = 0,
        private readonly float $offset = 0.0,
        public readonly string $place = '',
        public readonly int $events = 0,
        public readonly string $stored = '',
    ) {}

    public static function nothing(): self
    {
        return new self();
    }

    /** @param mixed $stored what $stored was, or anything else */
    public static function read(mixed $stored): self
    {
        $parts = \is_string($stored) ? explode("\n", $stored, 5) : [];
        if (!\is_string($stored) || \count($parts) !== 5 || $parts[1] === '') {
            return self::nothing();
        }

        [$sent, $events] = explode(' ', $parts[2]) + [1 => '0'];

        return new self($parts[0] === '' ? null : $parts[0], $parts[1], (int) $sent, (float) $parts[3], $parts[4], (int) $events, $stored);
    }

    /** @param int $sent in ns of hrtime(), which may be a slow answer ago */
    public static function now(?string $head, string $position, int $sent, string $place, int $events = 0): self
    {
        // In whole milliseconds: to write a float down takes longer than all else here.
        $offset = (int) ((microtime(true) - hrtime(true) / 1e9) * 1e3);

        return new self($head === '' ? null : $head, $position, $sent, $offset / 1e3, $place, $events, "{$head}\n{$position}\n{$sent} {$events}\n{$offset}e-3\n{$place}");
    }

    /** @return ?float seconds since the log was asked; null: it was not since this machine was booted */
    public function age(): ?float
    {
        return $this->position !== null && $this->isSince(1) ? (hrtime(true) - $this->sent) / 1e9 : null;
    }

    /** Whether the log was asked at that time of hrtime() or later, and since this machine was booted. */
    public function isSince(int $time): bool
    {
        return $this->sent >= $time
            && $this->sent <= ($now = hrtime(true))
            && abs($this->gained($now)) < self::DRIFT;
    }

    /** Whether the machine's time of day was set back since the log was asked. Items that expire would do so later by as much. */
    public function isBeforeSetBack(): bool
    {
        // As gained(), without a call: each request asks this.
        return $this->position !== null && microtime(true) - hrtime(true) / 1e9 - $this->offset <= -self::DRIFT;
    }

    /**
     * @param int $now of hrtime()
     *
     * @return float seconds by which the time of day has gone on further than hrtime() since the log was asked
     */
    private function gained(int $now): float
    {
        return microtime(true) - $now / 1e9 - $this->offset;
    }
}
