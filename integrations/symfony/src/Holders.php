<?php

declare(strict_types=1);

namespace Larder\Symfony;

/** The holders of a lock, and until when each has it: one that writes, or any number that read. */
final class Holders
{
    /** @param array<array-key, float> $until Unix seconds, by token */
    private function __construct(
        private readonly bool $isWritten,
        private readonly array $until,
    ) {}

    /** What is stored, without those whose time is over. */
    public static function of(mixed $stored, float $now): self
    {
        $until = [];
        foreach (\is_array($stored) && \is_array($stored[1] ?? null) ? $stored[1] : [] as $token => $end) {
            if (\is_float($end) && $end > $now) {
                $until[$token] = $end;
            }
        }

        return new self($until !== [] && \is_array($stored) && ($stored[0] ?? null) === true, $until);
    }

    /** @return array{bool, array<array-key, float>} */
    public function stored(): array
    {
        return [$this->isWritten, $this->until];
    }

    public function has(string $token): bool
    {
        return isset($this->until[$token]);
    }

    /** Null: others have it. */
    public function withWriter(string $token, float $until): ?self
    {
        return array_diff_key($this->until, [$token => 0.0]) === [] ? new self(true, [$token => $until]) : null;
    }

    /** Null: another writes. */
    public function withReader(string $token, float $until): ?self
    {
        return $this->isWritten && !$this->has($token) ? null : new self(false, [$token => $until] + $this->until);
    }

    /** Null: it is not this one's. */
    public function prolonged(string $token, float $until): ?self
    {
        return $this->has($token) ? new self($this->isWritten, [$token => $until] + $this->until) : null;
    }

    public function without(string $token): self
    {
        $until = array_diff_key($this->until, [$token => 0.0]);

        return new self($this->isWritten && $until !== [], $until);
    }

    /** Seconds until all have ended; 0: it is free. */
    public function ttl(float $now): int
    {
        return $this->until === [] ? 0 : (int) ceil(max($this->until) - $now) + 1;
    }
}
