<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** The page cache's part of the settings page, and its item in the admin bar. */
final class PagesScreen
{
    private const ACTIONS = ['enable', 'replace', 'disable', 'flush', 'site', 'page', 'save'];

    /** Lines that were left out which are shown. */
    private const MOST_REFUSED = 5;

    /** On a narrow screen WordPress shows icons alone, and only those of its own. The words are in the menu there. */
    private const STYLE = '#wpadminbar #wp-admin-bar-larder > .ab-item .ab-icon:before { top: 2px; }'
        . '@media screen and (min-width: 783px) { #wpadminbar #wp-admin-bar-larder-state { display: none; } }'
        . '@media screen and (max-width: 782px) { #wpadminbar li#wp-admin-bar-larder { display: block; position: static; }'
        . ' #wpadminbar #wp-admin-bar-larder > .ab-item .ab-icon:before { display: block; font-size: 32px; line-height: 46px; top: 0; } }';

    public function __construct(
        private readonly PageCache $pages,
    ) {}

    public function show(): void
    {
        $report = new PageReport($this->pages);
        $dropIn = $this->pages->dropIn;
        printf('<h2>%s</h2><p id="larder-pages-state"><strong>%s</strong></p>', esc_html__('Page cache', 'larder'), esc_html($report->state()));
        if (!$dropIn->isOurs()) {
            $this->button($dropIn->exists() ? 'replace' : 'enable', $dropIn->exists()
                /* translators: %s: the name of another plugin's drop-in. */
                ? sprintf(__('Replace the page cache of %s', 'larder'), $dropIn->name())
                : __('Enable the page cache', 'larder'));

            return;
        }
        $trouble = $this->pages->trouble();
        if ($trouble !== null) {
            printf('<div class="notice notice-warning inline"><p>%s</p></div>', esc_html($trouble));
        }
        if (!$report->isOn()) {
            printf('<p>%s</p><dl>', esc_html__('Put one of these lines into wp-config.php. The plugin does not do it.', 'larder'));
            foreach ($report->ways() as [$line, $what]) {
                printf('<dt><code>%s</code></dt><dd>%s</dd>', esc_html($line), esc_html($what));
            }
            echo '</dl>';
        }
        echo '<div style="margin:1em 0">';
        $this->button('flush', __('Clear all pages', 'larder'));
        $this->button('disable', __('Disable the page cache', 'larder'));
        echo '</div>';
        $this->form();
    }

    public function bar(\WP_Admin_Bar $bar): void
    {
        if (is_admin() || !current_user_can($this->capability()) || !$this->pages->dropIn->isOurs()) {
            return;
        }
        $uri = $_SERVER['REQUEST_URI'] ?? '/';
        // The host is the site's, whatever the request names.
        $url = preg_replace('~^(https?://[^/]+).*$~i', '$1', home_url()) . (\is_string($uri) ? $uri : '/');
        $explained = $this->pages->explain($url);
        $page = $explained['page'];
        $isCached = $page !== null && !isset($page['pass']);
        $state = esc_html($isCached ? __('Page cached for visitors', 'larder') : __('Page not cached', 'larder'));
        $settings = is_multisite() ? network_admin_url('settings.php?page=larder') : admin_url('options-general.php?page=larder');
        $bar->add_node([
            'id' => 'larder',
            'title' => '<span class="ab-icon dashicons-database" aria-hidden="true"></span><span class="ab-label">' . $state . '</span>',
            'href' => $settings,
            'meta' => ['title' => implode(' ', (new PageReport($this->pages))->explanation($explained))],
        ]);
        $bar->add_node(['id' => 'larder-state', 'parent' => 'larder', 'title' => $state]);
        if ($isCached) {
            $bar->add_node([
                'id' => 'larder-clear',
                'parent' => 'larder',
                'title' => esc_html__('Clear this page', 'larder'),
                'href' => wp_nonce_url(admin_url('admin-post.php?action=larder_pages&larder=page&larder-url=' . rawurlencode($url)), 'larder-pages'),
            ]);
        }
        $bar->add_node([
            'id' => 'larder-clear-site',
            'parent' => 'larder',
            'title' => esc_html__('Clear the pages of this site', 'larder'),
            'href' => wp_nonce_url(admin_url('admin-post.php?action=larder_pages&larder=site'), 'larder-pages'),
        ]);
        // A key and a finger open the menu of the item, and do not follow its link.
        $bar->add_node(['id' => 'larder-settings', 'parent' => 'larder', 'title' => esc_html__('Settings', 'larder'), 'href' => $settings]);
    }

