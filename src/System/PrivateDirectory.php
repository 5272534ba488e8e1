<?php

declare(strict_types=1);

namespace Larder\System;

/**
 * A directory in which Larder keeps files, and the rule that says who may have a hand in it. All files that the library makes
 * or opens are made or opened here.
 *
 *     /var          ┐  Every user who may write here could replace all that lies below, and is trusted. So that may not be
 *     /var/cache    ┘  everyone; only where the directory is sticky, as /tmp is, and the next one is this user's or root's.
 *     /var/cache/shop  This user's or root's; for root also another user's. Everyone may not write here, sticky or not. Its
 *                      group may if its rights are 2770 and the files in it are for several users (see Guests); then it
 *                      does not matter who of them owns it.
 *     …/cache.db       A file and no link, with the rights 0600, in a shared directory 0660. It belongs to this user, to
 *                      root or to the directory's owner, and in a shared directory to the directory's group.
 *
 * Whether a file that is open fulfils the conditions. For a file that another program opens by its path, as SQLite does, the path is
 * checked: only trusted users can change it in between.
 *
 * What root makes in another user's directory is given to that user, who could otherwise neither use it nor replace it. That user may
 * put a link in the place of a file at any moment. So root writes into nothing, and gives nothing away, that a link leads to (see
 * logrotate's option "su" for what comes of that).
 *
 * PHP without the extension posix does not tell which user it is. Then only the rights count.
 */
final class PrivateDirectory
{
    private const KIND = 0o170000;

    private const LINK = 0o120000;

    private const DIRECTORY = 0o040000;

    private const FILE = 0o100000;

    private const STICKY = 0o1000;

    /** The rights that ask for a group: to write, and to hand the group down. */
    private const SHARED = 0o2020;

    /** Links to links, as many as the kernel follows. */
    private const MOST_LINKS = 40;

    private readonly int $user;

    /** @var ?array<array-key, int> what is known of the directory; null: nothing yet */
    private ?array $status = null;

    private bool $isTrusted = false;

    /** The path without links in it; null: it is not known. */
    private ?string $real = null;

    public function __construct(
        public readonly string $path,
        private readonly Guests $guests,
    ) {
        $this->user = Process::user();
    }

    /**
     * What an administrator has to change before this directory can be used. Trouble that another user has caused is no such
     * thing: an application is not to fail because of that.
     */
    public function mistake(): ?Distrust
    {
        $status = @stat($this->path);
        if ($status === false || ($this->mayBeOf($status) && $this->rights($status) === null)) {
            return null;
        }
        $found = $this->distrust();

        return $found === null || $found->isPlanted ? null : $found;
    }

    /** @return ?Distrust null: it can be trusted, or is not there, and the parts of its path that are there can be trusted */
    public function distrust(): ?Distrust
    {
        if ($this->isTrusted) {
            return null;
        }
        clearstatcache();
        $this->status = $this->real = null;
        $found = $this->above();
        $status = $this->status();
        $found ??= $status === false ? null : $this->rights($status) ?? $this->owner($status);
        $this->isTrusted = $found === null && $status !== false;

        return $found;
    }

    /** @return ?string the path without links in it, once distrust() has found nothing; null: this user may not see all of it */
    public function real(): ?string
    {
        return $this->real;
    }

    /** As distrust(), but of the directory as it is now, and without its path, which no user can have changed who is not trusted. */
    public function isStillTrusted(): bool
    {
        clearstatcache();
        $status = @stat($this->path);
        if ($status === false || $this->rights($status) !== null || !$this->mayBeOf($status)) {
            return false;
        }

        return $this->distrust() === null;
    }

