<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/** Three masters of Redis or Valkey that share the slots, and no replicas: the smallest cluster. */
final class RedisClusterServer implements Server
{
    private const NODES = 3;

    /** @param non-empty-list<RedisServer> $nodes */
    private function __construct(private readonly array $nodes) {}

    /**
     * @param int $megabytes of each node
     * @param list<string> $placement a command that runs its arguments, such as `taskset -c 1`
     * @throws ServerFailed
     */
    public static function start(RedisFlavour $flavour, int $megabytes, array $placement = []): self
    {
        $ports = ServerProcess::freePorts(2 * self::NODES);
        $nodes = $addresses = [];
        try {
            for ($i = 0; $i < self::NODES; $i++) {
                [$port, $bus] = [$ports[2 * $i], $ports[2 * $i + 1]];
                // A server runs in a directory of its own.
                $nodes[] = $node = RedisServer::start($flavour, $megabytes, $placement, ClusterFormation::options('nodes.conf', $bus), $port);
                $addresses[] = ['socket' => $node->socket, 'port' => $port, 'bus' => $bus];
            }
            ClusterFormation::form($addresses);
        } catch (ServerFailed $failure) {
            array_map(static fn(RedisServer $node) => $node->stop(), $nodes);

            throw $failure;
        }

        return new self($nodes);
    }

    /** @return array{hosts: string} as a DSN names them */
    public function endpoint(): array
    {
        return ['hosts' => implode(',', array_map(static fn(RedisServer $node): string => "127.0.0.1:{$node->port}", $this->nodes))];
    }

    public function description(): array
    {
        return $this->nodes[0]->description();
    }

    public function processIds(): array
    {
        return array_merge(...array_map(static fn(RedisServer $node): array => $node->processIds(), $this->nodes));
    }

    public function stop(): void
    {
        array_map(static fn(RedisServer $node) => $node->stop(), $this->nodes);
    }
}
