<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** Where a subject keeps what it stores; all of it is private to one worker except the server. */
final readonly class Place
{
    /**
     * @param string $disk a directory on a file system that is not in memory
     * @param string $tmpfs a directory on one that is
     * @param string $name a name for a pool of shared memory that nothing else uses
     * @param int $bytes how much a subject with a limit may hold
     * @param array<string, string|int> $endpoint `socket`, `host` and `port` of the server, if the subject has one
     */
    public function __construct(
        public string $disk,
        public string $tmpfs,
        public string $name,
        public int $bytes,
        public array $endpoint,
    ) {}

    /** The same place with another name, so that a pool never meets what a former one left behind. */
    public function named(string $name): self
    {
        return new self($this->disk, $this->tmpfs, $name, $this->bytes, $this->endpoint);
    }

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
