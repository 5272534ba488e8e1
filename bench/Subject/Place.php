<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** Where a subject keeps what it stores; all of it is private to one worker except the server. */
final readonly class Place
{
    /**
     * @param string $disk a directory on a file system that is not in memory
     * @param string $tmpfs a directory on one that is
     * @param string $pool a name for a pool of shared memory that nobody else uses
     * @param int $bytes how much a subject with a limit may hold
     * @param array<string, string|int> $endpoint `socket`, `host` and `port` of the server, if the subject has one
     */
    public function __construct(
        public string $disk,
        public string $tmpfs,
        public string $pool,
        public int $bytes,
        public array $endpoint,
    ) {}

    public function socket(): string
    {
        return (string) ($this->endpoint['socket'] ?? '');
    }

    public function host(): string
    {
        return (string) ($this->endpoint['host'] ?? '');
    }

    public function port(): int
    {
        return (int) ($this->endpoint['port'] ?? 0);
    }
}
