<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

/** What the doctor looks at: facts about this machine and this PHP. */
final class Machine
{
    /** The least user id that is not a system user's, unless /etc/login.defs has another. */
    private const FIRST_USER = 1_000;

    /** Those of PHP that the checks ask for. */
    private const SETTINGS = [
        'apc.enabled', 'apc.enable_cli', 'apc.shm_size', 'apc.use_request_time', 'apc.serializer', 'larder.size', 'larder.zero_copy', 'larder.protect_unpinned',
        'opcache.max_accelerated_files',
    ];

    /**
     * @param list<string>          $extensions loaded ones, in lower case
     * @param array<string, string> $ini        settings of PHP, by name
     * @param array<string, string> $mounts     kind of file system, by where it is mounted
     * @param ?int                  $shmTotal   bytes of /dev/shm
     * @param ?int                  $shmFree    bytes of it that are free
     * @param ?array{used: int, wasted: int, size: int, full: bool} $opcache bytes; null: off
     * @param bool                  $removesIpc whether logind removes what users who log out leave in /dev/shm
     * @param bool                  $isSystemUser root, or another that logind leaves alone
     */
    public function __construct(
        public readonly string $sapi,
        public readonly array $extensions,
        public readonly array $ini,
        public readonly array $mounts = [],
        public readonly ?int $shmTotal = null,
        public readonly ?int $shmFree = null,
        public readonly ?array $opcache = null,
        public readonly bool $removesIpc = false,
        public readonly bool $isSystemUser = false,
    ) {}

    public static function this(): self
    {
        $ini = [];
        foreach (self::SETTINGS as $name) {
            $value = \ini_get($name);
            if (\is_string($value)) {
                $ini[$name] = $value;
            }
        }
        $total = @disk_total_space('/dev/shm');
        $free = @disk_free_space('/dev/shm');

        return new self(
            \PHP_SAPI,
            array_map(strtolower(...), get_loaded_extensions()),
            $ini,
            self::mountsIn((string) @file_get_contents('/proc/mounts')),
            $total === false ? null : (int) $total,
            $free === false ? null : (int) $free,
            self::opcache(),
            is_dir('/run/systemd/sessions') && self::removesIpc(array_map(
                static fn(string $file): string => (string) @file_get_contents($file),
                ['/etc/systemd/logind.conf', ...array_merge(...array_map(
                    static fn(string $directory): array => glob("{$directory}/systemd/logind.conf.d/*.conf") ?: [],
                    ['/usr/lib', '/run', '/etc'],
                ))],
            )),
            \function_exists('posix_geteuid') && posix_geteuid() < self::FIRST_USER,
        );
    }

    /** The kind of file system that a path lies on; null: not known. */
    public function fileSystemOf(string $path): ?string
    {
        for ($at = $path; ; $at = \dirname($at)) {
            if (isset($this->mounts[$at])) {
                return $this->mounts[$at];
            }
            if ($at === '/' || $at === '.' || $at === '') {
                return null;
            }
        }
    }

    /** @return array<string, string> */
    public static function mountsIn(string $table): array
    {
        $mounts = [];
        foreach (explode("\n", $table) as $line) {
            $fields = explode(' ', $line);
            if (isset($fields[2])) {
                // Blanks and the like in a path are written as octal numbers.
                $mounts[stripcslashes($fields[1])] = $fields[2];
            }
        }

        return $mounts;
    }

    /**
     * Of a setting that is given several times the last one counts; the default is yes.
     *
     * @param list<string> $configuration the contents of logind's files
     */
    public static function removesIpc(array $configuration): bool
    {
        preg_match_all('/^\s*RemoveIPC\s*=\s*(\w+)/m', implode("\n", $configuration), $found);

        return !\in_array(strtolower(end($found[1]) ?: 'yes'), ['no', 'n', 'false', 'f', 'off', '0'], true);
    }

    /** @return ?array{used: int, wasted: int, size: int, full: bool} */
    private static function opcache(): ?array
    {
        $status = \function_exists('opcache_get_status') ? @opcache_get_status(false) : false;
        $memory = \is_array($status) ? $status['memory_usage'] ?? null : null;
        if (!\is_array($status) || !\is_array($memory)) {
            return null;
        }
        $number = static fn(string $name): int => \is_int($memory[$name] ?? null) ? $memory[$name] : 0;

        return [
            'used' => $number('used_memory'),
            'wasted' => $number('wasted_memory'),
            'size' => $number('used_memory') + $number('wasted_memory') + $number('free_memory'),
            'full' => ($status['cache_full'] ?? false) === true,
        ];
    }
}
