<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Has the methods by which PHP's own class is made again. */
final class Instant extends \DateTime {}
