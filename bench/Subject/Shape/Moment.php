<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** A date of a library: it has settings of its own, and its own code says and takes what it is made of. */
final class Moment extends \DateTimeImmutable
{
    protected ?string $locale = null;
    protected ?bool $isMonthOverflowing = null;

    /** @return array<string, mixed> */
    public function __serialize(): array
    {
        $zone = parent::__serialize();

        return ['date' => $this->format('Y-m-d H:i:s.u'), 'timezone_type' => $zone['timezone_type'], 'timezone' => $zone['timezone'], 'locale' => $this->locale];
    }

    /** @param array<string, mixed> $data */
    public function __unserialize(array $data): void
    {
        parent::__unserialize($data);
        $this->isMonthOverflowing = null;
    }
}
