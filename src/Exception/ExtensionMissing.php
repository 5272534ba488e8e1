<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/** A store or serializer whose PHP extension is not loaded. */
final class ExtensionMissing extends \LogicException implements Exception
{
    public static function of(string $what, string $extension): self
    {
        return new self(sprintf(
            '%s needs the PHP extension "%s", which is not loaded; install and enable it for this PHP (%s, %s).',
            $what,
            $extension,
            \PHP_VERSION,
            \PHP_SAPI,
        ));
    }

    public static function ofClient(string $what, string ...$alternatives): self
    {
        return new self(sprintf('%s needs one of: %s; install one of them.', $what, implode(', ', $alternatives)));
    }
}
