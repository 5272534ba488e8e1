<?php

declare(strict_types=1);

namespace Larder\Log;

use Larder\Log;
use Larder\Token;

/**
 * A log that is a round trip away, in the far store itself. That records each of its writes, also those of processes without a near store.
 * The question for the news goes with the first read of the far store, where there is one.
 */
interface Away extends Log
{
    /**
     * Has the news since a position asked for together with what the far store is asked next, and behind it. The next since() with
     * this position returns that answer. Without one, it asks.
     *
     * @param ?string $position null: nothing is asked along after all, and the answer is forgotten
     */
    public function askAlong(?string $position): void;

    /** Whether what is asked along is answered behind all that the far store was asked, as one server does. */
    public function isAskedBehind(): bool;

    /**
     * Whether a token of the far store tells that nothing has become another thing between a position and itself. A near store that has
     * followed as far is then no older than the token.
     */
    public function reaches(string $position, Token $token): bool;
}
