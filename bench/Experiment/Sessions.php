<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Experiment\Session\SessionRequests;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Server\MariaDbServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\Subjects;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\WorkerFailed;

/** Where sessions are kept: shared memory, files, Redis, Memcached, MariaDB. */
final class Sessions implements Experiment
{
    public function name(): string
    {
        return 'sessions';
    }

    public function title(): string
    {
        return 'Sessions';
    }

    public function recreates(): string
    {
        return 'Source D announces a comparison of session storage (Redis, MySQL, NVMe SSDs) and shows no figures. Ours runs PHP\'s own '
            . 'session functions with each handler, with locking: starting and reading a session of a cart of 20 lines, changing it, '
            . 'and writing a new one, in one process with a lasting connection; then four processes that change one session at '
            . 'the same time, after which every change must be there. MariaDB keeps a row locked from the read to the end of the '
            . 'request; it does not wait for the disk.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(16, 512, $profile === Profile::Quick ? 20 : 60);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $runs = $isQuick ? 2 : 3;
        $outcome->parameters = ['runs' => $runs, 'blocks in each' => 4, 'requests a block' => $isQuick ? 200 : 500, 'processes at one session' => 4];
        $handlers = $this->handlers();
        $outcome->titles = array_map(static fn(array $handler): string => $handler[0], $handlers);
        $progress->begin($this->title(), $runs * count($handlers));
        for ($run = 0; $run < $runs; $run++) {
            foreach (Shuffled::of($handlers) as $name => [$title, $subject]) {
                $progress->advance($title);
                if (isset($outcome->leftOut[$name]) || !$this->includes($outcome, $laboratory, $name, $subject)) {
                    continue;
                }
                try {
                    $this->measure($laboratory, $outcome, $name, $run, $isQuick ? 200 : 500, $isQuick ? 300 : 1_000);
                } catch (WorkerFailed|ServerFailed $failure) {
                    $outcome->fail($name, $failure);
                }
            }
        }
        $progress->end();
    }

    /** @return array<string, array{string, string|null}> by name: the title, and the subject that must have been asked for */
    private function handlers(): array
    {
        $flavour = RawStores::flavour();

        return [
            'shared-memory' => ['Larder\SessionHandler over shared memory', 'shared-memory'],
            'files' => ['files on disk', 'file-disk'],
            'files-tmpfs' => ['files on tmpfs', 'file-tmpfs'],
            $flavour->value => [$flavour->title(), "{$flavour->value}-unix"],
            'memcached' => ['Memcached', 'memcached-unix'],
            'cache-redis' => ["Larder\\SessionHandler over {$flavour->title()}", 'cache-redis'],
            // No cache, so no subject stands for it.
            'mariadb' => ['MariaDB', null],
        ];
    }

    private function includes(Outcome $outcome, Laboratory $laboratory, string $name, ?string $subject): bool
    {
        if ($subject !== null) {
            return $outcome->includes($laboratory, $name, $subject);
        }
        $missing = array_diff_key(Subjects::all(), $laboratory->subjects) === []
            ? Extension::missing('pdo_mysql', 'php-mysql')
            : 'no name of a subject asks for it: leave --subjects out, and it is measured';
        if ($missing !== null) {
            $outcome->leftOut[$name] = $missing;
        }

        return $missing === null;
    }

    private function measure(Laboratory $laboratory, Outcome $outcome, string $name, int $run, int $operations, int $milliseconds): void
    {
        $directory = TemporaryDirectory::make($name === 'files-tmpfs' ? FileSystem::inMemory() : FileSystem::onDisk());
        $server = null;
        try {
            $server = $this->server($laboratory, $name);
            if ($server !== null) {
                $laboratory->describe(["{$name} for sessions" => $server->description()]);
            }
            $socket = $name === 'shared-memory' ? "sessions-{$directory->name()}" : (string) ($server?->endpoint()['socket'] ?? '');
            $found = $laboratory->task($outcome->titles[$name] ?? $name, SessionRequests::class, [
                'handler' => $name, 'endpoint' => $socket, 'operations' => $operations, 'blocks' => 4, 'milliseconds' => $milliseconds,
                'servers' => implode(' ', $server?->processIds() ?? []),
            ], $this->settings($name, $socket, $directory->path));
        } finally {
            $server?->stop();
            $directory->remove();
        }
        foreach (['read' => 'start, read, close', 'change' => 'start, change, close', 'write' => 'start a new one, write, close'] as $what => $request) {
            for ($block = 0; $block < 4; $block++) {
                $outcome->measurement(['request' => $request], 'time of a session', 'ns per request', Direction::LowerIsBetter, $name, columns: CpuMeter::COLUMNS)
                    ->add($run, $block, $found->float("{$what} {$block}"), ...array_map(static fn(string $column): float => $found->float("{$column} of {$what} {$block}"), CpuMeter::COLUMNS));
            }
        }
        $outcome->measurement(['request' => 'change one session'], 'rate of four processes at one session', 'requests per second', Direction::HigherIsBetter, $name)
            ->add($run, 0, $found->float('contended rate'));
        if ($found->int('lost') > 0) {
            $outcome->notes[] = sprintf('%s lost %d of %d changes that four processes made to one session.', $outcome->titles[$name] ?? $name, $found->int('lost'), $found->int('changes'));
        }
    }

    private function server(Laboratory $laboratory, string $name): ?Server
    {
        return match ($name) {
            'mariadb' => MariaDbServer::start($laboratory->placement->server),
            'files', 'files-tmpfs', 'shared-memory' => null,
            // Sessions are kept only where nothing is evicted.
            'cache-redis' => RawStores::server(RawStores::flavour()->value, $laboratory, Laboratory::MEGABYTES, ['--maxmemory-policy', 'noeviction']),
            default => RawStores::server($name, $laboratory, Laboratory::MEGABYTES),
        };
    }

    /** @return array<string, string> */
    private function settings(string $name, string $socket, string $directory): array
    {
        $settings = ['session.use_cookies' => '0', 'session.cache_limiter' => '', 'session.use_strict_mode' => '0', 'session.gc_probability' => '0', 'session.lazy_write' => '1'];

        return [...$settings, ...match ($name) {
            'files', 'files-tmpfs' => ['session.save_handler' => 'files', 'session.save_path' => $directory],
            'memcached' => [
                'session.save_handler' => 'memcached', 'session.save_path' => $socket, 'memcached.sess_locking' => '1',
                'memcached.sess_lock_wait_min' => '1', 'memcached.sess_lock_wait_max' => '20', 'memcached.sess_lock_retries' => '1000', 'memcached.sess_persistent' => '1',
            ],
            'mariadb', 'shared-memory', 'cache-redis' => [],
            default => [
                'session.save_handler' => 'redis', 'session.save_path' => "\"unix://{$socket}?persistent=1\"", 'redis.session.locking_enabled' => '1',
                'redis.session.lock_wait_time' => '1000', 'redis.session.lock_retries' => '10000',
            ],
        }];
    }
}
