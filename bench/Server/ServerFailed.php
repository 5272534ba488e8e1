<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/** A server that the benchmark needs could not be had; the message says which, why, and what to do. */
final class ServerFailed extends \RuntimeException
{
    private const LINES_OF_LOG = 10;

    /** @param bool $isInstalled false: nothing went wrong, there is just no such program */
    private function __construct(string $message, public readonly bool $isInstalled)
    {
        parent::__construct($message);
    }

    public static function isNotInstalled(string $title, string $program, string $package): self
    {
        return new self(sprintf(
            '%s cannot be started because no program %s is on the PATH: install the package %s.',
            $title,
            $program,
            $package,
        ), false);
    }

    /** @param string $log everything the server wrote; the message keeps its last lines */
    public static function toStart(string $title, string $why, string $log): self
    {
        $lines = array_slice(explode("\n", rtrim($log)), -self::LINES_OF_LOG);
        $last = trim(implode("\n    ", $lines));

        return new self(sprintf(
            '%s did not start because %s; %s',
            $title,
            $why,
            $last === '' ? 'it wrote nothing to its log.' : "the last lines of its log are:\n    {$last}",
        ), true);
    }
}
