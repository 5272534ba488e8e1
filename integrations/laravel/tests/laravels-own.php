<?php

declare(strict_types=1);

// What tools/laravel-tests has before the tests of Laravel itself: where they make an ArrayStore, they get one of Larder's.

namespace Larder\Laravel\Tests;

use Illuminate\Support\Carbon;
use Larder\Cache;
use Larder\Laravel\LarderStore;
use Larder\Store\ArrayStore;

require getenv('LARDER_PACKAGES') . '/autoload.php';

/** Its time is Laravel's, which the tests move. */
function store(): LarderStore
{
    $now = static fn(): float => (float) Carbon::now()->getPreciseTimestamp(6) / 1e6;

    return new LarderStore(new Cache(new ArrayStore(clock: static fn(): int => (int) floor($now())), clock: $now));
}
