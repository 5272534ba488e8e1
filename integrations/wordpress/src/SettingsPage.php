<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** The page under Settings, in a network under that of the network. */
final class SettingsPage
{
    private const ACTIONS = ['enable', 'replace', 'disable', 'flush', 'resize'];

    public function __construct(
        private readonly Plugin $plugin,
    ) {}

    public function hook(): void
    {
        add_action(is_multisite() ? 'network_admin_menu' : 'admin_menu', function (): void {
            add_submenu_page(is_multisite() ? 'settings.php' : 'options-general.php', 'Larder', 'Larder', $this->capability(), 'larder', $this->show(...));
        });
        add_action('admin_post_larder', $this->act(...));
        add_action(is_multisite() ? 'network_admin_notices' : 'admin_notices', Notice::show(...));
    }

    private function show(): void
    {
        $report = new Report($this->plugin);
        $heard = $report->commandLineHeard();
        $problems = $report->problems();
        echo '<div class="wrap"><h1>Larder</h1>';
        printf('<p id="larder-state"><strong>%s</strong></p><p>%s</p>', esc_html($report->state()), esc_html($report->why()));
        if ($problems !== []) {
            echo '<div class="notice notice-warning inline"><ul>';
            foreach ($problems as $problem) {
                printf('<li>%s</li>', esc_html($problem));
            }
            echo '</ul></div>';
        }
        printf(
            '<p>%s</p>',
            esc_html($heard === null
                ? __('No command line (WP-CLI or cron) has used this cache yet.', 'larder')
                /* translators: %s: a length of time, such as "5 minutes". */
                : sprintf(__('A command line last used this cache %s ago.', 'larder'), human_time_diff($heard))),
        );
        $figures = $report->figures();
        if ($figures !== []) {
            echo '<table class="widefat striped" style="max-width:30em"><tbody>';
            foreach ($figures as [$name, $figure]) {
                printf('<tr><th scope="row">%s</th><td>%s</td></tr>', esc_html($name), esc_html($figure));
            }
            echo '</tbody></table>';
        }
        $size = Settings::ofThisSite()->pool === null ? null : ObjectCache::current()?->backend()->statistics()['size'] ?? null;
        if (\is_int($size)) {
            $this->sizeForm($size);
        }
        echo '<div style="margin:1.5em 0">';
        if (!$report->isOn()) {
            $isForeign = $this->plugin->dropIn->exists() && !$this->plugin->dropIn->isOurs();
            $this->button($isForeign ? 'replace' : 'enable', $isForeign
                /* translators: %s: the name of another plugin's drop-in. */
                ? sprintf(__('Replace the object cache of %s', 'larder'), $this->plugin->dropIn->name())
                : __('Enable the object cache', 'larder'), true);
        } else {
            $this->button('flush', __('Flush the object cache', 'larder'), true);
            $this->button('disable', __('Disable the object cache', 'larder'), false);
        }
        echo '</div>';
        (new PagesScreen($this->plugin->pages))->show();
        echo '</div>';
    }

    private function button(string $action, string $label, bool $isPrimary): void
    {
        printf(
            '<form method="post" action="%s" style="display:inline-block;margin-inline-end:1em"><input type="hidden" name="action" value="larder"><input type="hidden" name="larder" value="%s">%s<button class="button %s">%s</button></form>',
            esc_url(admin_url('admin-post.php')),
            esc_attr($action),
            wp_nonce_field('larder', '_wpnonce', true, false),
            $isPrimary ? 'button-primary' : '',
            esc_html($label),
        );
    }

    private function sizeForm(int $size): void
    {
        printf(
            '<form method="post" action="%s" style="margin:1em 0"><input type="hidden" name="action" value="larder"><input type="hidden" name="larder" value="resize">%s<label for="larder-size">%s</label> <input id="larder-size" name="larder-size" type="number" min="4" max="1048576" step="1" value="%d" class="small-text" required> <button class="button">%s</button><p class="description">%s</p></form>',
            esc_url(admin_url('admin-post.php')),
            wp_nonce_field('larder', '_wpnonce', true, false),
            esc_html__('Size of the pool in MB', 'larder'),
            (int) ceil($size / (1 << 20)),
            esc_html__('Change the size', 'larder'),
            esc_html__('The cached items stay, and the site goes on meanwhile.', 'larder'),
        );
    }

    /** @return int bytes; 0: it is no number of megabytes, which no pool can have */
    private function bytes(mixed $megabytes): int
    {
        return \is_string($megabytes) && preg_match('/^\d{1,7}$/', $megabytes) === 1 ? (int) $megabytes << 20 : 0;
    }

    private function act(): never
    {
        $action = $_POST['larder'] ?? '';
        if (!current_user_can($this->capability()) || !\in_array($action, self::ACTIONS, true)) {
            wp_die(esc_html__('You may not do that.', 'larder'), '', ['response' => 403]);
        }
        check_admin_referer('larder');
        $mistake = match ($action) {
            'enable' => $this->plugin->enable(),
            'replace' => $this->plugin->enable(true),
            'disable' => $this->plugin->disable(),
            'resize' => $this->plugin->resize($this->bytes($_POST['larder-size'] ?? '')),
            'flush' => wp_cache_flush() ? null : __('The store could not be flushed; it does not answer.', 'larder'),
        };
        Notice::answer($action, $mistake);
    }

    private function capability(): string
    {
        return is_multisite() ? 'manage_network_options' : 'manage_options';
    }
}
