<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** Many dates, in arrays. */
final class Schedule
{
    /** @param list<array{made: \DateTimeImmutable, changed: \DateTime, zone: \DateTimeZone, label: string}> $entries */
    public function __construct(public \DateTimeImmutable $made, public \DateTime $changed, public \DateTimeZone $zone, public array $entries) {}
}
