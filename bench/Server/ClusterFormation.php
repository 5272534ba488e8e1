<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

use Larder\Store\Redis\ErrorReply;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\Server as Address;

/** How masters of Redis or Valkey that were started one by one become a cluster without replicas: each gets an equal part of the slots. */
final class ClusterFormation
{
    public const SLOTS = 16_384;

    /** In ns. */
    private const TIMEOUT = 60_000_000_000;

    /**
     * What a node is started with.
     *
     * @param string $file where it keeps what it knows of the others
     * @param int    $bus  the port at which it hears of them
     *
     * @return list<string>
     */
    public static function options(string $file, int $bus): array
    {
        // A node that waits for a processor should not look dead to the others.
        return [
            '--cluster-enabled', 'yes', '--cluster-config-file', $file, '--cluster-port', (string) $bus,
            '--cluster-require-full-coverage', 'no', '--cluster-node-timeout', '20000',
        ];
    }

    /** @return array{int, int} the first and the last slot of a node, as the cluster is formed */
    public static function slots(int $node, int $nodes): array
    {
        return [intdiv(self::SLOTS * $node, $nodes), intdiv(self::SLOTS * ($node + 1), $nodes) - 1];
    }

    /**
     * Introduces the nodes to each other and waits until all of them know all.
     *
     * @param list<array{socket: string, port: int, bus: int}> $nodes the port is the one that clients use
     *
     * @throws ServerFailed when they do not within a minute
     */
    public static function form(array $nodes): void
    {
        foreach ($nodes as $i => ['socket' => $socket]) {
            self::ask($socket, 'CLUSTER', 'SET-CONFIG-EPOCH', (string) ($i + 1));
            self::ask($socket, 'CLUSTER', 'ADDSLOTSRANGE', ...array_map(strval(...), self::slots($i, \count($nodes))));
        }
        // Every two, as they take their time to tell each other of a third.
        foreach ($nodes as $i => ['socket' => $socket]) {
            foreach (\array_slice($nodes, $i + 1) as ['port' => $port, 'bus' => $bus]) {
                self::ask($socket, 'CLUSTER', 'MEET', '127.0.0.1', (string) $port, (string) $bus);
            }
        }
        $pattern = \sprintf('/cluster_state:ok.*cluster_slots_assigned:%d.*cluster_known_nodes:%d\b/s', self::SLOTS, \count($nodes));
        $deadline = hrtime(true) + self::TIMEOUT;
        foreach ($nodes as ['socket' => $socket]) {
            while (preg_match($pattern, self::ask($socket, 'CLUSTER', 'INFO')) !== 1) {
                if (hrtime(true) > $deadline) {
                    throw ServerFailed::toStart('The cluster', 'its nodes did not agree within a minute', self::ask($socket, 'CLUSTER', 'NODES'));
                }
                usleep(20_000);
            }
        }
    }

    /** @throws ServerFailed */
    private static function ask(string $socket, string $command, string ...$words): string
    {
        $reply = (new PhpRedisConnection(new Address(socket: $socket, readTimeout: 30.0)))->send([[$command, ...array_values($words)]])[0];

        return \is_string($reply) ? $reply : throw ServerFailed::toStart('The cluster', implode(' ', [$command, ...$words]) . ' was refused', $reply instanceof ErrorReply ? $reply->message : get_debug_type($reply));
    }
}
