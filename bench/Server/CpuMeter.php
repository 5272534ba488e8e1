<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/** What operations take of processors: of this process, which is the client, and of the servers that it asks. */
final readonly class CpuMeter
{
    /** The columns of a sample that have it, in ns per operation, in the order of `perOperation()`. */
    public const COLUMNS = ['client cpu', 'server cpu'];

    /** @param list<int> $servers process ids */
    private function __construct(private array $servers, private int $client, private int $server) {}

    /** @param list<int> $servers process ids; none for what works in the client alone */
    public static function start(array $servers = []): self
    {
        $server = CpuTime::of($servers);

        return new self($servers, CpuTime::ofThisProcess(), $server);
    }

    /** @param string $servers process ids with spaces between them, as a task is given them */
    public static function among(string $servers): self
    {
        return self::start(array_values(array_map(intval(...), array_filter(explode(' ', $servers)))));
    }

    /** @return array{float, float} ns of each operation since the start: the client's, the servers' */
    public function perOperation(int $operations): array
    {
        // The client first: asking about the servers is work of the client's.
        $client = CpuTime::ofThisProcess() - $this->client;
        $server = CpuTime::of($this->servers) - $this->server;

        return [round($client / max(1, $operations), 1), round($server / max(1, $operations), 1)];
    }
}
