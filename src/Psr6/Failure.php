<?php

declare(strict_types=1);

namespace Larder\Psr6;

use Larder\Exception;
use Psr\Cache\CacheException;

/** What a strict cache throws when its store fails, as PSR-6 knows it. */
final class Failure extends \RuntimeException implements CacheException, Exception
{
    public static function because(\Throwable $failure): self
    {
        return new self($failure->getMessage(), 0, $failure);
    }
}
