<?php

declare(strict_types=1);

namespace Larder\Console;

/**
 * The figures of one kind of store, in rows. Of a server's hundreds of figures it takes those that tell an operator something, in plain
 * words. Several servers have a column each. Of any other store it takes everything. `--json` has all figures.
 */
final class Figures
{
    /** Of INFO: a label, the name there, and how it is printed. */
    private const REDIS = [
        ['version', 'redis_version', 'text'], ['mode', 'redis_mode', 'text'], ['role', 'role', 'text'], ['up for', 'uptime_in_seconds', 'seconds'],
        ['clients', 'connected_clients', 'count'], ['clients refused', 'rejected_connections', 'count'], ['commands per second', 'instantaneous_ops_per_sec', 'count'],
        ['memory at most used', 'used_memory_peak', 'bytes'], ['memory of the process', 'used_memory_rss', 'bytes'], ['memory limit', 'maxmemory', 'bytes'],
        ['when full', 'maxmemory_policy', 'text'], ['fragmentation', 'mem_fragmentation_ratio', 'text'], ['snapshot', 'rdb_last_bgsave_status', 'text'],
        ['append-only file', 'aof_enabled', 'switch'], ['replicas', 'connected_slaves', 'count'],
        ...self::NEAR,
    ];

    /** Of the near store in front of any store. */
    private const NEAR = [
        ['near pool', 'near name', 'text'], ['near items', 'near items', 'count'], ['near memory', 'near bytes', 'bytes'], ['near hits', 'near hits', 'count'], ['near misses', 'near misses', 'count'],
        ['near evictions', 'near evictions', 'count'], ['events of the log to follow', 'near lag', 'count'], ['events of the log applied', 'near events', 'count'],
        ['log followed up to', 'near position', 'text'], ['log asked ago', 'near age', 'seconds'], ['near store begun anew', 'near beginnings', 'count'],
        ['near store left aside', 'near bypasses', 'count'], ['left aside because', 'near bypassed because', 'text'], ['left aside at', 'near bypassed at', 'time'],
    ];

    /** Of Memcached's stats. */
    private const MEMCACHED = [
        ['version', 'version', 'text'], ['up for', 'uptime', 'seconds'], ['clients', 'curr_connections', 'count'], ['clients that had to wait', 'listen_disabled_num', 'count'],
        ['items stored so far', 'total_items', 'count'], ['threads', 'threads', 'count'], ['memory limit', 'limit_maxbytes', 'bytes'],
    ];

    private function __construct() {}

    /**
     * @param array<mixed> $details
     *
     * @return array<string, string> by label
     */
    public static function rows(array $details): array
    {
        $servers = array_filter($details, static fn(mixed $each): bool => \is_array($each) && self::known($each) !== []);
        if ($servers === [] || \count($servers) !== \count($details)) {
            return self::of($details);
        }
        $rows = ['server' => array_map(strval(...), array_keys($servers))];
        foreach ($servers as $server) {
            foreach (self::of((array) $server) as $label => $text) {
                $rows[$label][] = $text;
            }
        }
        $count = \count($servers);
        $widths = array_map(static fn(int $i): int => max(array_map(static fn(array $row): int => mb_strwidth($row[$i] ?? ''), $rows)), range(0, $count - 1));

        return array_map(static fn(array $row): string => rtrim(implode('  ', array_map(static fn(int $i): string => str_pad($row[$i] ?? '', $widths[$i]), range(0, $count - 1)))), $rows);
    }

    /**
     * Of a near store alone, whose far one does not answer.
     *
     * @param array<mixed> $details
     *
     * @return array<string, string> by label
     */
    public static function near(array $details): array
    {
        return self::told(self::NEAR, $details);
    }

    /**
     * @param list<array{string, string, string}> $known
     * @param array<mixed>                        $details
     *
     * @return array<string, string>
     */
    private static function told(array $known, array $details): array
    {
        $rows = [];
        foreach ($known as [$label, $name, $form]) {
            if (\is_scalar($details[$name] ?? null)) {
                $rows[$label] = self::text($details[$name], $form);
            }
        }

        return $rows;
    }

    /**
     * @param array<mixed> $details
     *
     * @return array<string, string>
     */
    private static function of(array $details): array
    {
        $rows = self::told(self::known($details), $details);
        foreach ($rows === [] ? $details : [] as $name => $value) {
            if (\is_array($value) && !array_is_list($value)) {
                foreach ($value as $part => $of) {
                    $rows["{$name} {$part}"] = self::text($of, 'text');
                }
            } else {
                $rows[(string) $name] = self::text($value, 'text');
            }
        }

        return $rows;
    }

    /**
     * @param array<mixed> $details
     *
     * @return list<array{string, string, string}>
     */
    private static function known(array $details): array
    {
        return match (true) {
            isset($details['redis_version']) => self::REDIS,
            isset($details['limit_maxbytes']) => self::MEMCACHED,
            default => [],
        };
    }

    private static function text(mixed $value, string $form): string
    {
        return match (true) {
            $form === 'bytes' && is_numeric($value) => (int) $value === 0 ? 'none' : Printed::bytes((int) $value),
            $form === 'count' && is_numeric($value) => Printed::count((int) $value),
            $form === 'switch' => (int) (bool) $value === 1 ? 'on' : 'off',
            $form === 'time' && is_numeric($value) => date('Y-m-d H:i:s', (int) $value),
            $form === 'seconds' && is_numeric($value) => Printed::duration((int) $value),
            \is_bool($value) => $value ? 'yes' : 'no',
            $value === null => '–',
            \is_scalar($value) => (string) $value,
            default => (string) json_encode($value, \JSON_INVALID_UTF8_SUBSTITUTE),
        };
    }
}
