<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Server\RedisClusterServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;

/** Where a design keeps its items: a directory, a name for a pool, and servers of its own, until it is closed. */
final readonly class TagPlace
{
    /** @param array<string, Server> $servers by what the design calls them */
    private function __construct(private string $directory, private string $pool, private int $megabytes, private array $servers, private Laboratory $laboratory) {}

    /**
     * @param string $directory for this place alone
     * @param string $pool a name that no other pool has
     * @throws ServerFailed
     */
    public static function make(Design $design, Laboratory $laboratory, int $megabytes, string $directory, string $pool): self
    {
        $servers = [];
        foreach (array_intersect($design->needs(), ['redis', 'cluster', 'memcached']) as $need) {
            try {
                $server = match ($need) {
                    'redis' => RawStores::server(RawStores::flavour()->value, $laboratory, $megabytes, $design->redisOptions()),
                    'cluster' => RedisClusterServer::start(RawStores::flavour(), $megabytes, $laboratory->placement->server),
                    default => RawStores::server(RawStores::MEMCACHED, $laboratory, $megabytes),
                };
            } catch (ServerFailed $failure) {
                array_map(static fn(Server $started) => $started->stop(), $servers);

                throw $failure;
            }
            if ($server !== null) {
                $servers[$need] = $server;
            }
        }

        return new self($directory, $pool, $megabytes, $servers, $laboratory);
    }

    /** What `Design::open()` takes, and the processes of the servers. */
    public function toJson(): string
    {
        $address = fn(string $need, string $part = 'socket'): string => (string) (($this->servers[$need] ?? null)?->endpoint()[$part] ?? '');

        return json_encode([
            'directory' => $this->directory, 'pool' => $this->pool, 'bytes' => $this->megabytes << 20, 'redis' => $address('redis'),
            'cluster' => $address('cluster', 'hosts'), 'memcached' => $address('memcached'), 'zend' => (string) $this->laboratory->zend, 'laravel' => (string) $this->laboratory->laravel,
            'servers' => implode(' ', array_merge(...array_values(array_map(static fn(Server $server): array => $server->processIds(), $this->servers)))),
        ], JSON_THROW_ON_ERROR);
    }

    public function close(): void
    {
        array_map(static fn(Server $server) => $server->stop(), $this->servers);
    }
}