    /**
     * @param bool $tightens whether to take away the rights that a file has and should not have, such as that of everyone to read it
     *
     * @return ?Distrust null: the file can be trusted, or is not there
     */
    public function distrustOf(string $path, bool $tightens = false): ?Distrust
    {
        clearstatcache();
        $status = @lstat($path);
        $distrust = $status === false ? null : $this->ofFile($path, $status);
        if ($status !== false && $distrust === null && $tightens) {
            $this->tighten($path, $status);
        }

        return $distrust;
    }

    /**
     * Opens a file to read it and to write into it; one that is not there is made. Whether it may be written into holds() says.
     *
     * @return resource|false
     *
     * @phpstan-impure others change what is there
     */
    public function open(string $path): mixed
    {
        // Twice, as another process may make it in between.
        for ($tries = 0; $tries < 2; $tries++) {
            $file = @fopen($path, 'r+');
            if ($file !== false) {
                return $file;
            }
            clearstatcache(true, $path);
            // Not at the end of a link that leads nowhere: PHP follows that by itself, also where the kernel is not to (O_EXCL).
            $file = is_link($path) ? false : $this->begin($path);
            if ($file !== false) {
                return $file;
            }
        }

        return false;
    }

    /**
     * Makes a file under a name that could not be known, which is then to take the place of another.
     *
     * @param bool $isGiven whether root gives it to the directory's owner
     *
     * @return resource|false
     */
    public function make(string $path, bool $isGiven = true): mixed
    {
        $file = self::made($path, $this->rightsOfFiles());
        if ($file !== false && $isGiven) {
            $this->give($path);
        }

        return $file;
    }

    /** Puts a file with these bytes in the place of another, or of none, so that no process ever finds a part of it. On a full disk the other stays. */
    public function replace(string $path, string $bytes): bool
    {
        $next = "{$path}-" . bin2hex(random_bytes(6));
        $file = $this->make($next);
        if ($file !== false && @fwrite($file, $bytes) === \strlen($bytes) && fclose($file) && @rename($next, $path)) {
            return true;
        }
        @unlink($next);

        return false;
    }

    /**
     * Whether the process that needs it makes it: as in /tmp, where each user has to have one and which is emptied now and then.
     * A user's own directory for temporary files (TMPDIR) is no other, if no other user may write there.
     */
    public function isMissingInTmp(): bool
    {
        $above = @is_dir($this->path) ? false : @stat(\dirname($this->path));

        return $above !== false && (($above['mode'] & (self::STICKY | 0o002)) === (self::STICKY | 0o002) || $this->isOwnTmp($above));
    }

    /** Whether it is there, or has been made now because it isMissingInTmp(). */
    public function exists(): bool
    {
        return @is_dir($this->path) || ($this->isMissingInTmp() && self::makeDirectory($this->path, isGiven: false));
    }

    /** Makes a directory for its owner alone. */
    public static function makeDirectory(string $path, bool $isGiven = true): bool
    {
        if (!@mkdir($path, 0o700)) {
            return false;
        }
        if ($isGiven) {
            self::giveTo($path, @stat(\dirname($path)));
        }

        return true;
    }

    /**
     * Whether what is open is the file of that name, and one that can be trusted.
     *
     * @param resource $file
     */
    public function holds(mixed $file, string $path): bool
    {
        clearstatcache(true, $path);
        $here = fstat($file);
        $there = @lstat($path);
        if ($here === false || $there === false || $here['ino'] !== $there['ino'] || $here['dev'] !== $there['dev'] || $this->ofFile($path, $there) !== null) {
            return false;
        }
        $this->tighten($path, $there);

        return true;
    }

    /** @return ?string what is in a file; null: it is not there, or cannot be trusted */
    public function contents(string $path, ?int $length = null, int $offset = 0): ?string
    {
        // To open a named pipe would wait for a process that writes into it.
        $file = @fopen($path, 'rn');
        if ($file === false) {
            return null;
        }
        $status = fstat($file);
        // Not by the path, which may lead to another file by now.
        $bytes = $status === false || !$this->isFileOfOurs($status) || ($offset !== 0 && fseek($file, $offset) !== 0)
            ? false
            : ($status['size'] <= $offset ? '' : @fread($file, max(1, min($length ?? \PHP_INT_MAX, $status['size'] - $offset))));
        fclose($file);

        return $bytes === false ? null : $bytes;
    }

