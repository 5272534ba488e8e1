<?php

declare(strict_types=1);

namespace Larder;

/**
 * Everything Larder throws on purpose.
 *
 * The extension declares the same interface when it is loaded; this file then is never read.
 */
interface Exception extends \Throwable {}
