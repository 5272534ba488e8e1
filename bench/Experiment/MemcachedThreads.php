<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\Server;

/**
 * What Memcached's threads are worth on one processor and on more: each number of threads on each number of processors.
 *
 * The same server is moved from some to others, so that nothing but their number differs.
 */
final readonly class MemcachedThreads
{
    public const PROCESSORS = 'processors';
    private const CLIENTS = 50;

    /**
     * @param array<string, Server> $servers by the name of the subject; they hold all keys, with values of 32 bytes
     * @param int $keys that they hold
     * @param int $requests of each slice
     */
    public function __construct(private LoadGenerator $generator, private Placement $placement, private array $servers, private int $keys, private int $requests) {}

    /**
     * @param \Closure(array<string, string> $case, string $subject, int $loop, Slice $slice): void $write takes what was measured
     * @param \Closure(): void $goOn called before each slice; throws where the user wants to stop
     */
    public function run(int $loops, \Closure $write, \Closure $goOn): void
    {
        $choices = $this->placement->choices();
        try {
            for ($loop = 0; $loop < $loops; $loop++) {
                foreach (['SET' => true, 'GET' => false] as $operation => $isWrite) {
                    foreach (Shuffled::of($choices) as $choice => $processors) {
                        $this->move($processors);
                        foreach (Shuffled::of($this->servers) as $subject => $server) {
                            $goOn();
                            $slice = $this->generator->items('memcached', $server->endpoint(), $isWrite, self::CLIENTS, $this->requests, $this->keys, 32, $server->processIds(), false, 1 + $loop);
                            $write(['Memcached, operation of ' . self::CLIENTS . ' clients' => $operation, self::PROCESSORS => (string) $choice], $subject, $loop, $slice);
                        }
                    }
                }
            }
        } finally {
            $this->move($this->placement->ofServer());
        }
    }

    /** @param list<int> $processors */
    private function move(array $processors): void
    {
        foreach ($this->servers as $server) {
            foreach ($server->processIds() as $process) {
                Placement::moveProcess($process, $processors);
            }
        }
    }
}
