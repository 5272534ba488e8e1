<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\System\Cause;
use Larder\System\PrivateDirectory;
use Larder\System\UserDirectory;

/**
 * Keeps processes from waiting again and again for a server that does not answer. After a failure, no process of this machine asks
 * the server for a while. Then one process tries, and the others go on only when it has an answer. That it could connect tells nothing: the
 * system accepts connections for a server that stands still.
 *
 * The processes of a user share a file for each server that has failed. It holds the time until which the server is left alone. Only a
 * process that is about to connect looks at it. Where the file cannot be had, each process keeps the time to itself.
 *
 * The pattern is that of M. Nygard, "Release It!", 2007.
 */
final class CircuitBreaker
{
    /** Bytes of the file: a time, and the cause. */
    private const LONGEST = 400;

    /** Seconds after a failure that took no time, as where nothing listens. It costs next to nothing to try that again. */
    private const SHORTEST_PAUSE = 0.05;

    /** A process that tries has so many times the timeout, until another one takes it for dead. */
    private const TIMES_LONGER = 1.1;

    /** Seconds that the process that tries has. */
    private readonly float $turn;

    /** In Unix seconds. */
    private float $notBefore = 0.0;

    /** Whether that time is in the file, where the process that tries next takes it back if the server answers. */
    private bool $isShared = false;

    /** Whether this process is the one that tries, and has to tell the others. */
    private bool $tries = false;

    /** Whether this process has begun to connect, and has no answer yet. */
    private bool $isOnTrial = false;

    /** Why it has failed last, as far as that is known. */
    private string $why = '';

    private ?string $path = null;

    /** Where the file is; null: there is no place that is this user's alone. */
    private ?PrivateDirectory $place = null;

    /**
     * @param string               $server     the name that all processes give it
     * @param float                $retryAfter seconds after a failure in which no process asks; 0: there is no breaker
     * @param float                $timeout    seconds that a process waits for the server at most; 0: for ever
     * @param ?string              $directory  where the file is; null: one of this user's, in the system's for temporary files
     * @param ?\Closure(): float  $clock      Unix seconds; null: PHP's
     */
    public function __construct(
        private readonly string $server,
        private readonly float $retryAfter,
        float $timeout,
        private readonly ?string $directory = null,
        private readonly ?\Closure $clock = null,
    ) {
        $this->turn = $timeout > 0.0 ? self::TIMES_LONGER * $timeout : $retryAfter;
    }

    /** Whether to ask the server now. After a yes the caller says whether it failed(), refused() or worked(). */
    public function allows(): bool
    {
        $now = $this->now();
        if ($this->isAhead($this->notBefore, $now) && !$this->isTakenBack()) {
            return false;
        }
        // Most often there is no file. Then it does not matter whether the directory can be trusted, which takes longer to tell.
        if ($this->retryAfter <= 0.0 || !@is_file($this->file())) {
            return true;
        }
        $path = $this->path();
        $place = $this->place;
        if ($path === null || $place === null) {
            return true;
        }
        if ($this->isClosedBy($place, $path, $now)) {
            return false;
        }
        $file = $place->open($path);
        if ($file === false) {
            return true;
        }
        try {
            // Another process that holds it is about to say that it tries.
            if (!flock($file, \LOCK_EX | \LOCK_NB)) {
                return false;
            }
            if (!$place->holds($file, $path)) {
                return !$this->isClosedBy($place, $path, $now);
            }
            $place->replace($path, self::line($now + $this->turn, $this->why));

            return $this->tries = true;
        } finally {
            fclose($file);
        }
    }

    /**
     * Whether to connect now, for a client whose commands follow at once. One that was interrupted, or connects anew for the rest of a batch, is
     * still the one that tries. After a yes the caller says whether it failed(), refused(), answered() or broke().
     */
    public function allowsToConnect(): bool
    {
        return $this->isOnTrial = $this->isOnTrial || $this->allows();
    }

    /** Whether this process is the one that tries, while others wait for what it finds. */
    public function tries(): bool
    {
        return $this->tries;
    }

    /** The first answer since the connection was begun tells that the server worked(). */
    public function answered(): void
    {
        if ($this->isOnTrial) {
            $this->worked();
        }
    }

    /** A connection broke: the server has failed() if that never had an answer, or if the answer is late. */
    public function broke(string $why, bool $isTooLate): void
    {
        if ($isTooLate || $this->isOnTrial) {
            $this->failed($why, $isTooLate);
        }
    }

    /**
     * @param string $why    the cause, which others are told as well
     * @param bool   $waited false: it failed at once
     */
    public function failed(string $why = '', bool $waited = true): void
    {
        $this->isOnTrial = false;
        $this->why = $why;
        if ($this->retryAfter <= 0.0) {
            return;
        }
        $this->tries = false;
        $this->notBefore = $this->now() + ($waited ? $this->retryAfter : min($this->retryAfter, self::SHORTEST_PAUSE));
        $this->isShared = false;
        $path = $this->path();
        $place = $this->place;
        if ($path !== null && $place !== null) {
            is_file($path) || UserDirectory::tidy(\dirname($path), 'breaker-');
            $this->isShared = $place->replace($path, self::line($this->notBefore, $why));
        }
    }

    /** It has answered. */
    public function worked(): void
    {
        $this->isOnTrial = false;
        $this->notBefore = 0.0;
        if ($this->tries) {
            $this->tries = false;
            $path = $this->path();
            if ($path !== null) {
                @unlink($path);
            }
        }
    }

    /** It answered, but does not let this one in: no other process has to wait because of that. */
    public function refused(string $why = ''): void
    {
        $this->worked();
        $this->why = $why;
        $this->notBefore = $this->now() + $this->retryAfter;
        $this->isShared = false;
    }

    /** What those are told that it does not let ask: the cause, and that it is not of just now. */
    public function why(string $otherwise): string
    {
        return $this->why === '' ? $otherwise : Cause::again($this->why);
    }

    /** Looks at what other processes have written, for the cause as well. */
    private function isClosedBy(PrivateDirectory $place, string $path, float $now): bool
    {
        [$until, $this->why] = explode(' ', (string) $place->contents($path, self::LONGEST), 2) + [1 => ''];
        $until = (float) $until;
        if ($this->isAhead($until, $now)) {
            $this->notBefore = $until;
            $this->isShared = true;

            return true;
        }

        return false;
    }

    /** A clock that was set back must not keep processes away for longer than ever was meant. */
    private function isAhead(float $until, float $now): bool
    {
        return $now < $until && $until <= $now + max($this->retryAfter, $this->turn);
    }

    /** Whether the server has answered another process since. */
    private function isTakenBack(): bool
    {
        if (!$this->isShared) {
            return false;
        }
        clearstatcache(true, $this->file());

        return !@is_file($this->file());
    }

    private static function line(float $until, string $why): string
    {
        return \sprintf('%.6F %s', $until, Cause::line($why, self::LONGEST - 30));
    }

    /** @return ?string null if there is no place that is this user's alone */
    private function path(): ?string
    {
        if ($this->retryAfter <= 0.0) {
            return null;
        }
        if ($this->path === null) {
            $this->place = UserDirectory::at($this->directory);
            $this->path = $this->place === null ? '' : $this->file();
        }

        return $this->path === '' ? null : $this->path;
    }

    private function file(): string
    {
        return UserDirectory::path($this->directory) . '/breaker-' . hash('xxh128', $this->server);
    }

    private function now(): float
    {
        return $this->clock === null ? microtime(true) : ($this->clock)();
    }
}
