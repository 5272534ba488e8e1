<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\InvalidTag;

/** What a tag is: 1 to 255 bytes, any bytes, compared byte by byte. */
final class Tag
{
    public const LONGEST = 255;

    private function __construct() {}

    /** @throws InvalidTag */
    public static function check(string $tag): void
    {
        if ($tag === '') {
            throw InvalidTag::empty();
        }
        if (\strlen($tag) > self::LONGEST) {
            throw InvalidTag::tooLong($tag, self::LONGEST);
        }
    }
}
