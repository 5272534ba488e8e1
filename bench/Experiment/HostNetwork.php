<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\Program;
use Symfony\Component\Process\Process;

/** Several hosts on one machine: network namespaces, joined to a bridge by a cable each, with a /dev/shm of their own. They go with this object. */
final class HostNetwork
{
    /** In ms. Linux asks for an address once a second. A cable that is put back would be of no use until then. */
    private const ASKED_EVERY = '20';

    private readonly string $bridge;
    private readonly string $network;
    /** @var list<string> */
    private array $namespaces = [];

    /**
     * @param int $count of hosts
     * @throws HostsFailed
     */
    public function __construct(int $count)
    {
        $this->bridge = 'lb' . bin2hex(random_bytes(4));
        $this->network = '10.' . random_int(128, 250) . '.' . random_int(1, 250);
        self::ip('link', 'add', $this->bridge, 'type', 'bridge');
        self::ip('address', 'add', "{$this->network}.1/24", 'dev', $this->bridge);
        self::ip('link', 'set', $this->bridge, 'up');
        self::ip('ntable', 'change', 'name', 'arp_cache', 'dev', $this->bridge, 'retrans', self::ASKED_EVERY);
        for ($host = 0; $host < $count; $host++) {
            $this->namespaces[] = $namespace = "{$this->bridge}-{$host}";
            self::ip('netns', 'add', $namespace);
            self::ip('link', 'add', "{$this->bridge}c{$host}", 'type', 'veth', 'peer', 'name', 'eth0', 'netns', $namespace);
            self::ip('link', 'set', "{$this->bridge}c{$host}", 'master', $this->bridge, 'up');
            self::ip('-n', $namespace, 'address', 'add', "{$this->network}." . (10 + $host) . '/24', 'dev', 'eth0');
            self::ip('-n', $namespace, 'link', 'set', 'eth0', 'up');
            self::ip('-n', $namespace, 'ntable', 'change', 'name', 'arp_cache', 'dev', 'eth0', 'retrans', self::ASKED_EVERY);
            self::ip('-n', $namespace, 'link', 'set', 'lo', 'up');
        }
    }

    public function __destruct()
    {
        foreach ($this->namespaces as $namespace) {
            self::run('ip', 'netns', 'delete', $namespace);
        }
        self::run('ip', 'link', 'delete', $this->bridge);
    }

    /** @return string|null why this machine cannot be several hosts, as a sentence */
    public static function lack(): ?string
    {
        return match (true) {
            posix_geteuid() !== 0 => 'only root can make several hosts of one machine (network namespaces): run it as root',
            Program::find('ip') === null => 'the program ip is not there, which makes several hosts of one machine: install the package iproute2',
            default => null,
        };
    }

    /** Where all hosts reach what listens on this machine. */
    public function address(): string
    {
        return "{$this->network}.1";
    }

    /** @return non-empty-list<string> a command that runs its arguments on a host */
    public function on(int $host): array
    {
        return [
            Program::find('ip') ?? 'ip', 'netns', 'exec', $this->namespaces[$host] ?? '', 'unshare', '--mount',
            'sh', '-c', 'mount -t tmpfs -o size=256m tmpfs /dev/shm && exec "$@"', 'sh',
        ];
    }

    /**
     * Pulls a host's cable, or puts it back.
     *
     * @throws HostsFailed
     */
    public function cut(int $host, bool $isCut): void
    {
        self::ip('link', 'set', "{$this->bridge}c{$host}", $isCut ? 'down' : 'up');
    }

    /** @throws HostsFailed */
    private static function ip(string ...$words): void
    {
        $said = self::run('ip', ...$words);
        if ($said !== null) {
            throw HostsFailed::network($said);
        }
    }

    /** @return string|null what it said when it failed */
    private static function run(string $program, string ...$words): ?string
    {
        $process = new Process([Program::find($program) ?? $program, ...array_values($words)], timeout: null);

        return $process->run() === 0 ? null : trim($process->getErrorOutput());
    }
}
