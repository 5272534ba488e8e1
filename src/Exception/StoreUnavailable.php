<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/**
 * A store that failed at run time: its server is gone, its disk is full, its file is damaged. The cache
 * turns it into a miss or a refused write, unless it is strict.
 */
class StoreUnavailable extends \RuntimeException implements Exception
{
    /**
     * @param bool $takesNothing whether the store can be read, but has no room for anything or may not be written to, so that
     *                           no process can have stored what was refused here; false also where it is only busy
     */
    public function __construct(string $message = '', int $code = 0, ?\Throwable $previous = null, public readonly bool $takesNothing = false)
    {
        parent::__construct($message, $code, $previous);
    }

    public static function because(string $store, string $reason, string $remedy, ?\Throwable $previous = null, bool $takesNothing = false): self
    {
        return new self(sprintf('%s is unavailable: %s; %s.', $store, rtrim($reason, '.; '), $remedy), 0, $previous, $takesNothing);
    }
}
