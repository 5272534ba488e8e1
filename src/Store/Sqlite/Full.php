<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

/** The database has grown to the size it may have. Never leaves the store. */
final class Full extends \RuntimeException {}