    public static function style(): void
    {
        is_admin() || wp_add_inline_style('admin-bar', self::STYLE);
    }

    public function act(): never
    {
        $action = $_REQUEST['larder'] ?? '';
        if (!current_user_can($this->capability()) || !\is_string($action) || !\in_array($action, self::ACTIONS, true)) {
            wp_die(esc_html__('You may not do that.', 'larder'), '', ['response' => 403]);
        }
        check_admin_referer('larder-pages');
        $unknown = __('The store of pages does not answer.', 'larder');
        $url = $_REQUEST['larder-url'] ?? '';
        $mistake = match ($action) {
            'enable' => $this->pages->enable(),
            'replace' => $this->pages->enable(true),
            'disable' => $this->pages->disable(),
            'flush' => $this->pages->flush() ? null : $unknown,
            'site' => $this->pages->flush(get_current_blog_id()) ? null : $unknown,
            'page' => $this->pages->forget(\is_string($url) ? (string) wp_unslash($url) : ''),
            'save' => $this->save(),
        };
        $back = wp_get_referer();
        if (($action === 'page' || $action === 'site') && $mistake === null && $back !== false) {
            wp_safe_redirect($back);
            exit;
        }
        Notice::answer($action, $mistake);
    }

    private function form(): void
    {
        $options = $this->pages->options();
        printf(
            '<form method="post" action="%s" id="larder-pages-form"><input type="hidden" name="action" value="larder_pages"><input type="hidden" name="larder" value="save">%s<table class="form-table" role="presentation"><tbody>',
            esc_url(admin_url('admin-post.php')),
            wp_nonce_field('larder-pages', '_wpnonce', true, false),
        );
        printf(
            '<tr><th scope="row"><label for="larder-ttl">%s</label></th><td><input id="larder-ttl" name="larder-ttl" type="number" min="60" max="604800" value="%d" class="small-text"></td></tr>',
            esc_html__('Seconds that a page lives at most', 'larder'),
            \is_int($options['ttl'] ?? null) ? $options['ttl'] : PageCache::TTL,
        );
        printf(
            '<tr><th scope="row"><label for="larder-warm">%s</label></th><td><input id="larder-warm" name="larder-warm" type="number" min="0" max="%d" value="%d" class="small-text" aria-describedby="larder-warm-what"><p class="description" id="larder-warm-what">%s</p></td></tr>',
            esc_html__('Pages that are made anew after a change', 'larder'),
            PageWarming::MOST_PAGES,
            $this->pages->warming()->limit(),
            esc_html__('Those that visitors wait for most. WP-Cron makes one at a time, and none while the machine is busy. 0 makes none.', 'larder'),
        );
        if (($this->pages->installed()['store'] ?? null) === 'pool') {
            printf(
                '<tr><th scope="row"><label for="larder-stale">%s</label></th><td><input id="larder-stale" name="larder-stale" type="number" min="0" max="%d" value="%d" class="small-text" aria-describedby="larder-stale-what"><p class="description" id="larder-stale-what">%s</p></td></tr>',
                esc_html__('Seconds for which visitors may get the old page while a new one is made', 'larder'),
                PageCache::LONGEST_STALE,
                $this->pages->stale(),
                esc_html__('After a change of a public post, of stock or a new comment. A page that is cleared or made private is never shown again. 0: visitors wait for the new page.', 'larder'),
            );
        }
        foreach ($this->lists() as $name => [$label, $what]) {
            $lines = array_filter(\is_array($options[$name] ?? null) ? $options[$name] : [], is_string(...));
            printf(
                '<tr><th scope="row"><label for="larder-%1$s">%2$s</label></th><td><textarea id="larder-%1$s" name="larder-%1$s" rows="3" class="large-text code" aria-describedby="larder-%1$s-what">%3$s</textarea><p class="description" id="larder-%1$s-what">%4$s</p></td></tr>',
                esc_attr($name),
                esc_html($label),
                esc_textarea(implode("\n", $lines)),
                esc_html($what),
            );
        }
        printf('</tbody></table><p><button class="button button-primary">%s</button></p></form>', esc_html__('Save and clear all pages', 'larder'));
    }

