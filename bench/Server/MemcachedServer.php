<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/**
 * Memcached on a Unix socket or on a TCP port of 127.0.0.1.
 *
 * One process cannot listen on both, so a user of both starts two.
 */
final class MemcachedServer implements Server
{
    /** The largest item, in MiB: Memcached's own default of 1 MiB would refuse the largest value measured. */
    private const LARGEST = 8;
    /** Memcached's own default. */
    private const THREADS = 4;

    private function __construct(
        private readonly ServerProcess $process,
        private readonly string $version,
        private readonly string $command,
        private readonly int $megabytes,
        public readonly ?string $socket,
        public readonly ?int $port,
    ) {}

    /**
     * @param list<string> $placement a command that runs its arguments, such as `taskset -c 1`
     * @throws ServerFailed
     */
    public static function onSocket(int $megabytes = 512, array $placement = []): self
    {
        return self::start($megabytes, $placement, false);
    }

    /**
     * @param list<string> $placement
     * @throws ServerFailed
     */
    public static function onPort(int $megabytes = 512, array $placement = [], int $threads = self::THREADS): self
    {
        return self::start($megabytes, $placement, true, $threads);
    }

    public function endpoint(): array
    {
        return $this->port === null ? ['socket' => (string) $this->socket] : ['host' => '127.0.0.1', 'port' => $this->port];
    }

    public function description(): array
    {
        return ['version' => $this->version, 'command' => $this->command, 'memory' => "{$this->megabytes} MiB"];
    }

    public function processIds(): array
    {
        return $this->process->processIds();
    }

    public function stop(): void
    {
        $this->process->stop();
    }

    /** @param list<string> $placement */
    private static function start(int $megabytes, array $placement, bool $tcp, int $threads = self::THREADS): self
    {
        $program = Program::find('memcached') ?? throw ServerFailed::isNotInstalled('Memcached', 'memcached', 'memcached');
        $directory = ServerProcess::directory();
        $socket = $tcp ? null : $directory . '/socket';
        $port = $tcp ? ServerProcess::freePort() : null;
        $settings = ['-m', (string) $megabytes, '-I', self::LARGEST . 'm', '-t', (string) $threads, '-c', '2048'];
        if (posix_geteuid() === 0) {
            array_push($settings, '-u', 'root');
        }
        $process = ServerProcess::start(
            'Memcached',
            $directory,
            [
                ...$placement, $program, ...$settings,
                ...($socket !== null ? ['-s', $socket, '-a', '0700'] : ['-l', '127.0.0.1', '-p', (string) $port, '-U', '0']),
            ],
            static fn(): bool => ServerProcess::replies(
                $socket !== null ? "unix://{$socket}" : "tcp://127.0.0.1:{$port}",
                "version\r\n",
                'VERSION',
            ),
        );

        return new self(
            $process,
            Program::version([$program, '-V']),
            'memcached ' . implode(' ', $settings),
            $megabytes,
            $socket,
            $port,
        );
    }
}
