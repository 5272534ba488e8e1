<?php

declare(strict_types=1);

namespace Larder\Store;

/** How a list of tags lies in a store that keeps bytes: each with its length in one byte before it. */
final class Tags
{
    private function __construct() {}

    /** @param list<string> $tags legal ones */
    public static function pack(array $tags): string
    {
        $packed = '';
        foreach ($tags as $tag) {
            $packed .= \chr(\strlen($tag)) . $tag;
        }

        return $packed;
    }

    /** @return list<string> what is there, if the bytes are not what pack() wrote */
    public static function unpack(string $packed): array
    {
        $tags = [];
        for ($at = 0, $end = \strlen($packed); $at < $end; $at += $length) {
            $length = \ord($packed[$at++]);
            $tags[] = substr($packed, $at, $length);
        }

        return $tags;
    }
}
