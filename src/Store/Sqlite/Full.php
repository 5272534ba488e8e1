<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;

/** The database has grown to the size it may have. */
final class Full extends StoreUnavailable
{
    public static function at(string $path): self
    {
        return new self("The SQLite database \"{$path}\" is unavailable: it is full and nothing can be evicted; free some space on its disk, or raise the option size.", takesNothing: true);
    }
}
