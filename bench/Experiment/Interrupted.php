<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** The user wants the run to end. */
final class Interrupted extends \RuntimeException
{
    public static function byTheUser(): self
    {
        return new self('The run was interrupted.');
    }
}
