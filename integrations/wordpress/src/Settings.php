<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** What the drop-in was installed with, and wp-config.php says, about this site's object cache. */
final class Settings
{
    /** What the settings of a drop-in mean. One with another number is not used, and written anew. */
    public const FORMAT = 2;

    /** Without any of these, other object caches have no server; most sites need not load Servers to know. */
    private const OF_SERVERS = ['WP_REDIS_CONFIG', 'WP_REDIS_HOST', 'WP_REDIS_PATH', 'WP_REDIS_SERVERS', 'WP_REDIS_CLUSTER', 'WP_REDIS_SCHEME', 'WP_MEMCACHED_SERVERS'];

    /**
     * @param string                 $identity  of the database and its prefix, 12 hexadecimal digits
     * @param ?string                $pool      the pool of the extension; null: another store
     * @param ?int                   $size      bytes of a pool that is not there yet; null: the extension's default
     * @param ?string                $dsn       of another store, or of the pool, as wp-config.php says
     * @param bool                   $isShared  whether others may use the same store
     * @param ?string                $directory of databases and the journal; null: there is none
     * @param ?int                   $maxTtl    seconds that anything lives at most; null: no end
     * @param ?int                   $owner     the user id of the web server, whose pool it is; null: not known
     * @param list<string>           $ignored   groups that never leave the request
     * @param array<array-key, true> $kept      groups that flush() leaves
     */
    private function __construct(
        public readonly string $identity,
        public readonly ?string $pool,
        public readonly ?int $size,
        public readonly ?string $dsn,
        public readonly bool $isShared,
        public readonly ?string $directory,
        public readonly ?int $owner,
        public readonly ?int $maxTtl,
        public readonly array $ignored,
        public readonly array $kept,
    ) {}

    public static function ofThisSite(): self
    {
        return self::of(self::isOutdated() ? [] : self::installed());
    }

    /** @return array<array-key, mixed> what the drop-in was written with; empty: there is none of ours */
    public static function installed(): array
    {
        return \defined('LARDER_DROP_IN') && \is_array(LARDER_DROP_IN) ? LARDER_DROP_IN : [];
    }

    /**
     * Whether the drop-in is of another version of the plugin, so that it means something else; or for another store than wp-config.php
     * names now. That one may have what was changed long ago, so the plugin writes the drop-in anew, and begins with an empty store.
     */
    public static function isOutdated(): bool
    {
        $installed = self::installed();
        if ($installed === [] || ($installed['format'] ?? null) !== self::FORMAT) {
            return $installed !== [];
        }
        $names = self::names();
        if ($names === ($installed['names'] ?? '')) {
            return false;
        }
        if (self::text('WP_LARDER_DSN') === '' && ($installed['store'] ?? null) !== 'server') {
            // Only this machine has what the drop-in is for.
            return true;
        }

        // A command may write where the web may not, and would be the only one that goes on without the store.
        return PHP_SAPI !== 'cli' && is_writable(WP_CONTENT_DIR);
    }

    /** What tells the store that wp-config.php names from another one, and does not tell which it is; '': it names none. */
    public static function names(): string
    {
        $dsn = self::text('WP_LARDER_DSN');
        $isServer = $dsn === '' && isset($GLOBALS['memcached_servers']);
        foreach ($dsn === '' ? self::OF_SERVERS : [] as $constant) {
            $isServer = $isServer || \defined($constant);
        }
        $dsn = $isServer ? (string) Servers::dsn() : $dsn;

        return $dsn === '' ? '' : substr(hash_hmac('sha256', $dsn, self::secret()), 0, 12);
    }

