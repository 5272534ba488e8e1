<?php

declare(strict_types=1);

namespace Larder;

/** What is left under a key when a token refuses a write of it (see Cache::set()). */
enum OnConflict
{
    /** What is there, which is newer than the token. The caller reads it and tries again, or gives up. */
    case Leave;

    /** Nothing: what is there may not know of this write either. The next reader computes the value anew. */
    case Remove;
}
