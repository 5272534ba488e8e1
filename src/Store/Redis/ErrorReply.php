<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/** The server understood and said no. */
final class ErrorReply
{
    public function __construct(
        public readonly string $message,
    ) {}
}
