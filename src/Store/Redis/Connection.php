<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/** A line to one Redis or Valkey server, over whichever client is there. It connects when first used. */
interface Connection
{
    /**
     * Sends commands in one go and reads their replies: one round trip.
     *
     * @param non-empty-list<non-empty-list<string>> $commands a command's name and its arguments
     *
     * @return non-empty-list<mixed> for each command a string, an int, null or false for nothing, a list of such, or an
     *                               ErrorReply
     *
     * @throws StoreUnavailable if there is no connection, or it broke; what the server did is then unknown
     */
    public function send(array $commands): array;
}
