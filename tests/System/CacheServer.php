<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Bench\Server\Program;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Server\ServerProcess;
use Larder\Tests\Scratch;
use Larder\Tests\Stores\RedisFlavours;

/** A server on a unix socket that stays where it is when the server is killed and started again. */
final class CacheServer
{
    public readonly string $socket;

    /** Of 127.0.0.1; 0: it listens on its socket only. */
    public int $port = 0;

    private ?ServerProcess $process = null;

    /** @var list<ServerProcess> killed ones, whose watchdogs wait for forks of this process to end */
    private array $killed = [];

    /**
     * @param non-empty-list<string> $command with "SOCKET" where the path of the socket goes, and "DIRECTORY" for one that outlives the server
     */
    private function __construct(
        private readonly string $title,
        private readonly array $command,
        private readonly string $question,
        private readonly string $answer,
        private readonly Scratch $scratch = new Scratch(),
    ) {
        $this->socket = "{$this->scratch->path}/socket";
    }

    /**
     * @param list<string>  $options
     * @param ?RedisFlavour $flavour null: the first that is there
     */
    public static function redis(array $options = [], ?RedisFlavour $flavour = null): self
    {
        $flavour ??= RedisFlavours::first();
        $program = Program::find($flavour->program())
            ?? throw ServerFailed::isNotInstalled($flavour->title(), $flavour->program(), $flavour->program());

        return new self($flavour->title(), [
            $program, '--port', '0', '--unixsocket', 'SOCKET', '--save', '', '--appendonly', 'no', '--daemonize', 'no', ...$options,
        ], "PING\r\n", $options === [] ? '+PONG' : '');
    }

    /**
     * On a port of 127.0.0.1 as well.
     *
     * @param list<string>  $options
     * @param ?int          $port    null: one that is free
     * @param ?RedisFlavour $flavour null: the first that is there
     */
    public static function redisOnPort(array $options = [], ?int $port = null, ?RedisFlavour $flavour = null): self
    {
        $port ??= ServerProcess::freePort();
        $server = self::redis(['--port', (string) $port, '--bind', '127.0.0.1', ...$options], $flavour);
        $server->port = $port;

        return $server;
    }

    /**
     * With TLS on a port of 127.0.0.1, and without on the socket.
     *
     * @param list<string> $options
     * @param ?int         $port    null: one that is free
     */
    public static function redisWithTls(Certificates $certificates, array $options = [], ?int $port = null): self
    {
        $port ??= ServerProcess::freePort();
        $server = self::redis([
            '--tls-port', (string) $port, '--bind', '127.0.0.1', '--tls-cert-file', "{$certificates->path}/server.crt",
            '--tls-key-file', "{$certificates->path}/server.key", '--tls-ca-cert-file', "{$certificates->path}/ca.crt", ...$options,
        ]);
        $server->port = $port;

        return $server;
    }

    /**
     * One of several that watch a master that they call "shop".
     *
     * @param ?Certificates $certificates with TLS, which the master then has, too
     * @param list<string>  $lines        of its configuration, besides
     * @param string        $address      where the master is, and it is reached itself, besides 127.0.0.1
     */
    public static function sentinel(int $master, int $quorum, ?Certificates $certificates = null, array $lines = [], string $address = '127.0.0.1'): self
    {
        $flavour = RedisFlavours::first();
        $program = Program::find($flavour->program())
            ?? throw ServerFailed::isNotInstalled($flavour->title(), $flavour->program(), $flavour->program());
        $port = ServerProcess::freePort();
        // A client without TLS, or without a password, is not answered.
        $server = new self("{$flavour->title()} Sentinel", [$program, 'CONFIGURATION', '--sentinel'], "PING\r\n", $certificates === null && $lines === [] ? '+PONG' : '');
        $server->port = $port;
        $lines = [
            ...$certificates === null ? ["port {$port}"] : [
                'port 0', "tls-port {$port}", 'tls-replication yes', 'tls-auth-clients no', "tls-cert-file {$certificates->path}/server.crt",
                "tls-key-file {$certificates->path}/server.key", "tls-ca-cert-file {$certificates->path}/ca.crt",
            ],
            // The first one is where it speaks from.
            'bind ' . implode(' ', array_unique([$address, '127.0.0.1'])), 'protected-mode no', "dir {$server->scratch->path}",
            "sentinel monitor shop {$address} {$master} {$quorum}", 'sentinel down-after-milliseconds shop 1000', 'sentinel failover-timeout shop 3000',
            ...$lines,
        ];
        file_put_contents("{$server->scratch->path}/configuration", implode("\n", $lines) . "\n");

        return $server;
    }

    /** @param list<string> $options */
    public static function memcached(array $options = []): self
    {
        $program = Program::find('memcached') ?? throw ServerFailed::isNotInstalled('Memcached', 'memcached', 'memcached');
        $user = posix_geteuid() === 0 ? ['-u', 'root'] : [];

        return new self('Memcached', [$program, '-s', 'SOCKET', '-m', '64', ...$user, ...$options], "version\r\n", 'VERSION');
    }

    public function start(): self
    {
        $directory = ServerProcess::directory();
        $command = array_map(fn(string $word): string => match ($word) {
            'SOCKET' => $this->socket,
            'CONFIGURATION' => "{$this->scratch->path}/configuration",
            'DIRECTORY' => $this->scratch->path,
            default => $word,
        }, $this->command);
        $address = \in_array('SOCKET', $this->command, true) ? "unix://{$this->socket}" : "tcp://127.0.0.1:{$this->port}";
        $this->process = ServerProcess::start(
            $this->title,
            $directory,
            $command,
            fn(): bool => ServerProcess::replies($address, $this->question, $this->answer),
        );

        return $this;
    }

    /** kill -9, and nothing is there any more. */
    public function kill(): void
    {
        $this->signal(\SIGKILL);
        if ($this->process !== null) {
            // A thread that outlives the first one for a moment still holds the socket.
            while (!self::isIn('ZX', $this->process->processId)) {
                usleep(1_000);
            }
            $this->killed[] = $this->process;
        }
        $this->process = null;
    }

    public function signal(int $signal): void
    {
        $process = $this->process->processId ?? throw new \LogicException('The server was not started.');
        posix_kill($process, $signal);
        // A thread that runs on another processor may finish what it is at.
        while ($signal === \SIGSTOP && !self::isIn('Tt', $process)) {
            usleep(1_000);
        }
    }

    /** @return string what Redis says of its replication; '' if it does not answer */
    public function replication(): string
    {
        try {
            $redis = new \Redis();
            $redis->connect($this->socket, 0, 1.0, null, 0, 1.0);
            $about = $redis->rawCommand('INFO', 'replication');
        } catch (\RedisException) {
            return '';
        }

        return \is_string($about) ? $about : '';
    }

    /** Whether it says this line of its replication. A sentinel that promotes it ends all connections to it. */
    public function says(string $line): bool
    {
        return str_contains($this->replication(), "\n{$line}\r\n");
    }

    /** @param string $states of which all threads that are still there are in one */
    private static function isIn(string $states, int $process): bool
    {
        foreach (glob("/proc/{$process}/task/*/stat") ?: [] as $thread) {
            $about = (string) @file_get_contents($thread);
            if ($about !== '' && preg_match("/\\) [{$states}] /", $about) !== 1) {
                return false;
            }
        }

        return true;
    }

    public function stop(): void
    {
        foreach ([...$this->killed, ...array_filter([$this->process])] as $process) {
            $process->stop();
        }
        $this->killed = [];
        $this->process = null;
    }
}
