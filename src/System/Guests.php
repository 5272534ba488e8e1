<?php

declare(strict_types=1);

namespace Larder\System;

/** Which users besides its owner may keep files in a directory. */
enum Guests
{
    /** None, not even root: PHP runs what lies there, or it is about one user's processes. */
    case None;

    /** Root, for example a cron job: what root makes there becomes the owner's. */
    case Root;

    /** Root, and the directory's group where that is asked for: by the rights 2770, whose setgid bit hands the group down to all files. */
    case RootAndGroup;
}
