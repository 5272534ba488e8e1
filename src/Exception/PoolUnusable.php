<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/**
 * A pool of shared memory that cannot be opened: its size, its rights, its place.
 *
 * The extension declares the same class when it is loaded, and PHP then never reads this file. So the two classes must be alike.
 */
final class PoolUnusable extends \RuntimeException implements Exception {}
