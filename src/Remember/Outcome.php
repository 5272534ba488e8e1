<?php

declare(strict_types=1);

namespace Larder\Remember;

/** What became of what was computed. */
enum Outcome
{
    case Stored;

    /** The store did not take it: mostly because something was invalidated while it was computed, and another computation would do. */
    case Refused;

    /** Nothing is to be stored, or nothing was computed: another computation would most likely come to the same. */
    case InVain;
}
