<?php

declare(strict_types=1);

namespace Larder\Store\Apcu;

/** Leaves APCu's apcu_entry() without anything being stored. */
final class Late extends \Exception {}
