<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Says by __serialize() what it is made of, and notes when it is asked. */
final class Teller
{
    public mixed $told = null;

    /**
     * @param \Closure(self): array<mixed> $tell
     * @param ?\ArrayObject<int, string>   $log
     */
    public function __construct(
        public string $name,
        private ?\Closure $tell = null,
        private ?\ArrayObject $log = null,
    ) {}

    /** @return array<mixed> */
    public function __serialize(): array
    {
        $this->log?->append($this->name);

        return ['name' => $this->name, ...($this->tell === null ? [] : ($this->tell)($this))];
    }

    /** @param array<mixed> $told */
    public function __unserialize(array $told): void
    {
        $this->name = \is_string($told['name']) ? $told['name'] : '';
        unset($told['name']);
        $this->told = $told;
        $this->tell = null;
        $this->log = null;
    }
}
