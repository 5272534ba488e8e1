<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Exception\StoreUnavailable;
use Larder\Tests\Scratch;
use Psr\Log\LogLevel;

/** A user who is not root, in processes of their own. If the tests do not run as root, they run as that user. */
final class Nobody
{
    public const ID = 65_534;

    private function __construct() {}

    /** A directory that belongs to that user. */
    public static function directory(int $rights = 0o700): Scratch
    {
        $scratch = new Scratch();
        self::owns($scratch, $rights);

        return $scratch;
    }

    /**
     * Runs something as that user.
     *
     * @param \Closure(string): list<mixed> $work   with the directory
     * @param ?int                          $rights with which the directory is theirs meanwhile; null: it stays as it is
     *
     * @return mixed what it returns; what is thrown, as a string in a list
     */
    public static function does(Scratch $scratch, \Closure $work, ?int $rights = 0o700): mixed
    {
        // They may not be allowed to read our code: what is needed of it is loaded before.
        $elsewhere = new Scratch();
        $work($elsewhere->path);
        class_exists(StoreUnavailable::class);
        class_exists(LogLevel::class);
        if ($rights !== null) {
            self::owns($scratch, $rights);
        }
        $ends = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0) ?: throw new \RuntimeException('There is no pair of sockets.');
        $child = pcntl_fork();
        if ($child === 0) {
            // They are in no group of root's.
            $isThey = posix_geteuid() !== 0 || (posix_initgroups('nobody', self::ID) && posix_setgid(self::ID) && posix_setuid(self::ID));
            try {
                $report = $isThey ? $work($scratch->path) : ['This process cannot become another user.'];
            } catch (\Throwable $failure) {
                $report = [(string) $failure];
            }
            fwrite($ends[1], serialize($report));
            posix_kill((int) getmypid(), \SIGKILL);
        }
        fclose($ends[1]);
        $report = unserialize((string) stream_get_contents($ends[0]));
        pcntl_waitpid($child, $status);
        if ($rights !== null) {
            chmod($scratch->path, 0o700);
        }

        return $report;
    }

    private static function owns(Scratch $scratch, int $rights): void
    {
        if (posix_geteuid() === 0) {
            chown($scratch->path, self::ID);
        }
        chmod($scratch->path, $rights);
    }
}
