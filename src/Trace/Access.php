<?php

declare(strict_types=1);

namespace Larder\Trace;

/** One access of a trace. */
final class Access
{
    /**
     * @param string $key   the hash of a key
     * @param int    $bytes of the key and its value; 0: not known, as of what was not there
     */
    public function __construct(
        public readonly Verb $verb,
        public readonly string $key,
        public readonly int $bytes,
    ) {}
}
