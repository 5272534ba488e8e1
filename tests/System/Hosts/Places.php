<?php

declare(strict_types=1);

namespace Larder\Tests\System\Hosts;

use Symfony\Component\Process\ExecutableFinder;
use Symfony\Component\Process\Process;

/**
 * What makes one machine several hosts. As root each is a network namespace, joined to a bridge by a cable of its own, with its own
 * /dev/shm. For others, who may not make those, hosts are names of pools; they cannot be cut off.
 */
final class Places
{
    private readonly string $bridge;

    private readonly string $network;

    /** @var list<string> namespaces */
    private array $namespaces = [];

    public readonly bool $areApart;

    public function __construct(int $count)
    {
        $this->areApart = posix_geteuid() === 0 && (new ExecutableFinder())->find('ip', extraDirs: ['/usr/sbin', '/sbin']) !== null;
        $this->bridge = 'lh' . bin2hex(random_bytes(4));
        $this->network = '10.' . random_int(128, 250) . '.' . random_int(1, 250);
        if (!$this->areApart) {
            return;
        }
        self::run('ip', 'link', 'add', $this->bridge, 'type', 'bridge');
        self::run('ip', 'address', 'add', "{$this->network}.1/24", 'dev', $this->bridge);
        self::run('ip', 'link', 'set', $this->bridge, 'up');
        for ($i = 0; $i < $count; $i++) {
            $this->namespaces[] = $namespace = "{$this->bridge}-{$i}";
            self::run('ip', 'netns', 'add', $namespace);
            self::run('ip', 'link', 'add', "{$this->bridge}c{$i}", 'type', 'veth', 'peer', 'name', 'eth0', 'netns', $namespace);
            self::run('ip', 'link', 'set', "{$this->bridge}c{$i}", 'master', $this->bridge, 'up');
            self::run('ip', '-n', $namespace, 'address', 'add', "{$this->network}." . (10 + $i) . '/24', 'dev', 'eth0');
            self::run('ip', '-n', $namespace, 'link', 'set', 'eth0', 'up');
            self::run('ip', '-n', $namespace, 'link', 'set', 'lo', 'up');
        }
    }

    /** Where all hosts reach what listens on this machine. */
    public function address(): string
    {
        return $this->areApart ? "{$this->network}.1" : '127.0.0.1';
    }

    /**
     * @param non-empty-list<string> $words
     *
     * @return non-empty-list<string> what runs the command there
     */
    public function command(int $host, array $words): array
    {
        return $this->areApart
            ? ['ip', 'netns', 'exec', $this->namespaces[$host], 'unshare', '--mount', 'sh', '-c', 'mount -t tmpfs -o size=256m tmpfs /dev/shm && exec "$@"', 'sh', ...$words]
            : $words;
    }

    /** Pulls a host's cable, or puts it back. */
    public function cut(int $host, bool $isCut): void
    {
        self::run('ip', 'link', 'set', "{$this->bridge}c{$host}", $isCut ? 'down' : 'up');
    }

    public function remove(): void
    {
        foreach ($this->namespaces as $namespace) {
            self::run('ip', 'netns', 'delete', $namespace);
        }
        if ($this->areApart) {
            self::run('ip', 'link', 'delete', $this->bridge);
        }
        $this->namespaces = [];
    }

    private static function run(string ...$words): void
    {
        (new Process(array_values($words), env: ['PATH' => getenv('PATH') . ':/usr/sbin:/sbin'], timeout: null))->mustRun();
    }
}
