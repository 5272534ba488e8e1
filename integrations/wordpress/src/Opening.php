<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;

/** Opens the object cache that the drop-in and wp-config.php say. */
final class Opening
{
    private function __construct() {}

    public static function open(): ObjectCache
    {
        try {
            $cache = self::with(Settings::ofThisSite(), PHP_SAPI !== 'cli' && Sample::takes());
        } catch (\Error $failure) {
            // Such as a class whose file is gone, where the plugin was removed in part.
            $cache = new ObjectCache(new NoBackend("The plugin could not open its store ({$failure->getMessage()}); install the plugin anew."));
        }
        // Of two processes one may have read a row that the other has deleted, or not have read one that the other has added.
        // And one that has read neither list in time keeps the row by itself, which core does not delete with the list's.
        add_action('deleted_option', static fn(string $option) => $cache->rows_changed(['alloptions', $option], 'options'));
        // WordPress keeps a number as it was given, and reads it as a text later, when it asks the database.
        $isText = static fn(mixed $value): bool => $value !== null && (!\is_scalar($value) || \is_string($value));
        add_action('updated_option', static fn(string $option, mixed $before, mixed $value) => $isText($value) || $cache->rows_changed(['alloptions', $option], 'options'), \PHP_INT_MIN, 3);
        add_action('added_option', static fn(string $option, mixed $value) => $cache->rows_changed($isText($value) ? ['notoptions'] : ['notoptions', 'alloptions', $option], 'options'), \PHP_INT_MIN, 2);
        add_action('update_site_option', static fn(string $option, mixed $value, mixed $before, int $network) => $isText($value) || $cache->rows_changed(["{$network}:{$option}"], 'site-options'), \PHP_INT_MIN, 4);
        add_action('add_site_option', static fn(string $option, mixed $value, int $network) => $cache->rows_changed(["{$network}:notoptions", ...$isText($value) ? [] : ["{$network}:{$option}"]], 'site-options'), \PHP_INT_MIN, 3);

        return $cache;
    }

    /** @param bool $isMeasured whether this request times its calls */
    public static function with(Settings $settings, bool $isMeasured = false): ObjectCache
    {
        $store = self::backend($settings);
        $backend = apply_filters('larder_backend', $store);
        $backend = $backend instanceof Backend ? $backend : new NoBackend('The filter larder_backend gave back no backend.');
        if ($store instanceof CacheBackend && $store->isFar() && !(\defined('WP_LARDER_PREFETCH') && WP_LARDER_PREFETCH === false)) {
            $backend = self::prefetching($backend, $settings);
        }
        if ($isMeasured && $backend->trouble() === null) {
            $backend = new Measured($backend, $settings->prefix());
        }
        $cache = new ObjectCache($backend, $settings->prefix(), $settings->everything(), $settings->maxTtl, $settings->kept);
        $cache->add_non_persistent_groups($settings->ignored);
        if (PHP_SAPI === 'cli' && $settings->directory !== null) {
            $heard = "{$settings->directory}/heard-on-the-command-line";
            Directory::asOwner($settings->directory, static function () use ($heard): void {
                is_file($heard) ? @touch($heard) : Directory::put($heard, '');
            });
        }

        return $cache;
    }

    private static function backend(Settings $settings): Backend
    {
        if ($settings->pool === null || !\class_exists(SharedMemory::class, false) || !self::isShared($settings)) {
            return Library::backend($settings);
        }
        try {
            $pool = self::pool($settings->pool, $settings->size);
        } catch (PoolUnusable|\ValueError $refused) {
            return new NoBackend($refused->getMessage());
        }
        $journal = $settings->journal();
        $undelivered = $journal !== null && is_file($journal) && filesize($journal) > 0 ? Library::deliver($settings, $pool) : null;

        return $undelivered ?? new PoolBackend($pool);
    }

    private static function prefetching(Backend $backend, Settings $settings): Backend
    {
        $request = RequestName::ofThis();
        $everything = $settings->everything();

        return $request === null ? $backend : new Prefetch($backend, $request, $settings->prefix(), $everything === null ? [] : [$everything]);
    }

    /** Each user has pools of its own, unless the setting larder.group says otherwise. */
    private static function isShared(Settings $settings): bool
    {
        return $settings->owner === null || \ini_get('larder.group') !== '' || $settings->owner === Settings::user();
    }

    private static function pool(string $name, ?int $size): SharedMemory
    {
        try {
            return SharedMemory::open($name, $size);
        } catch (PoolUnusable $refused) {
            // One that is there already may have another size.
            return $size === null ? throw $refused : SharedMemory::open($name);
        }
    }
}
