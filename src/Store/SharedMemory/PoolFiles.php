<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

use Larder\System\Process;

/**
 * The files of all pools on this machine. Each user and group has a directory of its own, so that pools of one name have nothing
 * to do with each other. An item that is deleted in one stays in the other.
 */
final class PoolFiles
{
    /** Where the extension keeps all pools. */
    private const MEMORY = '/dev/shm';

    /** @var array<string, ?list<string>> names of others' pools, by owner; null: this user may not see them */
    private readonly array $names;

    /** @var list<string> the directories of this user's own pools, or of its group's */
    private readonly array $directories;

    /**
     * @param string $memory the directory that holds those of the users
     * @param ?int   $user   the own one; null: that of this process
     */
    public function __construct(string $memory = self::MEMORY, ?int $user = null)
    {
        $user ??= Process::user();
        $ownGroup = \ini_get('larder.group');
        $names = $directories = [];
        foreach (@scandir($memory) ?: [] as $each) {
            $status = @lstat("{$memory}/{$each}");
            if (preg_match('/^larder-(g?)\d+(?:\.[\w-]{6})?$/D', $each, $match) !== 1 || $status === false || ($status['mode'] & 0o170000) !== 0o040000) {
                continue;
            }
            $owner = $match[1] === 'g' ? self::group($status['gid']) : self::user($status['uid']);
            // With a group, this process's pools are the group's, and those of its user are another's.
            if (\is_string($ownGroup) && $ownGroup !== '' ? $owner === "group {$ownGroup}" : $match[1] === '' && $status['uid'] === $user) {
                $directories[] = "{$memory}/{$each}";
                continue;
            }
            $pools = self::in("{$memory}/{$each}");
            $names[$owner] = $pools === null ? null : [...($names[$owner] ?? []), ...array_values($pools)];
        }
        [$this->names, $this->directories] = [$names, $directories];
    }

    /** @return array<string, array{path: string, used: int}> the file of each pool of this user, by its name, and when a process last began to use it, as a Unix time */
    public function own(): array
    {
        $own = [];
        foreach ($this->directories as $directory) {
            foreach (self::in($directory) ?? [] as $file => $name) {
                $used = @filemtime("{$directory}/{$file}");
                // A version of the extension with another format has a file of its own beside it.
                if ($used !== false && $used >= ($own[$name]['used'] ?? 0)) {
                    $own[$name] = ['path' => "{$directory}/{$file}", 'used' => $used];
                }
            }
        }

        return $own;
    }

    /** @return array<string, ?list<string>> names of pools, by owner, such as "user www-data"; null: this user may not see them */
    public function others(): array
    {
        return $this->names;
    }

    /** @return list<string> owners of pools of this name */
    public function owners(string $name): array
    {
        return array_keys(array_filter($this->names, static fn(?array $names): bool => \in_array($name, $names ?? [], true)));
    }

    /** @return list<string> owners of pools that this user may not see */
    public function hidden(): array
    {
        return array_keys(array_filter($this->names, static fn(?array $names): bool => $names === null));
    }

    /** @return ?array<string, string> names of pools, by that of the file; null: this user may not see them */
    private static function in(string $directory): ?array
    {
        $files = @scandir($directory);

        return $files === false ? null : array_filter(array_map(
            static fn(string $file): string => preg_match('/^([^.].*)@\d+$/D', $file, $parts) === 1 ? $parts[1] : '',
            array_combine($files, $files),
        ), static fn(string $name): bool => $name !== '');
    }

    private static function user(int $user): string
    {
        $known = \function_exists('posix_getpwuid') ? posix_getpwuid($user) : false;

        return 'user ' . ($known === false ? $user : $known['name']);
    }

    private static function group(int $group): string
    {
        $known = \function_exists('posix_getgrgid') ? posix_getgrgid($group) : false;

        return 'group ' . ($known === false ? $group : $known['name']);
    }
}
