<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Tests\Scratch;

/** Stands between a client and a server on a unix socket, and counts the round trips. */
final class Proxy
{
    public readonly string $socket;

    private readonly Scratch $scratch;

    private readonly int $process;

    public function __construct(
        private readonly string $server,
    ) {
        $this->scratch = new Scratch();
        $this->socket = "{$this->scratch->path}/proxy";
        $listener = stream_socket_server("unix://{$this->socket}");
        $process = $listener === false ? -1 : pcntl_fork();
        if ($listener === false || $process < 0) {
            throw new \RuntimeException('The proxy could not be started.');
        }
        if ($process === 0) {
            $this->relay($listener);
        }
        fclose($listener);
        $this->process = $process;
    }

    public function __destruct()
    {
        posix_kill($this->process, \SIGKILL);
        pcntl_waitpid($this->process, $status);
    }

    /**
     * @param \Closure(): mixed $operation
     *
     * @return int how often a client has asked in it, and the server answered
     *
     * @phpstan-impure
     */
    public function roundTripsOf(\Closure $operation): int
    {
        $before = $this->roundTrips();
        $operation();

        return $this->roundTrips() - $before;
    }

    /** How often a client has asked and the server answered. */
    public function roundTrips(): int
    {
        clearstatcache();

        return (int) @filesize("{$this->scratch->path}/trips");
    }

    /** @param resource $listener */
    private function relay(mixed $listener): never
    {
        $peers = $asked = [];
        while (true) {
            $readable = [$listener, ...array_column($peers, 0)];
            $none = null;
            stream_select($readable, $none, $none, 60);
            foreach ($readable as $from) {
                if ($from === $listener) {
                    $client = stream_socket_accept($listener);
                    $server = stream_socket_client("unix://{$this->server}");
                    if ($client !== false && $server !== false) {
                        $peers[(int) $client] = [$client, $server, true];
                        $peers[(int) $server] = [$server, $client, false];
                    }
                    continue;
                }
                [, $to, $isClient] = $peers[(int) $from];
                $bytes = (string) fread($from, 1 << 20);
                if ($bytes === '') {
                    unset($peers[(int) $from], $peers[(int) $to]);
                    continue;
                }
                if ($isClient) {
                    $asked[(int) $to] = true;
                } elseif (isset($asked[(int) $from])) {
                    // The first bytes of an answer: whatever the client sends from now on is another question.
                    unset($asked[(int) $from]);
                    file_put_contents("{$this->scratch->path}/trips", '.', \FILE_APPEND);
                }
                for ($sent = 0; $sent < \strlen($bytes); $sent += (int) fwrite($to, substr($bytes, $sent)));
            }
        }
    }
}
