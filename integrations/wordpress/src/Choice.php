<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Which store a site uses, and why. */
final class Choice
{
    private const SMALL_POOL = 16 << 20;

    private const POOL = 64 << 20;

    /** Bytes that /dev/shm has to have for a pool of the usual size. */
    private const ROOM = 256 << 20;

    /**
     * @param ?string $store 'pool', 'server', 'apcu' (in front of SQLite) or 'sqlite'; null: none can be used
     * @param string  $title what people call it
     * @param string  $why   in a sentence
     * @param ?int    $size  bytes of a pool
     */
    private function __construct(
        public readonly ?string $store,
        public readonly string $title,
        public readonly string $why,
        public readonly ?int $size = null,
    ) {}

    /** @param ?string $directory of a database; null: there is none that may hold one */
    public static function make(?string $directory): self
    {
        if (Settings::text('WP_LARDER_DSN') !== '') {
            return new self('server', __('the store that WP_LARDER_DSN names', 'larder'), __('wp-config.php says so.', 'larder'));
        }
        if (Servers::dsn() !== null) {
            return new self('server', __('the server that wp-config.php names', 'larder'), __('wp-config.php names it for another object cache; a store of this machine alone would not be seen by other machines of the site.', 'larder'));
        }
        if (\extension_loaded('larder')) {
            $room = @disk_free_space('/dev/shm');

            return new self(
                'pool',
                __('shared memory', 'larder'),
                __('The extension larder is loaded: every process of this user on this machine shares its memory.', 'larder'),
                $room !== false && $room < self::ROOM ? self::SMALL_POOL : self::POOL,
            );
        }
        if (!\extension_loaded('sqlite3')) {
            return new self(null, __('nothing', 'larder'), __('Neither the extension larder nor sqlite3 is loaded, and wp-config.php names no server; ask the host for one of them.', 'larder'));
        }
        if ($directory === null) {
            return new self(null, __('nothing', 'larder'), __('There is no directory that PHP may write to for a database; make wp-content writable, or name one as WP_LARDER_DIRECTORY in wp-config.php.', 'larder'));
        }
        if (\function_exists('apcu_enabled') && apcu_enabled()) {
            return new self('apcu', __('APCu in front of SQLite', 'larder'), __('APCu is fast, and the database lets WP-CLI and cron take part.', 'larder'));
        }

        return new self('sqlite', 'SQLite', __('It needs no server, and all processes of this machine share it.', 'larder'));
    }
}
