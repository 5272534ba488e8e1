<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Bench\Server\ClusterFormation;
use Larder\Bench\Server\ServerProcess;
use Larder\Store\Redis\ErrorReply;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\Server;
use Larder\Tests\Scratch;

/** Three masters that share the slots, and no replicas. */
final class RedisCluster
{
    /** In ns. */
    private const TIMEOUT = 60_000_000_000;

    /** @var array<int, CacheServer> */
    public array $nodes = [];

    /** @param ?Certificates $certificates with TLS, also among the nodes */
    public function __construct(
        ?Certificates $certificates = null,
        private readonly Scratch $scratch = new Scratch(),
    ) {
        $ports = ServerProcess::freePorts(6);
        $buses = array_splice($ports, 3);
        foreach ($ports as $i => $port) {
            $options = ClusterFormation::options("{$this->scratch->path}/nodes-{$i}.conf", $buses[$i]);
            $this->nodes[$i] = ($certificates === null
                ? CacheServer::redisOnPort($options, $port)
                : CacheServer::redisWithTls($certificates, ['--tls-cluster', 'yes', '--tls-auth-clients', 'no', ...$options], $port))->start();
        }
        ClusterFormation::form(array_map(static fn(CacheServer $node, int $bus): array => ['socket' => $node->socket, 'port' => $node->port, 'bus' => $bus], $this->nodes, $buses));
    }

    public function dsn(string $options, int ...$seeds): string
    {
        return "redis+cluster://{$this->hosts(...$seeds)}?{$options}";
    }

    /** @return string as a DSN names them; all, if none is named */
    public function hosts(int ...$seeds): string
    {
        return implode(',', array_map(fn(int $i): string => "127.0.0.1:{$this->nodes[$i]->port}", $seeds === [] ? [0, 1, 2] : $seeds));
    }

    /** Gives a node's slots of these to another one, with all that is in them, while all others may go on. */
    public function move(int $slot, int $from, int $to): void
    {
        $names = [(string) $this->ask($from, 'CLUSTER', 'MYID'), (string) $this->ask($to, 'CLUSTER', 'MYID')];
        $this->ask($to, 'CLUSTER', 'SETSLOT', (string) $slot, 'IMPORTING', $names[0]);
        $this->ask($from, 'CLUSTER', 'SETSLOT', (string) $slot, 'MIGRATING', $names[1]);
        while (\is_array($keys = $this->raw($from, 'CLUSTER', 'GETKEYSINSLOT', (string) $slot, '100')) && $keys !== []) {
            $this->ask($from, 'MIGRATE', '127.0.0.1', (string) $this->nodes[$to]->port, '', '0', '10000', 'KEYS', ...array_filter($keys, is_string(...)));
        }
        foreach ([$to, $from] as $node) {
            $this->ask($node, 'CLUSTER', 'SETSLOT', (string) $slot, 'NODE', $names[1]);
        }
        // A node that has not heard of it must not say otherwise at the next move.
        foreach ([0, 1, 2] as $i) {
            for ($deadline = hrtime(true) + self::TIMEOUT; $this->ownerBy($i, $slot) !== $names[1] || $this->epoch($i) !== $this->epoch($to); usleep(10_000)) {
                if (hrtime(true) > $deadline) {
                    throw new \RuntimeException('The slot did not move: ' . $this->ask($i, 'CLUSTER', 'NODES'));
                }
            }
        }
    }

    private function epoch(int $node): int
    {
        return (int) substr((string) strstr((string) $this->ask($node, 'CLUSTER', 'INFO'), 'cluster_current_epoch:'), 22);
    }

    /** @return ?string the id of the node that this one takes for the slot's owner */
    private function ownerBy(int $node, int $slot): ?string
    {
        $ranges = $this->raw($node, 'CLUSTER', 'SLOTS');
        foreach (\is_array($ranges) ? $ranges : [] as $range) {
            if (\is_array($range) && $range[0] <= $slot && $range[1] >= $slot && \is_array($range[2]) && \is_string($range[2][2] ?? null)) {
                return $range[2][2];
            }
        }

        return null;
    }

    /** @return int the node that has the slot of a name */
    public function owner(string $name): int
    {
        $slot = (int) $this->ask(0, 'CLUSTER', 'KEYSLOT', $name);
        foreach ([0, 1, 2] as $i) {
            [$first, $last] = ClusterFormation::slots($i, 3);
            if ($slot >= $first && $slot <= $last) {
                return $i;
            }
        }

        throw new \LogicException("There is no slot {$slot}.");
    }

    public function ask(int $node, string ...$command): int|string
    {
        $reply = $this->raw($node, ...$command);

        return \is_int($reply) || \is_string($reply)
            ? $reply
            : throw new \RuntimeException(implode(' ', $command) . ': ' . ($reply instanceof ErrorReply ? $reply->message : get_debug_type($reply)));
    }

    private function raw(int $node, string ...$command): mixed
    {
        return $command === [] ? null : (new PhpRedisConnection(new Server(socket: $this->nodes[$node]->socket, readTimeout: 30.0)))->send([array_values($command)])[0];
    }

    public function stop(): void
    {
        foreach ($this->nodes as $node) {
            $node->stop();
        }
    }
}
