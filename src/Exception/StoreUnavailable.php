<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/**
 * A store that failed at run time: its server is gone, its disk is full, its file is damaged. The cache
 * turns it into a miss or a refused write, unless it is strict.
 */
final class StoreUnavailable extends \RuntimeException implements Exception
{
    public static function because(string $store, string $reason, string $remedy, ?\Throwable $previous = null): self
    {
        return new self(sprintf('%s is unavailable: %s; %s.', $store, rtrim($reason, '.; '), $remedy), 0, $previous);
    }
}
