<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** Does something in several forked processes at the same time; APCu's memory is shared by those of one parent only. */
final class Forked
{
    /** No experiment lasts as long: a wait for a process that lives ends with its answer. */
    public const TIMEOUT_S = 86_400;

    /**
     * @param \Closure(int): array<string, int|float> $do given the number of the process
     * @return list<array<string, int|float>> what each found
     * @throws \RuntimeException with the message of the first that failed; none is left running
     */
    public static function all(int $processes, \Closure $do): array
    {
        $lines = [];
        $answers = [];
        try {
            for ($number = 0; $number < $processes; $number++) {
                self::undisturbed(static function (\Closure $disturb) use ($do, $number, &$lines): void {
                    [$process, $line] = self::fork($do, $number, $disturb);
                    $lines[$process] = $line;
                });
            }
            foreach ($lines as $process => $line) {
                $answers[] = self::figures((string) stream_get_contents($line));
                pcntl_waitpid($process, $status);
                unset($lines[$process]);
            }
        } finally {
            foreach (array_keys($lines) as $process) {
                posix_kill($process, SIGKILL);
                pcntl_waitpid($process, $status);
            }
        }

        return $answers;
    }

    /**
     * Lets no signal throw between a fork and the moment in which its process is written down. A signal that comes
     * meanwhile is heard afterwards.
     *
     * @param \Closure(\Closure(): void): void $fork is given what lets the signals in again, for the child
     */
    public static function undisturbed(\Closure $fork): void
    {
        pcntl_sigprocmask(SIG_BLOCK, [SIGTERM, SIGALRM], $before);
        $disturb = static function () use ($before): void {
            pcntl_sigprocmask(SIG_SETMASK, is_array($before) ? $before : []);
        };
        try {
            $fork($disturb);
        } finally {
            $disturb();
        }
    }

    /**
     * @param \Closure(int): array<string, int|float> $do
     * @param \Closure(): void $disturb
     * @return array{int, resource} the process, and where its answer comes from
     */
    private static function fork(\Closure $do, int $number, \Closure $disturb): array
    {
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $process = $pair === false ? -1 : pcntl_fork();
        if ($pair === false || $process === -1) {
            throw new \RuntimeException('Another process could not be forked: too many may be running.');
        }
        if ($process === 0) {
            fclose($pair[0]);
            self::live($do, $number, $pair[1], $disturb);
        }
        fclose($pair[1]);
        // A stream gives up after default_socket_timeout, a minute; filling a slow design takes longer.
        stream_set_timeout($pair[0], self::TIMEOUT_S);

        return [$process, $pair[0]];
    }

    /**
     * @param \Closure(int): array<string, int|float> $do
     * @param resource $line
     * @param \Closure(): void $disturb
     */
    private static function live(\Closure $do, int $number, $line, \Closure $disturb): never
    {
        pcntl_signal(SIGTERM, SIG_DFL);
        $disturb();
        try {
            $answer = $do($number);
        } catch (\Throwable $problem) {
            $answer = ['failed' => $problem->getMessage()];
        }
        // The parent may be gone.
        @fwrite($line, json_encode((object) $answer, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE));
        fclose($line);
        // The parent's objects are not ours to destroy.
        posix_kill((int) getmypid(), SIGKILL);
        exit;
    }

    /** @return array<string, int|float> */
    private static function figures(string $answer): array
    {
        $decoded = json_decode($answer, true);
        if (!is_array($decoded)) {
            throw new \RuntimeException('A process ended too early: there may be too little memory.');
        }
        if (isset($decoded['failed'])) {
            throw new \RuntimeException(is_string($decoded['failed']) ? $decoded['failed'] : 'A process failed.');
        }
        $figures = [];
        foreach ($decoded as $what => $figure) {
            if (is_int($figure) || is_float($figure)) {
                $figures[(string) $what] = $figure;
            }
        }

        return $figures;
    }
}
