<?php

declare(strict_types=1);

namespace Larder;

/** Under which condition save() stores an item. */
enum SaveMode
{
    /** Always. */
    case Set;

    /** Only if the key holds nothing live; of several processes exactly one succeeds. */
    case Add;

    /** Only if the key holds something live. */
    case Replace;
}