    /** @param array<array-key, mixed> $installed what the drop-in was written with */
    public static function of(array $installed): self
    {
        $identity = self::identity();
        $dsn = \defined('WP_LARDER_DSN') ? WP_LARDER_DSN : null;
        $store = $installed['store'] ?? null;
        $directory = $installed['directory'] ?? null;
        $isPool = $store === 'pool';
        $pool = $isPool ? 'wordpress-' . $identity : null;
        if (\is_string($dsn) && $dsn !== '') {
            $isPool = preg_match('/^shm:([A-Za-z0-9._-]{1,64})$/', $dsn, $named) === 1;
            $pool = $isPool ? $named[1] : null;
        } elseif ($store === 'server') {
            $dsn = Servers::dsn();
        } elseif (($store === 'sqlite' || $store === 'apcu') && \is_string($directory)) {
            $dsn = ($store === 'apcu' ? 'apcu: > ' : '') . "sqlite:{$directory}/{$identity}.db?size=64M&secret=" . self::secret();
        } else {
            $dsn = null;
        }

        return new self(
            $identity,
            $pool,
            \is_int($installed['size'] ?? null) ? $installed['size'] : null,
            $dsn,
            $dsn !== null,
            \is_string($directory) ? $directory : null,
            \is_int($installed['owner'] ?? null) ? $installed['owner'] : null,
            self::seconds('MAXTTL'),
            self::groups('IGNORED_GROUPS'),
            array_fill_keys(self::groups('UNFLUSHABLE_GROUPS'), true),
        );
    }

    /** What all keys begin with. */
    public function prefix(): string
    {
        return $this->isShared ? $this->identity . ':' : '';
    }

    /** The tag of everything that flush() flushes; null: the store is this site's alone, and all of it goes. */
    public function everything(): ?string
    {
        return $this->isShared || $this->kept !== [] ? $this->identity . ':everything' : null;
    }

    /** The file that tells the store what processes have deleted that could not reach it; null: there is no directory for one. */
    public function journal(): ?string
    {
        return $this->directory === null ? null : "{$this->directory}/{$this->identity}.journal";
    }

    /**
     * The database and its prefix are the truth that is cached, so that a copy of the site over another database has a
     * cache of its own, and the web and the command line share one wherever they find the files.
     */
    public static function identity(): string
    {
        $database = $GLOBALS['wpdb'] ?? null;
        // In a network WordPress gives the present site's prefix to the variable, later in the request.
        $parts = [($database instanceof \wpdb ? $database->base_prefix : '') ?: ($GLOBALS['table_prefix'] ?? '')];
        foreach (['DB_HOST', 'DB_NAME', 'WP_CACHE_KEY_SALT', 'WP_REDIS_PREFIX', 'WP_LARDER_PREFIX'] as $constant) {
            $parts[] = \defined($constant) ? \constant($constant) : '';
        }

        return substr(hash('sha256', serialize($parts)), 0, 12);
    }

    /**
     * What signs values, so that neighbours who share a machine cannot plant any. It is made of what only wp-config.php says, and
     * written nowhere: the drop-in may be read by all users.
     */
    private static function secret(): string
    {
        $said = '';
        foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'DB_PASSWORD'] as $name) {
            $said .= self::text($name);
        }

        return hash_hmac('sha256', 'larder', $said);
    }

    /** @return int the user that PHP runs as, also where its owner forbids the functions that tell; -1: it is not known */
    public static function user(): int
    {
        if (\function_exists('posix_geteuid')) {
            return posix_geteuid();
        }
        $file = tmpfile();
        $status = $file === false ? false : fstat($file);

        return $status === false ? -1 : $status['uid'];
    }

    /** A constant of wp-config.php, if it is a string; else an empty one. */
    public static function text(string $constant): string
    {
        $text = \defined($constant) ? \constant($constant) : '';

        return \is_string($text) ? $text : '';
    }

    private static function seconds(string $name): ?int
    {
        $seconds = self::constant($name);

        return is_numeric($seconds) && $seconds > 0 ? (int) $seconds : null;
    }

    /** @return list<string> */
    private static function groups(string $name): array
    {
        $groups = self::constant($name);

        return \is_array($groups) ? array_values(array_filter($groups, is_string(...))) : [];
    }

    /** Our own constant, or that of Redis Object Cache, which means the same. */
    private static function constant(string $name): mixed
    {
        foreach (["WP_LARDER_{$name}", "WP_REDIS_{$name}"] as $constant) {
            if (\defined($constant)) {
                return \constant($constant);
            }
        }

        return null;
    }
}
