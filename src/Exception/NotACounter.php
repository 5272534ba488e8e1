<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/**
 * An increment of something that is not an integer, or past the range of one; nothing was changed.
 *
 * The extension declares the same class when it is loaded, and PHP then never reads this file. So the two classes must be alike.
 */
final class NotACounter extends \RuntimeException implements Exception {}
