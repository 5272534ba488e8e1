<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/**
 * A pool of shared memory that cannot be opened: its size, its rights, its place.
 *
 * The extension declares the same class when it is loaded; this file then is never read, and the class
 * has nothing that the extension's does not have.
 */
final class PoolUnusable extends \RuntimeException implements Exception {}
