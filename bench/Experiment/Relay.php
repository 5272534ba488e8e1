<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\ServerProcess;

/**
 * The way to a server with a delay. A program of bench/load passes everything on: not all kernels can have a network wait (netem), and
 * it counts round trips. It ends with this object.
 */
final class Relay
{
    public readonly int $port;
    /** @var resource|null */
    private $process;
    /** @var resource */
    private $orders;
    /** @var resource */
    private $answers;

    /**
     * @param int $delay microseconds that it adds to each round trip
     * @param list<string> $placement a command that runs its arguments
     * @throws HostsFailed
     */
    public function __construct(string $address, int $serverPort, int $delay, array $placement)
    {
        $this->port = ServerProcess::freePort();
        $process = proc_open(
            [...$placement, LoadGenerator::directory() . '/relay', $address, (string) $this->port, (string) $serverPort, (string) $delay],
            [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']],
            $pipes,
        );
        if ($process === false) {
            throw HostsFailed::relay('it cannot be started');
        }
        [$this->process, $this->orders, $this->answers] = [$process, $pipes[0], $pipes[1]];
        $said = trim((string) fgets($this->answers));
        if ($said !== 'ready') {
            throw HostsFailed::relay(trim((string) stream_get_contents($pipes[2])));
        }
    }

    public function __destruct()
    {
        fclose($this->orders);
        if ($this->process !== null) {
            proc_close($this->process);
        }
    }

    /** How often a client has asked since the relay began. */
    public function trips(): int
    {
        fwrite($this->orders, "?\n");

        return (int) fgets($this->answers);
    }
}
