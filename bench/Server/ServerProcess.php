<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

use Larder\Bench\FileSystem;

/**
 * One server under a watchdog (see watchdog.sh).
 *
 * The watchdog's standard input is a pipe whose other end only this process holds. The kernel closes it when this process ends.
 * The watchdog then stops the server and removes its directory.
 */
final class ServerProcess
{
    private const TRIES = 3_000;
    private const PAUSE_US = 20_000;

    /**
     * @param resource|null $watchdog
     * @param resource|null $lifeline
     */
    private function __construct(
        private readonly string $title,
        public readonly string $directory,
        public readonly int $processId,
        private mixed $watchdog,
        private mixed $lifeline,
    ) {}

    public function __destruct()
    {
        $this->stop();
    }

    /** A new directory that only this user may enter, short enough for a socket's path. */
    public static function directory(): string
    {
        $directory = sys_get_temp_dir() . '/larder-bench-' . bin2hex(random_bytes(6));
        if (!mkdir($directory, 0o700)) {
            throw new \RuntimeException("The directory {$directory} could not be made: free some space or set TMPDIR to a directory that is writable.");
        }

        return $directory;
    }

    /** A TCP port of 127.0.0.1 that was free a moment ago. */
    public static function freePort(): int
    {
        return self::freePorts(1)[0];
    }

    /**
     * As many ports as one command needs, of which none is another.
     *
     * @param positive-int $count
     *
     * @return non-empty-list<int>
     */
    public static function freePorts(int $count): array
    {
        $listeners = $ports = [];
        do {
            $listener = stream_socket_server('tcp://127.0.0.1:0', $code, $message);
            if ($listener === false) {
                throw new \RuntimeException("No TCP port of 127.0.0.1 could be had ({$message}): the loopback interface must be up.");
            }
            $listeners[] = $listener;
            $ports[] = (int) substr((string) strrchr((string) stream_socket_get_name($listener, false), ':'), 1);
        } while (\count($ports) < $count);
        array_map(fclose(...), $listeners);

        return $ports;
    }

    /**
     * Starts the command and waits until it answers.
     *
     * @param non-empty-list<string> $command with an absolute path
     * @param \Closure(): bool $answers whether the server can be used now
     * @param list<string> $logs files in the directory, beside its output, that may explain a failure
     * @throws ServerFailed when it ends, or does not answer within a minute; nothing is left running
     */
    public static function start(string $title, string $directory, array $command, \Closure $answers, array $logs = []): self
    {
        $setsid = Program::find('setsid');
        $watchdog = $setsid === null ? false : proc_open(
            [$setsid, __DIR__ . '/watchdog.sh', $directory, ...$command],
            [['pipe', 'r'], ['pipe', 'w'], STDERR],
            $pipes,
        );
        if ($watchdog === false) {
            // Else the watchdog removes it.
            FileSystem::remove($directory);
            throw $setsid === null ? ServerFailed::isNotInstalled($title, 'setsid', 'util-linux') : ServerFailed::toStart($title, 'its watchdog could not be started', '');
        }
        $process = new self($title, $directory, (int) fgets($pipes[1]), $watchdog, $pipes[0]);
        fclose($pipes[1]);

        for ($try = 0; $try < self::TRIES; $try++) {
            if ($answers()) {
                return $process;
            }
            if (!CpuTime::isAlive($process->processId)) {
                throw $process->failure('it ended at once', $logs);
            }
            usleep(self::PAUSE_US);
        }

        throw $process->failure('it did not answer within a minute', $logs);
    }

    /** @return list<int> the server and its workers */
    public function processIds(): array
    {
        return CpuTime::family($this->processId);
    }

    /** Stops the server and waits until it is gone, its directory too. */
    public function stop(): void
    {
        if ($this->lifeline !== null) {
            fclose($this->lifeline);
            $this->lifeline = null;
        }
        if ($this->watchdog !== null) {
            proc_close($this->watchdog);
            $this->watchdog = null;
        }
    }

    /** Whether something accepts connections there, and answers what is expected to what is sent. */
    public static function replies(string $address, string $request, string $expected): bool
    {
        $connection = @stream_socket_client($address, $code, $message, 1.0);
        if ($connection === false) {
            return false;
        }
        stream_set_timeout($connection, 1);
        fwrite($connection, $request);
        $reply = (string) fgets($connection);
        fclose($connection);

        return str_starts_with($reply, $expected);
    }

    /** @param list<string> $logs */
    private function failure(string $why, array $logs): ServerFailed
    {
        $log = '';
        foreach (['log', ...$logs] as $name) {
            $log .= (string) @file_get_contents("{$this->directory}/{$name}");
        }
        $this->stop();

        return ServerFailed::toStart($this->title, $why, $log);
    }
}
