<?php

declare(strict_types=1);

namespace Larder\Tier;

/**
 * Counts what was done to a near store so far, and lies in that store for those who look after it. Processes that change it at the same
 * moment may lose a count. Nothing is judged by it.
 */
final class Tally
{
    /**
     * @param int     $events     of the log that were applied until it was last emptied; the later ones are counted with the position
     * @param int     $beginnings how often it was emptied, as the log could not tell what it had missed
     * @param int     $bypasses   requests that left it aside
     * @param ?string $why        the last of them did; null: none did
     * @param ?int    $when       that was, in Unix seconds
     */
    public function __construct(
        public readonly int $events = 0,
        public readonly int $beginnings = 0,
        public readonly int $bypasses = 0,
        public readonly ?string $why = null,
        public readonly ?int $when = null,
    ) {}

    /** @param mixed $stored what toStore() has made, or anything else */
    public static function read(mixed $stored): self
    {
        if (!\is_array($stored) || \count($stored) !== 5) {
            return new self();
        }
        [$events, $beginnings, $bypasses, $why, $when] = array_values($stored);

        return \is_int($events) && \is_int($beginnings) && \is_int($bypasses) ? new self($events, $beginnings, $bypasses, \is_string($why) ? $why : null, \is_int($when) ? $when : null) : new self();
    }

    /** @return array{int, int, int, ?string, ?int} */
    public function toStore(): array
    {
        return [$this->events, $this->beginnings, $this->bypasses, $this->why, $this->when];
    }

    /** @param int $events that were counted with the position that is given up */
    public function withBeginning(int $events): self
    {
        return new self($this->events + $events, $this->beginnings + 1, $this->bypasses, $this->why, $this->when);
    }

    public function withBypass(string $why, int $when): self
    {
        return new self($this->events, $this->beginnings, $this->bypasses + 1, $why, $when);
    }
}
