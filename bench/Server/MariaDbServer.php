<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

use Larder\Bench\FileSystem;
use Symfony\Component\Process\Process;

/** MariaDB on a Unix socket, with data of its own that goes with it; nothing is flushed to the disk at once. */
final class MariaDbServer implements Server
{
    private function __construct(
        private readonly ServerProcess $process,
        private readonly string $version,
        private readonly string $command,
        public readonly string $socket,
    ) {}

    /**
     * @param list<string> $placement a command that runs its arguments, such as `taskset -c 1`
     * @throws ServerFailed
     */
    public static function start(array $placement = []): self
    {
        $program = Program::find('mariadbd') ?? throw ServerFailed::isNotInstalled('MariaDB', 'mariadbd', 'mariadb-server-core');
        $installer = Program::find('mariadb-install-db') ?? throw ServerFailed::isNotInstalled('MariaDB', 'mariadb-install-db', 'mariadb-server-core');
        $directory = ServerProcess::directory();
        $socket = $directory . '/socket';
        $settings = ['--skip-networking', '--skip-grant-tables', '--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=128M', '--skip-log-bin'];
        if (posix_geteuid() === 0) {
            $settings[] = '--user=root';
        }
        self::install($installer, $directory);
        $process = ServerProcess::start(
            'MariaDB',
            $directory,
            [...$placement, $program, '--no-defaults', "--datadir={$directory}/data", "--socket={$socket}", "--pid-file={$directory}/pid", "--tmpdir={$directory}", ...$settings],
            static fn(): bool => self::greets($socket),
        );

        return new self($process, Program::version([$program, '--version']), 'mariadbd ' . implode(' ', $settings), $socket);
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

    private static function install(string $installer, string $directory): void
    {
        $process = new Process(
            [$installer, '--no-defaults', "--datadir={$directory}/data", "--tmpdir={$directory}", '--auth-root-authentication-method=normal', '--skip-test-db', ...(posix_geteuid() === 0 ? ['--user=root'] : [])],
            timeout: null,
        );
        if ($process->run() !== 0) {
            FileSystem::remove($directory);

            throw ServerFailed::toStart('MariaDB', 'its data could not be made', $process->getOutput() . $process->getErrorOutput());
        }
    }

    /** A server of this kind speaks first. */
    private static function greets(string $socket): bool
    {
        $connection = @stream_socket_client("unix://{$socket}", $code, $message, 1.0);
        if ($connection === false) {
            return false;
        }
        stream_set_timeout($connection, 1);
        $greeting = (string) fread($connection, 64);
        fclose($connection);

        return str_contains($greeting, 'MariaDB');
    }
}
