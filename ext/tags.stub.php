<?php

namespace Larder {

    /**
     * Whether each of these tags is known to have been invalidated last at that tick or before. The library asks so of an item
     * in Redis. Without the extension it finds out in PHP.
     *
     * @internal
     *
     * @param string                   $tags   packed: each behind its length in one byte
     * @param array<array-key, string> $hashes by tag
     * @param array<array-key, int>    $ticks  by hash
     */
    function tags_precede(string $tags, array $hashes, array $ticks, int $tick): bool {}
}
