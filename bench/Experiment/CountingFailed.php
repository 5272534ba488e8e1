<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** A program that should have counted wrote no count. */
final class CountingFailed extends \RuntimeException
{
    public static function of(string $what, string $report): self
    {
        return new self(sprintf('the counter of %s wrote no count but: %s', $what, trim($report) === '' ? 'nothing.' : trim($report)));
    }
}
