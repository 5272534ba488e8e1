<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/**
 * A value that cannot be stored: the message names the key, and the path to the closure or resource inside the value.
 * What the value itself throws when it is asked for its state is the previous exception.
 *
 * The extension declares the same class when it is loaded; this file then is never read, and the class
 * has nothing that the extension's does not have.
 */
final class Unstorable extends \RuntimeException implements Exception {}
