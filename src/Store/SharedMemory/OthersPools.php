<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

/**
 * The pools of other users and groups on this machine. Each has a directory of its own, so that pools of one name have nothing
 * to do with each other. An item that is deleted in one stays in the other.
 */
final class OthersPools
{
    /** Where the extension keeps all pools. */
    private const MEMORY = '/dev/shm';

    /** @var array<string, ?list<string>> names of pools, by owner; null: this user may not see them */
    private readonly array $names;

    /**
     * @param string $memory the directory that holds those of the users
     * @param ?int   $user   the own one; null: that of this process
     */
    public function __construct(string $memory = self::MEMORY, ?int $user = null)
    {
        $user ??= \function_exists('posix_geteuid') ? posix_geteuid() : (int) getmyuid();
        $ownGroup = \ini_get('larder.group');
        $names = [];
        foreach (@scandir($memory) ?: [] as $each) {
            $status = @lstat("{$memory}/{$each}");
            if (preg_match('/^larder-(g?)\d+(?:\.[\w-]{6})?$/D', $each, $match) !== 1 || $status === false || ($status['mode'] & 0o170000) !== 0o040000) {
                continue;
            }
            $owner = $match[1] === 'g' ? self::group($status['gid']) : self::user($status['uid']);
            // With a group, this process's pools are the group's, and those of its user are another's.
            if (\is_string($ownGroup) && $ownGroup !== '' ? $owner === "group {$ownGroup}" : $match[1] === '' && $status['uid'] === $user) {
                continue;
            }
            $entries = @scandir("{$memory}/{$each}");
            $pools = $entries === false ? null : array_values(array_filter(array_map(
                static fn(string $entry): string => preg_match('/^([^.].*)@\d+$/D', $entry, $parts) === 1 ? $parts[1] : '',
                $entries,
            ), static fn(string $name): bool => $name !== ''));
            $names[$owner] = $pools === null || !isset($names[$owner]) ? $pools : [...$names[$owner], ...$pools];
        }
        $this->names = $names;
    }

    /** @return array<string, ?list<string>> names of pools, by owner, such as "user www-data"; null: this user may not see them */
    public function all(): array
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
