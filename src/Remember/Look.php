<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\Cache\Envelope;
use Larder\Token;

/** The state of a key at one moment. */
final class Look
{
    /**
     * @param ?Envelope $live   neither expired nor invalidated
     * @param ?Envelope $stale  dead, but may be served if nothing fresh can be had
     * @param ?Token    $token  of the missing key; null: not missing, or the store was not reached
     * @param bool      $isThere whether something lies under the key, be it of use or not; then there is no token
     * @param bool      $isVain whether a computation of it has just ended with nothing stored
     */
    public function __construct(
        public readonly ?Envelope $live = null,
        public readonly ?Envelope $stale = null,
        public readonly ?Token $token = null,
        public readonly bool $isThere = false,
        public readonly bool $isVain = false,
    ) {}

    public function servable(): ?Envelope
    {
        return $this->live ?? $this->stale;
    }
}
