<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/**
 * A value that cannot be stored: the message names the key, and the path to the closure or resource inside the value.
 * The previous exception is the one that the value threw when it was asked for its state.
 *
 * The extension declares the same class when it is loaded, and PHP then never reads this file. So the two classes must be alike.
 */
final class Unstorable extends \RuntimeException implements Exception {}
