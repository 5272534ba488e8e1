<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

/** What a server has made of something that it was to store. */
enum Outcome
{
    case Stored;

    /** Something is there already, is not there any more, or has changed. */
    case Overtaken;

    /** It is too large for the server, or there is no memory. */
    case NoRoom;
}