    /** Whether this user may look for what is in a directory. */
    public static function mayEnter(string $directory): bool
    {
        return \DIRECTORY_SEPARATOR !== '/' || @is_executable($directory);
    }

    /** Whether a directory within this one is one, and can be trusted. */
    public function trustsWithin(string $directory): bool
    {
        clearstatcache(true, $directory);
        $status = @lstat($directory);

        return $status === false || (($status['mode'] & self::KIND) === self::DIRECTORY && ($status['mode'] & 0o002) === 0 && $this->isOwner($status));
    }

    /**
     * The file that a path stands for, also if it is not there yet. Only links of this user's and of root's are followed.
     *
     * @return ?string null: another user's link lies there, or too many do
     */
    public static function followed(string $path): ?string
    {
        for ($links = 0; is_link($path); $links++) {
            $link = @lstat($path);
            $target = \function_exists('readlink') ? @readlink($path) : realpath($path);
            if ($target === false || $link === false || $links === self::MOST_LINKS || (Process::user() !== -1 && $link['uid'] !== 0 && $link['uid'] !== Process::user())) {
                return null;
            }
            $path = str_starts_with($target, '/') ? $target : \dirname($path) . "/{$target}";
        }

        return $path;
    }

    /** @param array<array-key, int> $above the status of what the directory is to lie in */
    private function isOwnTmp(array $above): bool
    {
        $temporary = @stat(sys_get_temp_dir());

        return $temporary !== false && $temporary['ino'] === $above['ino'] && $temporary['dev'] === $above['dev']
            && ($this->user === -1 || $above['uid'] === $this->user) && ($above['mode'] & 0o022) === 0;
    }

    /**
     * Makes a file that is not there. For root under another name first, as it is to be its owner's when it gets its own.
     *
     * @return resource|false
     */
    private function begin(string $path): mixed
    {
        if ($this->user !== 0 || ($this->status() ?: ['uid' => 0])['uid'] === 0 || !\function_exists('link')) {
            $file = self::made($path, $this->rightsOfFiles());
            $file === false || $this->give($path);

            return $file;
        }
        $temporary = \dirname($path) . '/.' . bin2hex(random_bytes(12)) . '.tmp';
        $file = $this->make($temporary);
        $isThere = $file !== false && @link($temporary, $path);
        @unlink($temporary);

        return $isThere ? $file : false;
    }

    /**
     * Makes a file, which is this process's own.
     *
     * @return resource|false
     */
    private static function made(string $path, int $rights): mixed
    {
        if (\PHP_ZTS) {
            return self::madeAmongThreads($path, $rights);
        }
        $usual = umask(~$rights & 0o777);
        try {
            return @fopen($path, 'x+');
        } finally {
            umask($usual);
        }
    }

    /**
     * As what is withheld from files is withheld from those of all threads: tempnam() makes one that is its owner's alone from the beginning.
     *
     * @return resource|false
     */
    private static function madeAmongThreads(string $path, int $rights): mixed
    {
        $temporary = @tempnam(\dirname($path), '.');
        if ($temporary === false || \dirname($temporary) !== \dirname($path)) {
            // It makes one elsewhere where it may not make one here.
            $temporary === false || @unlink($temporary);

            return false;
        }
        @chmod($temporary, $rights);
        $file = \function_exists('link') ? @link($temporary, $path) : !file_exists($path) && @copy($temporary, $path);
        @unlink($temporary);

        return $file ? @fopen($path, 'r+') : false;
    }

    /** Gives what root has just made to the owner of the directory. */
    private function give(string $path): void
    {
        self::giveTo($path, $this->user === 0 ? $this->status() : false);
    }

