<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

/** What notices say of items whose keys they do not name (see Notices): how many bytes the file has behind its map. */
enum Reach: int
{
    case Keys = 1;
    case Tags = 2;
    case Everything = 3;
}
