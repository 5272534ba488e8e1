<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\CpuTime;
use Larder\Bench\Server\Server;

/** The benchmark's end of a worker: starts it, gives it orders, waits for its answers. */
final class WorkerProcess
{
    /** Settings of every worker: one opcache for all of them, and no limit that only some would meet. */
    public const SETTINGS = [
        'opcache.enable' => '1',
        'opcache.enable_cli' => '1',
        'opcache.file_update_protection' => '0',
        'opcache.jit' => 'off',
        'opcache.validate_timestamps' => '1',
        'opcache.revalidate_freq' => '2',
        'apc.enabled' => '1',
        'apc.enable_cli' => '1',
        'memory_limit' => '-1',
        'zend.assertions' => '-1',
        'display_errors' => 'stderr',
        'error_reporting' => '-1',
    ];
    /** What a worker writes its last words to. */
    private const ERRORS = 'errors';

    /**
     * @param list<int> $serverProcesses
     * @param resource $process
     * @param resource $orders
     * @param resource $answers
     */
    private function __construct(
        public readonly Subject $subject,
        public readonly bool $isTwin,
        private readonly array $serverProcesses,
        private readonly TemporaryDirectory $disk,
        private readonly TemporaryDirectory $tmpfs,
        private $process,
        private $orders,
        private $answers,
    ) {}

    public function __destruct()
    {
        fclose($this->orders);
        proc_close($this->process);
        // A worker removes what it made when it ends, unless it crashed.
        $this->disk->remove();
        $this->tmpfs->remove();
    }

    /**
     * @param list<string> $placement a command that runs its arguments, such as `taskset -c 0`
     * @param Server|null $server the server that the subject asked for
     * @param string|null $subjectFile the reader's own subject
     * @param int $bytes how much a subject with a limit may hold
     * @param bool $isTwin whether it is the second of two of the same, which measures noise
     * @param list<string> $wrapper a command that runs the worker and counts something
     */
    public static function start(
        Subject $subject,
        array $placement,
        ?Server $server,
        ?string $subjectFile,
        int $bytes,
        bool $isTwin = false,
        array $wrapper = [],
    ): self {
        $disk = TemporaryDirectory::make(FileSystem::onDisk());
        $tmpfs = TemporaryDirectory::make(FileSystem::inMemory());
        $errors = "{$disk->path}/" . self::ERRORS;
        $settings = [...Extension::settings(), ...self::SETTINGS, ...$subject->settings, 'apc.shm_size' => (string) $bytes];
        $command = [...$placement, ...$wrapper, PHP_BINARY];
        foreach ($settings as $setting => $content) {
            array_push($command, '-d', "{$setting}={$content}");
        }
        array_push(
            $command,
            __DIR__ . '/worker.php',
            self::autoloader(),
            $subject->name,
            $subjectFile === null ? '' : (string) realpath($subjectFile),
            $disk->part('code'),
            json_encode([
                'disk' => $disk->part('items'), 'tmpfs' => $tmpfs->path, 'name' => $tmpfs->name(), 'bytes' => $bytes,
                'endpoint' => (object) ($server?->endpoint() ?? []),
            ], JSON_THROW_ON_ERROR),
        );
        $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], ['file', $errors, 'w']], $pipes);
        if ($process === false) {
            throw new \RuntimeException("The process that measures {$subject->title} could not be started: too many processes may be running.");
        }

        return new self($subject, $isTwin, $server?->processIds() ?? [], $disk, $tmpfs, $process, $pipes[0], $pipes[1]);
    }

    /** @throws WorkerFailed */
    public function prepare(Value $value, int $keys): void
    {
        $this->order(['do' => 'prepare', 'value' => $value->name, 'keys' => $keys]);
    }

    /** @throws WorkerFailed */
    public function calibrate(Operation $operation, int $nanoseconds): int
    {
        return $this->order(['do' => 'calibrate', 'operation' => $operation->value, 'nanoseconds' => $nanoseconds])->int('operations');
    }

    /**
     * @return array{operations: int, nanoseconds: int, cpu: int, server: int} times in ns: the client's wall clock, its
     *                                                                        processor time, and the server's
     * @throws WorkerFailed
     */
    public function block(Operation $operation, int $operations): array
    {
        $before = CpuTime::of($this->serverProcesses);
        $answer = $this->order(['do' => 'block', 'operation' => $operation->value, 'operations' => $operations]);

        return [
            'operations' => $answer->int('operations'),
            'nanoseconds' => $answer->int('nanoseconds'),
            'cpu' => $answer->int('cpu'),
            'server' => CpuTime::of($this->serverProcesses) - $before,
        ];
    }

    /**
     * @param array<string, string|int> $order
     * @throws WorkerFailed
     */
    private function order(array $order): Fields
    {
        $line = @fwrite($this->orders, json_encode($order, JSON_THROW_ON_ERROR) . "\n") === false ? false : fgets($this->answers);
        if ($line === false) {
            throw WorkerFailed::ended($this->subject->title, (string) file_get_contents("{$this->disk->path}/" . self::ERRORS));
        }
        $answer = Fields::ofJson($line, 'answer');
        if ($answer->has('error')) {
            throw WorkerFailed::said($this->subject->title, $answer->string('error'));
        }

        return $answer;
    }

    /** Composer's autoloader, for the processes that are started. */
    public static function autoloader(): string
    {
        foreach (get_included_files() as $file) {
            if (str_ends_with($file, '/vendor/autoload.php')) {
                return $file;
            }
        }

        throw new \RuntimeException('The benchmark was not started through Composer\'s autoloader: run bin/larder after `composer install`.');
    }
}
