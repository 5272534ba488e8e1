<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Console\Printed;

/** Checks the settings and state of a server: of Redis and Valkey by INFO, of Memcached by its stats. */
final class ServerChecks
{
    /**
     * @param string       $what    was looked at
     * @param array<mixed> $details a server's words, or those of several by their names
     * @param bool         $hasLog  whether near stores follow a log there
     *
     * @return list<Finding>
     */
    public static function findings(string $what, array $details, bool $hasLog = false): array
    {
        $found = [];
        foreach (self::servers($what, $details) as $name => $about) {
            array_push($found, ...self::redis($name, $about, $hasLog), ...self::memcached($name, $about));
        }

        return $found;
    }

    /**
     * @param bool         $areNear    whether this host is to judge by tags itself
     * @param list<string> $extensions loaded ones
     *
     * @return list<Finding>
     */
    public static function tags(string $what, bool $areNear, array $extensions): array
    {
        return $areNear && array_intersect(['apcu', 'larder'], $extensions) === []
            ? [Finding::problem($what, 'With tags=near this host keeps what it knows of tags in APCu or a pool. It has neither, so the server judges, by a script for each read.', 'the extension apcu or larder, loaded')]
            : [];
    }

    /**
     * @param array<mixed> $about
     *
     * @return list<Finding>
     */
    private static function redis(string $what, array $about, bool $hasLog): array
    {
        $policy = $about['maxmemory_policy'] ?? null;
        if (!\is_string($policy)) {
            return [];
        }
        $found = [];
        $version = $about['redis_version'] ?? null;
        if ($hasLog && \is_string($version) && version_compare($version, '6.2', '<')) {
            $found[] = Finding::advice($what, "The server is Redis {$version}: it trims the log that near stores follow by its length only, not by age.", 'Redis 6.2 or later, or Valkey');
        }
        $limit = self::number($about, 'maxmemory');
        if ($limit === 0) {
            $found[] = Finding::advice($what, 'The server has no limit to its memory: it grows until the machine has none left.', 'maxmemory 256mb');
        } elseif ($limit > self::number($about, 'total_system_memory') && self::number($about, 'total_system_memory') > 0) {
            $found[] = Finding::problem($what, \sprintf('The server may take %s, and its machine has %s.', Printed::bytes($limit), Printed::bytes(self::number($about, 'total_system_memory'))), 'maxmemory 256mb');
        }
        if ($policy === 'noeviction' && $limit !== 0) {
            $found[] = Finding::advice($what, 'A full server refuses to save: right for sessions and locks, not for a cache.', $hasLog ? 'maxmemory-policy volatile-lru (for a cache that near stores follow)' : 'maxmemory-policy allkeys-lru (for a cache)');
        } elseif ($hasLog && str_starts_with($policy, 'allkeys-')) {
            $found[] = Finding::problem($what, "The server may evict the log that near stores follow ({$policy}): they then begin anew each time.", 'maxmemory-policy volatile-lru, or noeviction');
        } elseif ($policy !== 'noeviction') {
            $found[] = Finding::fine($what, "The server evicts ({$policy}): right for a cache, not for sessions and locks.");
        }
        if (($about['rdb_last_bgsave_status'] ?? 'ok') !== 'ok') {
            $found[] = Finding::problem($what, 'The server could not save its last snapshot, and refuses writes unless it is told not to.', 'save "" (a cache needs no snapshot); else df -h, and room on its disk');
        }
        if (self::number($about, 'rejected_connections') > 0) {
            $found[] = Finding::advice($what, \sprintf('The server has refused connections, %s so far.', Printed::count(self::number($about, 'rejected_connections'))), 'maxclients ' . 2 * max(5_000, self::number($about, 'maxclients')));
        }

        return $found;
    }

    /**
     * @param array<mixed> $about
     *
     * @return list<Finding>
     */
    private static function memcached(string $what, array $about): array
    {
        if (!isset($about['limit_maxbytes'])) {
            return [];
        }
        $found = [];
        [$evicted, $sets] = [self::number($about, 'evictions'), self::number($about, 'cmd_set')];
        if ($evicted > 1_000 && $evicted > 0.1 * $sets) {
            $found[] = Finding::advice(
                $what,
                \sprintf('Of what the server was given, it had to evict %s before its time was over.', Printed::share($evicted, max($sets, $evicted))),
                'memcached -m ' . 2 * intdiv(self::number($about, 'limit_maxbytes'), 1 << 20),
            );
        }
        if (self::number($about, 'listen_disabled_num') > 0) {
            $found[] = Finding::advice($what, \sprintf('The server has let clients wait as too many were connected, %s times so far.', Printed::count(self::number($about, 'listen_disabled_num'))), 'memcached -c 4096');
        }

        return $found;
    }

    /**
     * @param array<mixed> $details
     *
     * @return array<string, array<mixed>> what each says, by its name
     */
    private static function servers(string $what, array $details): array
    {
        $servers = array_filter($details, is_array(...));
        if ($servers === [] || \count($servers) !== \count($details)) {
            return [$what => $details];
        }

        return array_combine(array_map(static fn(int|string $name): string => "{$what} ({$name})", array_keys($servers)), $servers);
    }

    /** @param array<mixed> $about */
    private static function number(array $about, string $name): int
    {
        return is_numeric($about[$name] ?? null) ? (int) $about[$name] : 0;
    }
}
