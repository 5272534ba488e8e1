<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Crowd;

use Larder\Bench\Experiment\Forked;

/** The parent's end of a forked member: a line to it, a line from it. */
final class MemberProcess
{
    /** @param resource $line */
    private function __construct(private readonly int $processId, private $line) {}

    /** @param \Closure(): void $disturb what Forked::undisturbed() gives */
    public static function fork(Member $member, \Closure $disturb): self
    {
        $lines = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $process = $lines === false ? -1 : pcntl_fork();
        if ($lines === false || $process === -1) {
            throw new \RuntimeException('Another process could not be forked: too many may be running.');
        }
        if ($process === 0) {
            fclose($lines[0]);
            stream_set_timeout($lines[1], Forked::TIMEOUT_S);
            self::live($member, $lines[1], $disturb);
        }
        fclose($lines[1]);
        stream_set_timeout($lines[0], Forked::TIMEOUT_S);

        return new self($process, $lines[0]);
    }

    public function tell(string $order): void
    {
        fwrite($this->line, "{$order}\n");
    }

    public function hear(): string
    {
        $answer = trim((string) fgets($this->line));
        if (!str_starts_with($answer, 'failed:')) {
            return $answer !== '' ? $answer : throw new \RuntimeException('A process ended too early: there may be too little memory for so many.');
        }

        throw new \RuntimeException(substr($answer, 8));
    }

    public function expect(string $answer): void
    {
        $found = $this->hear();
        if ($found !== $answer) {
            throw new \UnexpectedValueException("A process said \"{$found}\" instead of \"{$answer}\".");
        }
    }

    /** Ends it and waits until it is gone. */
    public function end(): void
    {
        fclose($this->line);
        pcntl_waitpid($this->processId, $status);
    }

    /**
     * @param resource $line
     * @param \Closure(): void $disturb
     */
    private static function live(Member $member, $line, \Closure $disturb): never
    {
        // The parent's end of the line tells when it is over; what the parent would do at a signal is not ours to do.
        pcntl_signal(SIGTERM, SIG_IGN);
        $disturb();
        try {
            $member->open();
            fwrite($line, "open\n");
            if (fgets($line) !== false) {
                $member->prepare();
                fwrite($line, "ready\n");
            }
            while (($order = fgets($line)) !== false) {
                [$begin, $end] = array_map(intval(...), explode(' ', trim($order)));
                fwrite($line, json_encode($member->work($begin, $end), JSON_THROW_ON_ERROR) . "\n");
            }
            $member->close();
        } catch (\Throwable $problem) {
            fwrite($line, 'failed: ' . strtr($problem->getMessage(), "\n", ' ') . "\n");
        }
        // The parent's objects are not ours to destroy.
        posix_kill((int) getmypid(), SIGKILL);
        exit;
    }
}
