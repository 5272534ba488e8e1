<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;
use Larder\System\Distrust;

/** A file that holds no trace, or cannot be written as one. */
final class InvalidTrace extends \RuntimeException implements Exception
{
    public static function unreadable(string $path): self
    {
        return new self(\sprintf('The trace "%s" cannot be read; give the path of a file that is yours.', $path));
    }

    public static function unwritable(string $path): self
    {
        return new self(\sprintf('The trace "%s" cannot be written; give a path in a directory that exists and is yours.', $path));
    }

    public static function distrusted(string $path, Distrust $distrust): self
    {
        return new self(\sprintf('The trace "%s" cannot be written: %s; %s.', $path, $distrust->reason(), $distrust->remedy));
    }

    public static function none(string $path): self
    {
        return new self(\sprintf('The file "%s" is no trace; give one that RecordingStore has written, or one of 32-bit integers with --integers.', $path));
    }

    public static function line(string $path, int $line): self
    {
        return new self(\sprintf('Line %d of "%s" is no access; give a file that RecordingStore has written, or one of 32-bit integers.', $line, $path));
    }

    public static function empty(string $path): self
    {
        return new self(\sprintf('There is no access in "%s"; record for longer, or with a larger share of the keys.', $path));
    }
}
