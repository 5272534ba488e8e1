<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Console\Printed;
use Larder\Dsn;

/** Checks for files that root has made in another user's directory, and that the user cannot use. Larder gives its files to the user. */
final class OwnerChecks
{
    /** Rights to write, of the owner's group and of all users. */
    private const SHARED = 0o020;

    private function __construct() {}

    /**
     * @param string $what the store's name
     *
     * @return list<Finding> one at most, of whatever is found first
     */
    public static function ofStore(string $what, Dsn $dsn): array
    {
        $path = match ($dsn->scheme) {
            'sqlite', 'file', 'php' => $dsn->absolutePath(),
            default => null,
        };
        foreach ($path === null ? [] : ($dsn->scheme === 'sqlite' ? self::besides($path) : self::within($path)) as $each) {
            $found = self::of($what, $each, $dsn->scheme === 'sqlite' ? null : $path);
            if ($found !== []) {
                return $found;
            }
        }

        return [];
    }

    /**
     * @param ?string $all the directory all of which is to be given to its owner; null: this file alone
     *
     * @return list<Finding>
     */
    public static function of(string $what, string $path, ?string $all = null): array
    {
        clearstatcache();
        $file = @stat($path);
        $directory = @stat(\dirname($path));
        if ($file === false || $directory === false || $file['uid'] !== 0 || $directory['uid'] === 0
            || ($file['gid'] === $directory['gid'] && ($file['mode'] & $directory['mode'] & self::SHARED) !== 0)) {
            return [];
        }
        $user = self::name($directory['uid']);

        return [Finding::problem(
            $what,
            \sprintf('%s is root\'s, in a directory of %s, who cannot use it.', Printed::key($path), $user),
            $all === null ? "chown {$user}: " . Printed::key($path) : "chown -R {$user}: " . Printed::key($all),
        )];
    }

    /** @return list<string> a database and its files */
    private static function besides(string $path): array
    {
        $name = basename($path);
        $beside = array_filter(self::names(\dirname($path)), static fn(string $each): bool => str_starts_with($each, "{$name}-"));

        return [$path, ...array_map(static fn(string $each): string => \dirname($path) . "/{$each}", array_values($beside))];
    }

    /** @return list<string> the directories and locks in a store's directory, and the files that are kept besides the items */
    private static function within(string $directory): array
    {
        $paths = [];
        foreach (self::names($directory) as $name) {
            array_push($paths, "{$directory}/{$name}", "{$directory}/{$name}/.lock");
        }

        return $paths;
    }

    /** @return list<string> */
    private static function names(string $directory): array
    {
        return array_values(array_diff(@scandir($directory) ?: [], ['.', '..']));
    }

    public static function name(int $user): string
    {
        $known = \function_exists('posix_getpwuid') ? posix_getpwuid($user) : false;

        return $known === false ? (string) $user : $known['name'];
    }
}
