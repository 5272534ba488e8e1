<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/** php-fpm of the PHP that runs the benchmark, with a fixed number of workers. */
final class PhpFpmServer implements Server
{
    private function __construct(
        private readonly ServerProcess $process,
        private readonly string $version,
        private readonly string $command,
        public readonly string $socket,
    ) {}

    /**
     * @param array<string, string|int> $ini settings of every worker
     * @param list<string> $placement a command that runs its arguments, such as `taskset -c 1`
     * @param string $user that workers are, where root starts them
     * @throws ServerFailed
     */
    public static function start(array $ini, int $workers, array $placement = [], string $user = 'root'): self
    {
        $names = ['php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, 'php-fpm'];
        $program = Program::find(...$names) ?? throw ServerFailed::isNotInstalled('php-fpm', $names[0], 'php-fpm');
        $directory = ServerProcess::directory();
        $socket = $directory . '/socket';
        $configuration = [
            '[global]', "error_log = {$directory}/fpm.log", 'daemonize = no', 'log_limit = 8192', '[bench]',
            "listen = {$socket}", 'listen.backlog = 1024', 'pm = static', "pm.max_children = {$workers}",
            'catch_workers_output = yes', 'request_terminate_timeout = 60s',
        ];
        if (posix_geteuid() === 0) {
            array_push($configuration, "user = {$user}", 'group = root', 'listen.mode = 0600');
        }
        $command = [$program, '--nodaemonize', '--fpm-config', "{$directory}/php-fpm.conf"];
        if (posix_geteuid() === 0) {
            $command[] = '--allow-to-run-as-root';
        }
        foreach ($ini as $name => $value) {
            array_push($command, '-d', "{$name}={$value}");
        }
        file_put_contents("{$directory}/php-fpm.conf", implode("\n", $configuration) . "\n");
        $process = ServerProcess::start(
            'php-fpm',
            $directory,
            [...$placement, ...$command],
            static fn(): bool => self::accepts($socket),
            ['fpm.log'],
        );

        return new self(
            $process,
            Program::version([$program, '-v']),
            // The command is published with the run: it says where in the checkout a file is, not where the checkout is.
            str_replace(dirname(__DIR__, 2) . '/', '', basename($program) . " pm=static pm.max_children={$workers} "
                . implode(' ', array_map(static fn(string $name, string|int $value): string => "-d {$name}={$value}", array_keys($ini), $ini))),
            $socket,
        );
    }

    public function endpoint(): array
    {
        return ['socket' => $this->socket];
    }

    public function description(): array
    {
        return ['version' => $this->version, 'command' => $this->command];
    }

    public function processIds(): array
    {
        return $this->process->processIds();
    }

    public function stop(): void
    {
        $this->process->stop();
    }

    private static function accepts(string $socket): bool
    {
        $connection = @stream_socket_client("unix://{$socket}", $code, $message, 1.0);
        if ($connection === false) {
            return false;
        }
        fclose($connection);

        return true;
    }
}
