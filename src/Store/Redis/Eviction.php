<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;
use Larder\Store\Noted;

/** Whether the server is told to evict. That it is not is found out once a minute on each machine. */
final class Eviction
{
    private const IS_TRUE_FOR = 60;

    private const ABOUT = 'retention';

    /** When it was found to keep what it has, in Unix seconds. */
    private float $retained = 0.0;

    public function __construct(
        private readonly Connection $connection,
        private readonly Noted $noted,
    ) {}

    /** @return ?string as its configuration names it; null: it does not evict, or it cannot be told */
    public function policy(): ?string
    {
        if (abs(microtime(true) - $this->retained) <= self::IS_TRUE_FOR) {
            return null;
        }
        $this->retained = $this->noted->read(self::ABOUT, self::IS_TRUE_FOR)[0] ?? 0.0;

        return $this->retained > 0.0 ? null : $this->ask();
    }

    private function ask(): ?string
    {
        try {
            $replies = $this->connection instanceof ClusterConnection
                ? array_column($this->connection->everywhere([['INFO', 'memory']]), 0)
                : $this->connection->send([['INFO', 'memory']]);
        } catch (StoreUnavailable) {
            // The next process that wants a lock finds that out.
            return null;
        }
        $policies = array_filter(array_map(self::in(...), $replies));
        if ($policies === []) {
            $this->retained = microtime(true);
            $this->noted->write(self::ABOUT, '');
        }

        return array_shift($policies);
    }

    /** Without a limit to its memory there is nothing that a server would evict for. */
    private static function in(mixed $about): ?string
    {
        preg_match_all('/^(maxmemory|maxmemory_policy):([a-z0-9-]+)\r?$/m', \is_string($about) ? $about : '', $lines);
        $settings = array_combine($lines[1], $lines[2]) + ['maxmemory' => '0', 'maxmemory_policy' => 'noeviction'];

        return $settings['maxmemory'] === '0' || $settings['maxmemory_policy'] === 'noeviction' ? null : $settings['maxmemory_policy'];
    }
}
