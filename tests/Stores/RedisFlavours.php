<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Bench\Server\Program;
use Larder\Bench\Server\RedisFlavour;

/** Which servers that speak Redis's protocol this machine has; both are tested where both are. */
final class RedisFlavours
{
    private function __construct() {}

    public static function first(): RedisFlavour
    {
        return self::installed()[0] ?? RedisFlavour::Redis;
    }

    public static function last(): RedisFlavour
    {
        return array_reverse(self::installed())[0] ?? RedisFlavour::Redis;
    }

    /** @return list<RedisFlavour> */
    private static function installed(): array
    {
        return array_values(array_filter(
            RedisFlavour::cases(),
            static fn(RedisFlavour $flavour): bool => Program::find($flavour->program()) !== null,
        ));
    }
}
