<?php

declare(strict_types=1);

namespace Larder;

/** Under which condition save() stores an item. */
enum SaveMode
{
    /** Always. */
    case Set;

    /** Only if the key holds nothing live that can be read back; of several processes exactly one succeeds. */
    case Add;

    /** Only if the key holds something live; whether that can be read back, not every store looks. */
    case Replace;
}
