<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\ServerKind;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\WorkerProcess;

/** What experiments share: the subjects, their servers, the processors, and whether the user wants to stop. */
final class Laboratory
{
    /** How many MiB a server may hold, and a subject that several processes use. */
    public const MEGABYTES = 256;

    /** @var array<string, Server|ServerFailed> by the kind's value */
    private array $servers = [];
    private bool $isInterrupted = false;
    /** @var array<string, array{version: string, command: string, memory?: string}> */
    private array $descriptions = [];

    /**
     * @param array<string, Subject> $subjects those that were asked for, by name
     * @param string|null $subjectFile where the reader's own subject comes from
     * @param string|null $zend where cache back ends of Zend Framework 1 are
     * @param string|null $wordpress where WordPress is; null: where the distribution has it
     * @param string|null $peers where original plugins of WordPress are that have an object cache or a page cache
     * @param string|null $laravel where Laravel is
     * @param list<string> $traces files of the reader's own that `traces` shall replay too
     */
    public function __construct(
        public readonly Profile $profile,
        public array $subjects,
        public readonly Placement $placement,
        public readonly ?string $subjectFile = null,
        public readonly array $traces = [],
        public readonly ?string $zend = null,
        public readonly ?string $wordpress = null,
        public readonly ?string $peers = null,
        public readonly ?string $laravel = null,
    ) {}

    /**
     * Leaves out what needs /dev/shm, and could be measured were there enough of it.
     *
     * @return list<string> the titles of what is left out
     */
    public function leaveOutSharedMemory(string $why): array
    {
        $titles = [];
        foreach ($this->subjects as $name => $subject) {
            if ($subject->needsSharedMemory() && $subject->missing() === null) {
                $this->subjects[$name] = $subject->leftOut($why);
                $titles[] = $subject->title;
            }
        }

        return $titles;
    }

    /** Asks the running experiment to end at the next block with what it has. */
    public function interrupt(): void
    {
        $this->isInterrupted = true;
    }

    /**
     * Whether the user wants to stop, which may change at any time.
     *
     * @phpstan-impure
     */
    public function isInterrupted(): bool
    {
        pcntl_signal_dispatch();

        return $this->isInterrupted;
    }

    /**
     * The server of that kind, started when it is first asked for.
     *
     * @throws ServerFailed each time it is asked for, after it failed once
     */
    public function server(ServerKind $kind): Server
    {
        $server = $this->servers[$kind->value] ??= $this->start($kind);

        return $server instanceof Server ? $server : throw $server;
    }

    /** @param array<string, array{version: string, command: string, memory?: string}> $servers that an experiment started for itself */
    public function describe(array $servers): void
    {
        $this->descriptions = [...$this->descriptions, ...$servers];
    }

    /** @return array<string, array{version: string, command: string, memory?: string}> of the servers started so far */
    public function serverDescriptions(): array
    {
        $descriptions = $this->descriptions;
        foreach ($this->servers as $name => $server) {
            if ($server instanceof Server) {
                $descriptions[$name] = $server->description();
            }
        }

        return $descriptions;
    }

    public function stopServers(): void
    {
        foreach ($this->servers as $server) {
            if ($server instanceof Server) {
                $server->stop();
            }
        }
        $this->servers = [];
    }

    /**
     * A fresh process for the subject.
     *
     * @param list<string> $wrapper a command that runs the worker and counts something
     * @param bool $isBesideServer on the processors of the servers instead of those of the clients
     * @throws ServerFailed
     */
    public function worker(Subject $subject, bool $isTwin = false, array $wrapper = [], bool $isBesideServer = false): WorkerProcess
    {
        return WorkerProcess::start(
            $subject,
            $isBesideServer ? $this->placement->server : $this->placement->client,
            $subject->server === null ? null : $this->server($subject->server),
            $this->subjectFile,
            $this->profile->megabytes() << 20,
            $isTwin,
            $wrapper,
        );
    }

    /**
     * Has a task done in a fresh process on the processors for clients.
     *
     * @param class-string<Task> $task
     * @param array<string, string|int> $arguments
     * @param array<string, string> $settings of php.ini, beside those of every worker
     * @param bool $isPinned false: on all processors
     * @throws \Larder\Bench\Subject\WorkerFailed
     * @throws Interrupted
     */
    public function task(string $title, string $task, array $arguments, array $settings = [], bool $isPinned = true): Fields
    {
        return ChildProcess::run($title, $task, $arguments, $settings, $isPinned ? $this->placement->client : [], $this->isInterrupted(...));
    }

    /**
     * Has tasks that time nothing done at the same time, as many as there are processors, on any of them.
     *
     * @param class-string<Task> $task
     * @param array<string, array<string, string|int>> $arguments of each, by its title
     * @param \Closure(string): void $isBegun told each title
     * @return array<string, Fields> by title
     * @throws \Larder\Bench\Subject\WorkerFailed
     * @throws Interrupted
     */
    public function tasks(string $task, array $arguments, \Closure $isBegun): array
    {
        $found = [];
        foreach (array_chunk($arguments, max(1, $this->placement->processors), true) as $some) {
            $running = [];
            foreach ($some as $title => $its) {
                $isBegun($title);
                $running[$title] = ChildProcess::start($title, $task, $its);
            }
            foreach ($running as $title => $process) {
                $found[$title] = $process->answer($this->isInterrupted(...));
            }
        }

        return $found;
    }

    /** @throws Interrupted when the user wants to stop */
    public function goOn(): void
    {
        if ($this->isInterrupted()) {
            throw Interrupted::byTheUser();
        }
    }

    private function start(ServerKind $kind): Server|ServerFailed
    {
        try {
            return match ($kind) {
                ServerKind::Redis => RedisServer::start(RedisFlavour::Redis, self::MEGABYTES, $this->placement->server),
                ServerKind::Valkey => RedisServer::start(RedisFlavour::Valkey, self::MEGABYTES, $this->placement->server),
                ServerKind::MemcachedSocket => MemcachedServer::onSocket(self::MEGABYTES, $this->placement->server),
                ServerKind::MemcachedPort => MemcachedServer::onPort(self::MEGABYTES, $this->placement->server),
            };
        } catch (ServerFailed $failure) {
            return $failure;
        }
    }
}
