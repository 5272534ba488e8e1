<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/**
 * A store whose tokens judge fills of any key, so that one of them can stand for the beginning of a request. A store that passes
 * calls on to another can only where that one can; Capability::RequestTokens says so.
 */
interface RequestTokens
{
    /**
     * Notes a token of this moment, unless one is noted already. Where that would be a round trip, the next read brings it.
     *
     * @param bool $anew forgets the one that is noted first
     *
     * @throws StoreUnavailable
     */
    public function noteRequest(bool $anew = false): void;

    /** @return ?Token by which a fill of the key is judged as if it had begun when the request was noted; null: none is known yet */
    public function requestToken(string $key): ?Token;
}
