<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;

/** What WordPress knows of the plugin: its hooks, and its life from activation to removal. */
final class Plugin
{
    public const VERSION = '0.1.0';

    public readonly DropIn $dropIn;

    public readonly PageCache $pages;

    private readonly Transactions $transactions;

    public function __construct(
        string $folder,
    ) {
        $this->dropIn = new DropIn($folder, WP_CONTENT_DIR);
        $this->transactions = new Transactions(ObjectCache::current());
        $this->pages = new PageCache($this, $folder, $this->transactions);
    }

    public static function start(string $file): void
    {
        // Every page asks it at its end. Where its file is gone, nothing is hooked.
        \class_exists(ObjectCache::class) || throw new \Error('the class ' . ObjectCache::class . ' is missing');
        $plugin = new self(\dirname($file));
        register_activation_hook($file, static function () use ($plugin): void {
            $plugin->enable();
            // It does nothing before wp-config.php says so; where another plugin has one, that stays.
            $plugin->pages->enable();
        });
        register_deactivation_hook($file, static function () use ($plugin): void {
            $plugin->pages->disable();
            $plugin->disable();
            wp_clear_scheduled_hook(Measurement::EVENT);
            Measurement::clean();
        });
        $plugin->transactions->hook();
        $plugin->pages->hook();
        (new Saves(Settings::ofThisSite(), $plugin->pages->isVisit(...), $plugin->forget(...)))->hook($plugin->transactions);
        // Before WordPress closes the object cache, which is where it goes.
        add_action('shutdown', $plugin->keepPurge(...), \PHP_INT_MAX);
        add_action('larder_measured', [Measurement::class, 'clean']);
        // Visitors are told nothing, so their pages read no translations.
        $translate = static fn(): bool => load_plugin_textdomain('larder', false, basename(\dirname($file)) . '/languages');
        if (is_admin() || (\defined('WP_CLI') && WP_CLI)) {
            add_action('init', $translate);
        }
        add_action('rest_api_init', static function () use ($plugin, $translate): void {
            $translate();
            (new Endpoint($plugin))->register();
        });
        add_action('admin_bar_init', [PagesScreen::class, 'style']);
        add_action('admin_bar_menu', static function (\WP_Admin_Bar $bar) use ($plugin, $translate): void {
            is_admin() || $translate();
            (new PagesScreen($plugin->pages))->bar($bar);
        }, 90);
        // A cache that is off until the owner looks would be off for long.
        add_action(Settings::isOutdated() && PHP_SAPI !== 'cli' ? 'init' : 'admin_init', $plugin->keepUp(...));
        if (is_admin()) {
            (new SettingsPage($plugin))->hook();
            (new DashboardPage($plugin, \dirname($file)))->hook();
            add_action('admin_post_larder_pages', static function () use ($plugin): void {
                (new PagesScreen($plugin->pages))->act();
            });
        }
        // Classes are loaded when a page needs what is in them, which few do.
        add_filter('site_status_tests', $plugin->siteTests(...));
        add_filter('debug_information', $plugin->siteInformation(...));
        add_filter('qm/collectors', [QueryMonitor::class, 'collectors']);
        add_filter('qm/outputter/html', [QueryMonitor::class, 'outputs'], 101);
        if (\defined('WP_CLI') && WP_CLI) {
            \WP_CLI::add_command('larder', new CommandLine($plugin));
        }
    }

    /** @param string $folder of the plugin */
    public static function uninstall(string $folder): void
    {
        $plugin = new self($folder);
        $settings = $plugin->settings();
        $plugin->pages->disable();
        is_multisite() ? delete_site_option(PageCache::OPTION) : delete_option(PageCache::OPTION);
        $plugin->disable();
        // What still waits would make the pool anew.
        $GLOBALS['wp_object_cache'] = new ObjectCache(new NoBackend('The plugin is being removed.'));
        if ($settings->isShared) {
            // The server is not the plugin's, and keeps what is not taken off it.
            $store = $settings->pool === null ? Library::backend($settings) : Opening::with($settings)->backend();
            foreach (array_chunk(iterator_to_array($store->keys($settings->prefix()), false), 500) as $names) {
                $store->delete($names);
            }
        }
        $directory = Directory::find(Settings::identity());
        if ($directory !== null) {
            Directory::remove($directory);
        }
        if (\class_exists(SharedMemory::class, false)) {
            try {
                SharedMemory::remove('wordpress-' . $settings->identity);
            } catch (PoolUnusable) {
                // Another process is at it, or it is another user's.
            }
        }
    }

    /**
     * Writes the drop-in and begins with an empty store.
     *
     * @return ?string why not, in a sentence
     */
    public function enable(bool $overForeign = false): ?string
    {
        $installed = $this->toInstall();
        if ($installed === null) {
            return $this->choice()->why;
        }
        $settings = Settings::of($installed);
        $cache = Opening::with($settings);
        // Root, for instance, does not share the web server's pool. What it flushes the web reads in the journal, before anything else.
        if ($cache->trouble() !== null && ($settings->pool === null || !$cache->backend() instanceof CacheBackend)) {
            return $cache->trouble();
        }

        return $this->begin($cache, $installed, $overForeign);
    }

