<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/** The memory of APCu, which the workers of one web server share. */
final class ApcuMemory implements HostMemory
{
    /** Seconds after which it is free again, if no process writes it. */
    private const LASTS = 3_600;

    public static function isThere(): bool
    {
        return \function_exists('apcu_enabled') && apcu_enabled();
    }

    public function read(array $names): array
    {
        $found = apcu_fetch($names);

        return \is_array($found) ? array_filter($found, is_string(...)) : [];
    }

    public function write(string $name, string $bytes): bool
    {
        return apcu_store($name, $bytes, self::LASTS);
    }
}
