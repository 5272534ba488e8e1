<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** A time zone of a library. */
final class Place extends \DateTimeZone {}
