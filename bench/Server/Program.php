<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

use Symfony\Component\Process\Process;

/** Finds programs, those in the administrator's directories included, which a user's PATH often lacks. */
final class Program
{
    /** @return string|null the first of these names that can be run, as an absolute path */
    public static function find(string ...$names): ?string
    {
        $directories = explode(':', (string) getenv('PATH'));
        foreach ($names as $name) {
            foreach ([...$directories, '/usr/local/sbin', '/usr/sbin', '/sbin'] as $directory) {
                $path = $directory . '/' . $name;
                if ($directory !== '' && is_file($path) && is_executable($path)) {
                    return $path;
                }
            }
        }

        return null;
    }

    /**
     * What the program says about itself.
     *
     * @param list<string> $command
     * @return string the first line that holds a version number, or `unknown`
     */
    public static function version(array $command): string
    {
        // nginx tells its version on standard error.
        $process = new Process($command, timeout: null);
        $process->run();

        return preg_match('/\d+\.\d+[.\w-]*/', $process->getOutput() . $process->getErrorOutput(), $match) === 1 ? $match[0] : 'unknown';
    }
}
