<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/** Redis or Valkey on a Unix socket and a TCP port at once; nothing is written to disk. */
final class RedisServer implements Server
{
    private function __construct(
        private readonly ServerProcess $process,
        private readonly string $version,
        private readonly string $command,
        private readonly int $megabytes,
        public readonly string $socket,
        public readonly int $port,
    ) {}

    /**
     * @param list<string> $placement a command that runs its arguments, such as `taskset -c 1`
     * @param list<string> $options more of the server's own options
     * @param int|null $port null: one that is free
     * @throws ServerFailed
     */
    public static function start(
        RedisFlavour $flavour = RedisFlavour::Redis,
        int $megabytes = 512,
        array $placement = [],
        array $options = [],
        ?int $port = null,
    ): self {
        $title = $flavour->title();
        $program = Program::find($flavour->program())
            ?? throw ServerFailed::isNotInstalled($title, $flavour->program(), $flavour->program());
        $directory = ServerProcess::directory();
        $socket = $directory . '/socket';
        $port ??= ServerProcess::freePort();
        $settings = [
            '--save', '', '--appendonly', 'no', '--daemonize', 'no', '--maxmemory', "{$megabytes}mb",
            '--maxmemory-policy', 'allkeys-lru', ...$options,
        ];
        $process = ServerProcess::start(
            $title,
            $directory,
            [
                ...$placement, $program, '--bind', '127.0.0.1', '--port', (string) $port,
                '--unixsocket', $socket, '--unixsocketperm', '700', '--dir', $directory, ...$settings,
            ],
            static fn(): bool => ServerProcess::replies("unix://{$socket}", "PING\r\n", '+PONG')
                && ServerProcess::replies("tcp://127.0.0.1:{$port}", "PING\r\n", '+PONG'),
        );

        return new self(
            $process,
            Program::version([$program, '--version']),
            basename($program) . ' ' . implode(' ', array_map(static fn(string $word): string => $word === '' ? "''" : $word, $settings)),
            $megabytes,
            $socket,
            $port,
        );
    }

    public function endpoint(): array
    {
        return ['socket' => $this->socket, 'host' => '127.0.0.1', 'port' => $this->port];
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
}
