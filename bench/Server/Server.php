<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/**
 * A server that the benchmark started itself, on private sockets in a directory of its own.
 *
 * It ends with `stop()`, with the object, or with the process that started it, whichever comes first and however that
 * process ends.
 */
interface Server
{
    /** @return array<string, string|int> what a client needs to reach it: `socket`, `host`, `port`, or of a cluster `hosts` */
    public function endpoint(): array;

    /** @return array{version: string, command: string, memory?: string} how it was started, for the report */
    public function description(): array;

    /** @return list<int> the server's processes, the watchdog not among them */
    public function processIds(): array;

    public function stop(): void;
}
