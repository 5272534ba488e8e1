<?php

declare(strict_types=1);

namespace Larder\Psr16;

use Larder\Exception;
use Psr\SimpleCache\CacheException;

/** What a strict cache throws when its store fails, as PSR-16 knows it. */
final class Failure extends \RuntimeException implements CacheException, Exception
{
    public static function because(\Throwable $failure): self
    {
        return new self($failure->getMessage(), 0, $failure);
    }
}