    /**
     * @param array<string, mixed> $installed
     *
     * @return ?string why not, in a sentence
     */
    private function begin(ObjectCache $cache, array $installed, bool $overForeign = false): ?string
    {
        $mistake = $this->dropIn->write($installed, $overForeign);
        // Where it cannot be written, the store may be that of other machines, which each request would flush.
        if ($mistake === null) {
            $cache->flush();
            $this->dropTransients();
        }

        return $mistake;
    }

    /** @return ?string why not, in a sentence */
    public function disable(): ?string
    {
        return $this->dropIn->remove();
    }

    /**
     * Gives the pool another size and keeps what is in it, while requests go on; for them some reads are misses meanwhile.
     *
     * @param int $size bytes
     *
     * @return ?string why not, in a sentence
     */
    public function resize(int $size): ?string
    {
        $pool = Settings::ofThisSite()->pool;
        if ($pool === null || !\class_exists(SharedMemory::class, false)) {
            return __('Only a pool of shared memory has a size that can be changed here; the store in use is another one.', 'larder');
        }
        try {
            SharedMemory::resize($pool, $size);
        } catch (PoolUnusable|\ValueError $refused) {
            return $refused->getMessage();
        }
        $installed = $this->toInstall();

        return $installed === null ? null : $this->dropIn->write([...$installed, 'size' => $size]);
    }

    /**
     * Our drop-in is written anew where the plugin has another version now. If it used another store, or none, that one has not heard
     * of what was changed meanwhile, and is begun empty.
     */
    public function keepUp(): void
    {
        $this->pages->keepUp();
        $installed = $this->toInstall();
        if ($installed === null || !$this->dropIn->isOurs()) {
            return;
        }
        $used = Settings::installed();
        $same = array_fill_keys(['format', 'store', 'names', 'directory'], true);
        if (array_intersect_key($installed, $same) == array_intersect_key($used, $same) || (\defined('WP_LARDER_DISABLED') && WP_LARDER_DISABLED)) {
            $this->dropIn->write($installed);

            return;
        }
        $settings = Settings::of($installed);
        $cache = Opening::with($settings);
        // One that does not answer is told by the journal that it is empty, before anything is read from it.
        if ($cache->trouble() === null || $settings->journal() !== null) {
            $this->begin($cache, $installed);
        }
    }

    /** Ends all that the caches keep, where it is not known what of it a change concerns. */
    public function forget(string $why): bool
    {
        return wp_cache_flush() && $this->pages->kill(['network'], $why);
    }

    /** @return ?int the site with this number; null: there is none */
    public static function site(string $number): ?int
    {
        $site = ctype_digit($number) ? (int) $number : 0;

        // WordPress takes 0 for the present one.
        return $site > 0 && (is_multisite() ? get_site($site) !== null : $site === get_current_blog_id()) ? $site : null;
    }

    public function choice(): Choice
    {
        return Choice::make(Directory::find(Settings::identity()));
    }

    public function settings(): Settings
    {
        return Settings::of($this->toInstall() ?? []);
    }

    /**
     * @param array<string, array<string, mixed>> $tests
     *
     * @return array<string, array<string, mixed>>
     */
    private function siteTests(array $tests): array
    {
        return (new SiteHealth($this))->tests($tests);
    }

    /**
     * @param array<string, array<string, mixed>> $information
     *
     * @return array<string, array<string, mixed>>
     */
    private function siteInformation(array $information): array
    {
        return (new SiteHealth($this))->information($information);
    }

    /** @return array<string, mixed>|null what the drop-in is to be written with; null: there is no store */
    public function toInstall(): ?array
    {
        $choice = $this->choice();
        $here = Settings::ofThisSite();

        return $choice->store === null ? null : [
            'format' => Settings::FORMAT,
            'store' => $choice->store,
            'names' => Settings::names(),
            'size' => $here->size ?? $choice->size,
            'directory' => Directory::find(Settings::identity()),
            // On the command line another user may run this.
            'owner' => PHP_SAPI === 'cli' ? $here->owner ?? Directory::owner() ?? (fileowner(WP_CONTENT_DIR) ?: Settings::user()) : Settings::user(),
        ];
    }

    private function keepPurge(): void
    {
        $flushes = ObjectCache::current()?->flushes() ?? [];
        $reasons = $this->pages->reasons();
        if ($flushes !== [] || $reasons !== []) {
            Figures::keepPurge([...$flushes, ...$reasons]);
        }
    }

    /** Transients that the database kept would come back, long out of date, when the cache is gone. */
    private function dropTransients(): void
    {
        $wpdb = $GLOBALS['wpdb'] ?? null;
        if (!$wpdb instanceof \wpdb) {
            return;
        }
        $wpdb->query("DELETE FROM {$wpdb->options} WHERE option_name LIKE '\\_transient\\_%' OR option_name LIKE '\\_site\\_transient\\_%'");
        if (is_multisite()) {
            $wpdb->query("DELETE FROM {$wpdb->sitemeta} WHERE meta_key LIKE '\\_site\\_transient\\_%'");
        }
        wp_cache_delete('alloptions', 'options');
    }
}
