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

    /**
     * A name of any length as a tag, as Key::fitting().
     *
     * @param string $beginning of a tag that has a hash
     */
    public static function fitting(string $name, string $beginning): string
    {
        return isset($name[self::LONGEST]) ? $beginning . hash('sha256', $name) : $name;
    }
}
