<?php

declare(strict_types=1);

namespace Larder\Tests\System;

/** Signals that come while this process does something, and what their handler does. */
final class Interruptions
{
    private function __construct() {}

    /**
     * The handler throws, while this process waits for what a server answers. (Not just anywhere: PHP itself does not stand that
     * in all places, and ends with SIGSEGV.)
     *
     * @param \Closure(): mixed $work asks the server
     *
     * @return bool whether what it has thrown has come out of the work
     */
    public static function thrownInto(CacheServer $server, \Closure $work): bool
    {
        $exception = new \DomainException('a signal');
        $server->signal(\SIGSTOP);
        $waiter = (int) getmypid();
        $process = pcntl_fork();
        if ($process === 0) {
            // On its way there it does nothing that it would sleep for.
            while (preg_match('/\) S /', (string) file_get_contents("/proc/{$waiter}/stat")) !== 1) {
                usleep(100);
            }
            posix_kill($waiter, \SIGUSR1);
            $server->signal(\SIGCONT);
            posix_kill((int) getmypid(), \SIGKILL);
        }

        return self::during(static fn(): never => throw $exception, static function () use ($work, $exception): bool {
            try {
                $work();
            } catch (\DomainException $caught) {
                return $caught === $exception ? true : throw $caught;
            }

            return false;
        }, $process);
    }

    /**
     * Some hundred signals come at any time, and the handler does something each time.
     *
     * @param \Closure(): mixed $handler
     * @param \Closure(): mixed $work    is done as long as there are signals
     */
    public static function served(\Closure $handler, \Closure $work): void
    {
        // So that the handler needs no class that is just being loaded.
        $handler();
        $work();
        $receiver = (int) getmypid();
        $process = pcntl_fork();
        if ($process === 0) {
            for ($i = 0; $i < 300 && posix_getppid() === $receiver; $i++) {
                usleep(random_int(100, 1_500));
                posix_kill($receiver, \SIGUSR1);
            }
            posix_kill((int) getmypid(), \SIGKILL);
        }
        self::during($handler, static function () use ($work, $process): void {
            do {
                $work();
            } while (pcntl_waitpid($process, $status, \WNOHANG) === 0);
        }, $process);
    }

    /**
     * @template T
     *
     * @param \Closure(): mixed $handler
     * @param \Closure(): T     $work
     *
     * @return T
     */
    private static function during(\Closure $handler, \Closure $work, int $process): mixed
    {
        pcntl_signal(\SIGUSR1, $handler);
        $isAsynchronous = pcntl_async_signals(true);
        try {
            return $work();
        } finally {
            pcntl_signal(\SIGUSR1, \SIG_IGN);
            pcntl_async_signals($isAsynchronous);
            pcntl_waitpid($process, $status);
        }
    }
}