    /** @param array<array-key, int>|false $directory */
    private static function giveTo(string $path, array|false $directory): void
    {
        if (Process::user() !== 0 || $directory === false || !\function_exists('lchown') || !\function_exists('lchgrp')) {
            return;
        }
        if ($directory['uid'] !== 0 || !\function_exists('posix_getegid') || $directory['gid'] !== posix_getegid()) {
            // Not chown(), which would follow a link. A hard link to a file of root's cannot be made where fs.protected_hardlinks
            // is 1, as it is unless that was changed.
            @lchgrp($path, $directory['gid']);
            @lchown($path, $directory['uid']);
        }
    }

    /** Goes to the directory, along what lies above it and the links on the way. */
    private function above(): ?Distrust
    {
        $parts = explode('/', str_starts_with($this->path, '/') ? $this->path : getcwd() . "/{$this->path}");
        $at = '';
        $around = @lstat('/');
        for ($links = 0; $parts !== [];) {
            $name = array_shift($parts);
            if ($name === '' || $name === '.') {
                continue;
            }
            if ($name === '..') {
                $at = rtrim(\dirname($at), '/');
                $around = @lstat($at === '' ? '/' : $at);
                continue;
            }
            $status = @lstat("{$at}/{$name}");
            if ($status === false) {
                // It is not there, or this user may not see it.
                return null;
            }
            if ($around !== false && ($around['mode'] & 0o002) !== 0) {
                $directory = $at === '' ? '/' : $at;
                if (($around['mode'] & self::STICKY) === 0) {
                    return new Distrust($this->path, "lies in \"{$directory}\", which may be written to by everyone", 'chmod o-w ' . self::quoted($directory));
                }
                if ($this->user !== -1 && $status['uid'] !== $this->user && $status['uid'] !== 0) {
                    return new Distrust(
                        "{$at}/{$name}",
                        'belongs to another user, "' . self::name($status['uid']) . "\", who could put it there as everyone may write into \"{$directory}\"",
                        'name a directory elsewhere, or remove this one',
                        isPlanted: true,
                    );
                }
            }
            if (($status['mode'] & self::KIND) === self::LINK) {
                $target = \function_exists('readlink') ? @readlink("{$at}/{$name}") : realpath("{$at}/{$name}");
                if ($target === false || ++$links > self::MOST_LINKS) {
                    return null;
                }
                $parts = [...explode('/', $target), ...$parts];
                $at = str_starts_with($target, '/') ? '' : $at;
                $around = $at === '' ? @lstat('/') : $around;
                continue;
            }
            $at = "{$at}/{$name}";
            $around = $status;
        }
        $this->real = $at === '' ? '/' : $at;
        $this->status = $around === false ? null : $around;

        return null;
    }

    /** @param array<array-key, int> $status of the directory */
    private function rights(array $status): ?Distrust
    {
        if (($status['mode'] & 0o022) === 0) {
            return null;
        }
        $path = self::quoted($this->path);
        if (($status['mode'] & 0o002) !== 0) {
            $own = self::quoted(rtrim($this->path, '/') . '/larder-' . max(0, $this->user));

            return new Distrust($this->path, 'may be written to by everyone', ($status['mode'] & self::STICKY) === 0 ? "chmod o-w {$path}" : "name one of its own in it: mkdir -m 0700 {$own}");
        }
        if ($this->isShared($status)) {
            return null;
        }

        return new Distrust(
            $this->path,
            'may be written to by its group, "' . self::groupName($status['gid']) . '"',
            $this->guests === Guests::RootAndGroup ? "chmod g-w {$path}, or chmod g+s {$path} if that group is to share what is in it" : "chmod g-w {$path}",
        );
    }

