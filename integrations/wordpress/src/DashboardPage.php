<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** The page under Dashboard, of a site and of a network. It says the state. Endpoint has the figures that it draws. */
final class DashboardPage
{
    private const SLUG = 'larder-dashboard';

    /** @param string $folder of the plugin */
    public function __construct(
        private readonly Plugin $plugin,
        private readonly string $folder,
    ) {}

    public function hook(): void
    {
        foreach (['admin_menu', 'network_admin_menu'] as $menu) {
            add_action($menu, function (): void {
                add_submenu_page('index.php', 'Larder', 'Larder', Endpoint::capability(), self::SLUG, $this->show(...));
            });
        }
        add_action('admin_enqueue_scripts', $this->load(...));
    }

    private function show(): void
    {
        printf('<div class="wrap larder-dashboard"><h1>Larder</h1>');
        foreach ([(new Report($this->plugin))->state(), (new PageReport($this->plugin->pages))->state()] as $i => $state) {
            printf('<p%s><strong>%s</strong></p>', $i === 0 ? ' id="larder-state"' : '', esc_html($state));
        }
        printf('<div id="larder-dashboard"><noscript>%s</noscript></div></div>', esc_html__('The figures need JavaScript. WP-CLI has them, too: wp larder stats.', 'larder'));
    }

    private function load(mixed $page): void
    {
        if ($page !== 'dashboard_page_' . self::SLUG && $page !== 'index_page_' . self::SLUG) {
            return;
        }
        $url = fn(string $file): string => plugins_url("assets/{$file}", "{$this->folder}/larder.php");
        wp_enqueue_style('larder-uplot', $url('uplot/uPlot.min.css'), [], Plugin::VERSION);
        wp_enqueue_style('larder-dashboard', $url('dashboard.css'), ['wp-components', 'larder-uplot'], Plugin::VERSION);
        wp_enqueue_script('larder-uplot', $url('uplot/uPlot.iife.min.js'), [], Plugin::VERSION, true);
        wp_enqueue_script('larder-dashboard', $url('dashboard.js'), ['wp-a11y', 'wp-api-fetch', 'wp-components', 'wp-dom-ready', 'wp-element', 'wp-i18n', 'larder-uplot'], Plugin::VERSION, true);
        wp_set_script_translations('larder-dashboard', 'larder', "{$this->folder}/languages");
        wp_add_inline_script('larder-dashboard', 'window.larderDashboard = ' . wp_json_encode([
            'isNetwork' => is_multisite(),
            'site' => get_current_blog_id(),
            'transients' => Measurement::NUMBER,
            'settings' => (is_multisite() ? network_admin_url('settings.php?page=larder') : admin_url('options-general.php?page=larder')) . '#larder-pages-form',
        ]) . ';', 'before');
    }
}
