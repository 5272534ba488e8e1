<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

/** What is computed after the response is not computed now; if there is something stale, the pool serves it. */
final class PutOff extends \Exception {}
