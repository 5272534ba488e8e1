<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/** The server understood and said no. */
final class ErrorReply
{
    public function __construct(
        public readonly string $message,
    ) {}

    /** Whether a client's exception tells what a server has said, rather than that it said nothing: then it begins with a code. */
    public static function isOne(string $message): bool
    {
        return preg_match('/^[A-Z][A-Z0-9]+ /', $message) === 1;
    }
}
