<?php

declare(strict_types=1);

namespace Larder\Tests\System\Hosts;

use Larder\Bench\Experiment\HostNetwork;

/**
 * What makes one machine several hosts: as root the network that the benchmark measures them in. For others, who may not make one,
 * hosts are names of pools; they cannot be cut off.
 */
final class Places
{
    public readonly bool $areApart;

    private ?HostNetwork $network;

    public function __construct(int $count)
    {
        $this->network = HostNetwork::lack() === null ? new HostNetwork($count) : null;
        $this->areApart = $this->network !== null;
    }

    /** Where all hosts reach what listens on this machine. */
    public function address(): string
    {
        return $this->network?->address() ?? '127.0.0.1';
    }

    /**
     * @param non-empty-list<string> $words
     *
     * @return non-empty-list<string> what runs the command there
     */
    public function command(int $host, array $words): array
    {
        return [...$this->network?->on($host) ?? [], ...$words];
    }

    /** Pulls a host's cable, or puts it back. */
    public function cut(int $host, bool $isCut): void
    {
        $this->network?->cut($host, $isCut);
    }

    public function remove(): void
    {
        $this->network = null;
    }
}
