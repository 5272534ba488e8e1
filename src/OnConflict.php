<?php

declare(strict_types=1);

namespace Larder;

/** Whether the stored item stays when a token refuses a write of its key (see Cache::set()). */
enum OnConflict
{
    /** The present value, which is newer than the token. The caller reads it and tries again, or gives up. */
    case Leave;

    /** Nothing: the present value may not know of this write either. The next reader computes the value anew. */
    case Remove;
}