    /** @param array<array-key, int> $status of the directory */
    private function owner(array $status): ?Distrust
    {
        if ($this->mayBeOf($status)) {
            return null;
        }
        $path = self::quoted($this->path);
        $user = self::name($this->user);

        return new Distrust(
            $this->path,
            'belongs to another user, "' . self::name($status['uid']) . '"',
            $this->guests === Guests::RootAndGroup ? "chown {$user} {$path}, or chmod 2770 {$path} if its group is to share what is in it" : 'run this as its owner, or name another',
        );
    }

    /** @param array<array-key, int> $status of the directory */
    private function mayBeOf(array $status): bool
    {
        return $this->user === -1 || $status['uid'] === $this->user || $this->isShared($status)
            || ($this->guests !== Guests::None && ($status['uid'] === 0 || $this->user === 0));
    }

    /** @param array<array-key, int> $status of the directory */
    private function isShared(array $status): bool
    {
        return $this->guests === Guests::RootAndGroup && ($status['mode'] & self::SHARED) === self::SHARED;
    }

    /** @param array<array-key, int> $status of a file, not of what a link leads to */
    private function ofFile(string $path, array $status): ?Distrust
    {
        $name = self::quoted($path);

        return match (true) {
            ($status['mode'] & self::KIND) === self::LINK => new Distrust($path, 'is a link', "rm {$name}"),
            ($status['mode'] & self::KIND) !== self::FILE => new Distrust($path, 'is no file', "remove {$name}"),
            !$this->isOwner($status) => new Distrust($path, 'belongs to another user, "' . self::name($status['uid']) . '"', "rm {$name}"),
            ($status['mode'] & 0o002) !== 0 => new Distrust($path, 'may be written to by everyone', "rm {$name}, or chmod 0600 {$name} if no other user can have written into it"),
            default => null,
        };
    }

    /** @param array<array-key, int> $status of a file that can be trusted */
    private function tighten(string $path, array $status): void
    {
        // Root does not: the directory's owner may put a link there meanwhile, which chmod() follows.
        $excess = $status['mode'] & 0o777 & ~$this->rightsOfFiles();
        if ($excess !== 0 && $status['uid'] === $this->user && ($this->user !== 0 || ($this->status() ?: ['uid' => -1])['uid'] === 0)) {
            @chmod($path, $status['mode'] & 0o777 & ~$excess);
        }
    }

    /** @param array<array-key, int> $status of a file that is open */
    private function isFileOfOurs(array $status): bool
    {
        return ($status['mode'] & self::KIND) === self::FILE && ($status['mode'] & 0o002) === 0 && $this->isOwner($status);
    }

    /** @param array<array-key, int> $status of what lies in the directory */
    private function isOwner(array $status): bool
    {
        if ($this->user === -1 || $status['uid'] === $this->user || $status['uid'] === 0) {
            return true;
        }
        $directory = $this->status();

        return $directory !== false && ($status['uid'] === $directory['uid'] || ($this->isShared($directory) && $status['gid'] === $directory['gid']));
    }

    private function rightsOfFiles(): int
    {
        $status = $this->status();

        return $status !== false && $this->isShared($status) ? 0o660 : 0o600;
    }

    /** @return array<array-key, int>|false */
    private function status(): array|false
    {
        if ($this->status === null) {
            clearstatcache(true, $this->path);
            $this->status = @stat($this->path) ?: null;
        }

        return $this->status ?? false;
    }

    private static function name(int $user): string
    {
        $known = \function_exists('posix_getpwuid') ? posix_getpwuid($user) : false;

        return $known === false ? (string) $user : $known['name'];
    }

    private static function groupName(int $group): string
    {
        $known = \function_exists('posix_getgrgid') ? posix_getgrgid($group) : false;

        return $known === false ? (string) $group : $known['name'];
    }

    /** As a shell takes it. */
    private static function quoted(string $path): string
    {
        return preg_match('#^[\w./@+-]+$#D', $path) === 1 ? $path : "'" . str_replace("'", "'\\''", $path) . "'";
    }
}
