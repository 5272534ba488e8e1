<?php

declare(strict_types=1);

namespace Larder\Tests\System\Hosts;

use Larder\Tests\System\CacheServer;
use Larder\Tests\Wait;

/** A master and its replica, where all hosts reach them, and three sentinels that watch the two. */
final class Sentinels
{
    private const QUORUM = 2;

    private CacheServer $master;

    private CacheServer $replica;

    /** @var list<CacheServer> */
    private readonly array $sentinels;

    public function __construct(
        private readonly string $address,
    ) {
        $this->master = $this->server()->start();
        $this->replica = $this->server($this->master)->start();
        // Sooner than one would have it elsewhere: a machine that is busy calls a living master dead, which is one failover more.
        $lines = ['sentinel down-after-milliseconds shop 500', 'sentinel failover-timeout shop 1000'];
        $this->sentinels = array_map(fn(): CacheServer => CacheServer::sentinel($this->master->port, self::QUORUM, lines: $lines, address: $address)->start(), range(0, 2));
        $this->untilAllIsWell();
    }

    /** @param string $options of the DSN, besides the service */
    public function dsn(string $options): string
    {
        return 'redis+sentinel://' . implode(',', array_map(fn(CacheServer $sentinel): string => "{$this->address}:{$sentinel->port}", $this->sentinels)) . "/0?service=shop&{$options}";
    }

    /**
     * Kills the master, and returns when the other one is it, and a sentinel says so. Before that writes are held up until the replica has had all of them. So nothing
     * that was acknowledged is lost, and what is read afterwards can be judged without exception.
     */
    public function failOver(): void
    {
        $this->untilAllIsWell();
        self::ask($this->master, 'CLIENT', 'PAUSE', '600000', 'WRITE');
        Wait::until('the replica has every write', fn(): bool => self::offset($this->master) !== null && self::offset($this->master) === self::offset($this->replica));
        $this->master->kill();
        Wait::until('a sentinel names the new master', fn(): bool => $this->replica->says('role:master') && $this->isNamed($this->replica));
    }

    /** Whether a sentinel names it as the master. Clients cannot find it before. */
    private function isNamed(CacheServer $server): bool
    {
        foreach ($this->sentinels as $sentinel) {
            if (self::ask($sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'shop') === [$this->address, (string) $server->port]) {
                return true;
            }
        }

        return false;
    }

    /** Starts the killed one again, as a replica of the new master. */
    public function restore(): void
    {
        $port = $this->master->port;
        $this->master->stop();
        [$this->master, $this->replica] = [$this->replica, $this->server($this->replica, $port)->start()];
    }

    public function stop(): void
    {
        array_map(static fn(CacheServer $server) => $server->stop(), [...$this->sentinels, $this->master, $this->replica]);
    }

    /** Until each sentinel knows the others, and a replica that could be promoted. */
    private function untilAllIsWell(): void
    {
        Wait::until('the sentinels know a master, its replica and each other', function (): bool {
            if ($this->replica->says('role:master') && $this->master->says('role:slave')) {
                [$this->master, $this->replica] = [$this->replica, $this->master];
            }
            foreach ($this->sentinels as $sentinel) {
                $master = self::about(self::ask($sentinel, 'SENTINEL', 'MASTER', 'shop'));
                $replicas = self::ask($sentinel, 'SENTINEL', 'REPLICAS', 'shop');
                $replica = self::about(\is_array($replicas) ? $replicas[0] ?? null : null);
                if (($master['port'] ?? '') !== (string) $this->master->port || ($master['flags'] ?? '') !== 'master' || ($master['num-other-sentinels'] ?? '') !== '2'
                    || ($replica['flags'] ?? '') !== 'slave' || ($replica['master-link-status'] ?? '') !== 'ok') {
                    return false;
                }
            }

            return $this->replica->says('master_link_status:up');
        });
    }

    private function server(?CacheServer $master = null, ?int $port = null): CacheServer
    {
        return CacheServer::redisOnPort([
            '--bind', '0.0.0.0', '--protected-mode', 'no', '--repl-diskless-sync-delay', '0', '--replica-announce-ip', $this->address,
            ...$master === null ? [] : ['--replicaof', $this->address, (string) $master->port],
        ], $port);
    }

    /** @return ?string how far it is in what is replicated; null if it does not answer */
    private static function offset(CacheServer $server): ?string
    {
        return preg_match('/^master_repl_offset:(\d+)/m', $server->replication(), $found) === 1 ? $found[1] : null;
    }

    /** @return array<string, string> what a sentinel says of a server, by name */
    private static function about(mixed $said): array
    {
        $about = [];
        foreach (array_chunk(array_filter(\is_array($said) ? $said : [], \is_string(...)), 2) as $pair) {
            $about[$pair[0]] = $pair[1] ?? '';
        }

        return $about;
    }

    /** @return mixed false if it does not answer */
    private static function ask(CacheServer $server, string ...$command): mixed
    {
        try {
            $redis = new \Redis();
            $redis->connect('127.0.0.1', $server->port, 1.0, null, 0, 1.0);

            return $redis->rawCommand(...array_values($command));
        } catch (\RedisException) {
            return false;
        }
    }
}
