<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** What one subject's script does, as PHP code; it finds `$key` and `$isString`, and a write finds `$value`. */
final readonly class WebScript
{
    /** @param string $read leaves what it read in `$value` */
    public function __construct(public string $title, public string $read, public string $write, public string $clean = '') {}
}
