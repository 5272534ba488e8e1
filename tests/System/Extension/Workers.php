<?php

declare(strict_types=1);

namespace Larder\Tests\System\Extension;

use Larder\Bench\Server\FastCgi;
use Larder\Bench\Server\PhpFpmServer;

/** PHP-FPM with the extension under test, and what it says about its workers. */
final class Workers
{
    private readonly PhpFpmServer $server;

    public readonly FastCgi $client;

    private bool $ended = false;

    /** @param array<string, string|int> $ini */
    public function __construct(array $ini, int $count)
    {
        // The extension's path is this process's own: LARDER_EXTENSION, or what the suite was started with.
        $this->server = PhpFpmServer::start(
            ['extension' => self::extension(), 'opcache.file_update_protection' => 0, 'session.save_path' => sys_get_temp_dir(), ...$ini],
            $count,
        );
        $this->client = new FastCgi($this->server->socket);
    }

    public static function extension(): string
    {
        $path = getenv('LARDER_EXTENSION');

        return \is_string($path) && $path !== '' ? $path : \dirname(__DIR__, 3) . '/ext/modules/larder.so';
    }

    public function log(): string
    {
        return (string) file_get_contents(\dirname($this->server->socket) . '/fpm.log');
    }

    /** @return list<string> lines of the log that tell of workers which ended by a signal */
    public function crashes(): array
    {
        preg_match_all('/^.*exited on signal.*$/m', $this->log(), $found);

        return $found[0];
    }

    /** @return list<int> the workers, without their master */
    public function processIds(): array
    {
        $socket = $this->server->processIds();
        sort($socket);

        return array_values(array_filter($socket, static fn(int $id): bool => str_contains((string) @file_get_contents("/proc/{$id}/cmdline"), 'pool bench')));
    }

    public function stop(): void
    {
        if (!$this->ended) {
            $this->ended = true;
            $this->server->stop();
        }
    }
}