    /** @return array<string, array{string, string}> name => [label, what it does] */
    private function lists(): array
    {
        return [
            'paths' => [__('Paths that are not cached', 'larder'), __('One a line, such as /live/*. A star at the end stands for anything.', 'larder')],
            'cookies' => [__('Cookies whose visitors get no cached page', 'larder'), __('One a line. Cookies that the plugin does not know are such already.', 'larder')],
            'agents' => [__('Browsers that get no cached page', 'larder'), __('A part of the name, one a line.', 'larder')],
            'harmless' => [__('Cookies that change no page', 'larder'), __('One a line, such as consent_*. Their visitors get cached pages.', 'larder')],
            'arguments' => [__('Arguments that name another page', 'larder'), __('One a line, such as orderby. A page is kept for each value.', 'larder')],
            'dropped' => [__('Arguments that change nothing', 'larder'), __('One a line. WordPress does not see them.', 'larder')],
        ];
    }

    /** @return array<string, mixed> what the form says in numbers */
    private function posted(): array
    {
        $ttl = $_POST['larder-ttl'] ?? '';
        $options = ['ttl' => \is_string($ttl) && preg_match('/^\d{1,6}$/D', $ttl) === 1 ? max(60, min(604_800, (int) $ttl)) : PageCache::TTL];
        $warm = $_POST['larder-warm'] ?? '';
        if (\is_string($warm) && preg_match('/^\d{1,6}$/D', $warm) === 1) {
            $options['warm'] = min(PageWarming::MOST_PAGES, (int) $warm);
        }
        $stale = $_POST['larder-stale'] ?? '';
        if (\is_string($stale) && preg_match('/^\d{1,6}$/D', $stale) === 1) {
            $options['stale'] = min(PageCache::LONGEST_STALE, (int) $stale);
        }

        return $options;
    }

    /** @return ?string what was not saved, in sentences */
    private function save(): ?string
    {
        $options = $this->posted();
        $sentences = [];
        foreach ($this->lists() as $name => [$label]) {
            $text = $_POST["larder-{$name}"] ?? '';
            $lines = array_unique(array_filter(array_map(trim(...), explode("\n", \is_string($text) ? (string) wp_unslash($text) : '')), static fn(string $line): bool => $line !== ''));
            $kept = array_filter($lines, static fn(string $line): bool => PageRules::of($name, $line) !== '');
            $options[$name] = \array_slice(array_values($kept), 0, PageRules::MOST);
            $refused = array_map(static fn(string $line): string => mb_substr($line, 0, 60) . (mb_strlen($line) > 60 ? '…' : ''), array_values(array_diff($lines, $kept)));
            if ($refused !== []) {
                $rest = \count($refused) - self::MOST_REFUSED;
                /* translators: %d: a number of lines. */
                $named = implode(', ', [...\array_slice($refused, 0, self::MOST_REFUSED), ...$rest > 0 ? [sprintf(__('and %d more', 'larder'), $rest)] : []]);
                /* translators: 1: the name of a setting, 2: the lines, 3: a sentence that says how such lines are written. */
                $sentences[] = sprintf(__('%1$s: these lines match nothing, and were left out: %2$s. %3$s', 'larder'), $label, $named, PageRules::sentence($name));
            }
            if (\count($kept) > PageRules::MOST) {
                /* translators: 1: the name of a setting, 2: a number of lines. */
                $sentences[] = sprintf(__('%1$s: only the first %2$d lines were kept.', 'larder'), $label, PageRules::MOST);
            }
        }
        $mistake = $this->pages->configure([...$this->pages->options(), ...$options]);
        if ($mistake !== null) {
            return $mistake;
        }

        return $sentences === [] ? null : implode(' ', [__('The settings are saved, without some lines.', 'larder'), ...$sentences]);
    }

    private function button(string $action, string $label): void
    {
        printf(
            '<form method="post" action="%s" style="display:inline-block;margin-inline-end:1em"><input type="hidden" name="action" value="larder_pages"><input type="hidden" name="larder" value="%s">%s<button class="button">%s</button></form>',
            esc_url(admin_url('admin-post.php')),
            esc_attr($action),
            wp_nonce_field('larder-pages', '_wpnonce', true, false),
            esc_html($label),
        );
    }

    private function capability(): string
    {
        return is_multisite() ? 'manage_network_options' : 'manage_options';
    }
}
