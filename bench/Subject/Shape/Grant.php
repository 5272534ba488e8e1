<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** One object of each kind of date that PHP has. */
final class Grant
{
    public function __construct(
        public \DateTimeImmutable $made,
        public \DateTimeZone $zone,
        public \DateTimeImmutable $ends,
        public \DateInterval $grace,
    ) {}
}
