<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use PHPUnit\Framework\Assert;

/** Changes the site of the oracle (oracle/site.inc) in the ways of its owner. */
final class Editor
{
    private string $cookie = '';

    /** @var array<array-key, mixed> by kind and name, what the site was made of */
    private readonly array $ids;

    public function __construct(
        private readonly PageSite $site,
    ) {
        $this->ids = (array) json_decode((string) file_get_contents("{$site->site->root}/wp-content/ids.json"), true);
    }

    /** @return array<string, \Closure(): string> all changes by name; each gives back what the site said */
    public function changes(): array
    {
        $changes = [];
        foreach ((array) json_decode($this->site->run('echo json_encode(array_keys(Oracle\changes()));'), true) as $name) {
            if (\is_string($name)) {
                $changes["code: {$name}"] = fn(): string => $this->code("Oracle\\changes()[\$argv[1]]();", [$name]);
            }
        }

        return [...$changes, ...$this->byForms(), ...$this->byRest(), ...$this->otherwise()];
    }

    /** @return array<string, \Closure(): string> as a browser in wp-admin changes it */
    private function byForms(): array
    {
        $customize = function (array $settings): string {
            $theme = $this->site->run('echo get_stylesheet();');

            $said = $this->form('/wp-admin/admin-ajax.php', ['nonce' => "save-customize_{$theme}"], ['action' => 'customize_save', 'wp_customize' => 'on', 'customize_theme' => $theme, 'customize_changeset_uuid' => self::uuid(), 'customize_changeset_status' => 'publish', 'customize_changeset_data' => (string) json_encode(array_map(static fn(mixed $value): array => ['value' => $value], $settings))]);
            Assert::assertStringContainsString('"success":true', $said);

            return $said;
        };

        return [
            'wp-admin: a post is edited' => fn(): string => $this->form('/wp-admin/post.php', ['_wpnonce' => "update-post_{$this->id('post', 'first')}"], ['action' => 'editpost', 'post_ID' => (string) $this->id('post', 'first'), 'post_type' => 'post', 'user_ID' => '1', 'post_author' => '1', 'original_post_status' => 'publish', 'post_status' => 'publish', 'save' => 'Update', 'visibility' => 'public', 'post_title' => self::word(), 'content' => self::word(), 'post_name' => 'first']),
            'wp-admin: a post gets a password' => fn(): string => $this->form('/wp-admin/post.php', ['_wpnonce' => "update-post_{$this->id('post', 'victim-7')}"], ['action' => 'editpost', 'post_ID' => (string) $this->id('post', 'victim-7'), 'post_type' => 'post', 'user_ID' => '1', 'post_author' => '1', 'post_status' => 'publish', 'save' => 'Update', 'visibility' => 'password', 'post_password' => 'p', 'post_title' => self::word(), 'content' => self::word()]),
            'wp-admin: quick edit' => fn(): string => $this->ajax('inline-save', 'inlineeditnonce', ['post_ID' => (string) $this->id('post', 'second'), 'post_type' => 'post', 'post_title' => self::word(), 'post_name' => 'second', 'mm' => '05', 'jj' => '25', 'aa' => '2020', 'hh' => '10', 'mn' => '34', 'ss' => '00', '_status' => 'publish', 'post_author' => '1', 'post_category[]' => (string) $this->id('term', 'dark'), 'tax_input[post_tag]' => 'hard', 'comment_status' => 'open', 'post_view' => 'list', 'screen' => 'edit-post', 'edit_date' => 'true'], '_inline_edit'),
            'wp-admin: quick edit of a term' => fn(): string => $this->ajax('inline-save-tax', 'taxinlineeditnonce', ['tax_ID' => (string) $this->id('term', 'blue'), 'taxonomy' => 'category', 'name' => 'blue ' . self::word(), 'slug' => 'blue', 'screen' => 'edit-category'], '_inline_edit'),
            'wp-admin: bulk edit' => fn(): string => $this->form('/wp-admin/edit.php', ['_wpnonce' => 'bulk-posts'], ['action' => 'edit', 'bulk_edit' => 'Update', 'post_type' => 'post', 'post[0]' => (string) $this->id('post', 'third'), 'post[1]' => (string) $this->id('post', 'victim-11'), '_status' => '-1', 'post_author' => (string) $this->id('user', 'editor'), 'post_category[]' => (string) $this->id('term', 'empty'), 'comment_status' => 'closed', 'ping_status' => '', 'sticky' => 'sticky', 'post_format' => '-1'], 'GET'),
            'wp-admin: bulk trash' => fn(): string => $this->form('/wp-admin/edit.php', ['_wpnonce' => 'bulk-posts'], ['action' => 'trash', 'post_type' => 'post', 'post[0]' => (string) $this->id('post', 'draft-4'), 'post[1]' => (string) $this->id('post', 'victim-9')], 'GET'),
            'wp-admin: a category is new' => fn(): string => $this->ajax('add-tag', 'add-tag', ['taxonomy' => 'category', 'tag-name' => self::word(), 'slug' => '', 'parent' => (string) $this->id('term', 'red'), 'screen' => 'edit-category'], '_wpnonce_add-tag'),
            'wp-admin: a category is edited' => fn(): string => $this->form('/wp-admin/edit-tags.php', ['_wpnonce' => "update-tag_{$this->id('term', 'red')}"], ['action' => 'editedtag', 'tag_ID' => (string) $this->id('term', 'red'), 'taxonomy' => 'category', 'name' => 'red ' . self::word(), 'slug' => 'red', 'parent' => '-1', 'description' => self::word()]),
            'wp-admin: tags are deleted' => fn(): string => $this->form('/wp-admin/edit-tags.php', ['_wpnonce' => 'bulk-tags'], ['action' => 'delete', 'taxonomy' => 'post_tag', 'delete_tags[]' => (string) $this->id('term', 'soft')]),
            'wp-admin: a comment is approved' => fn(): string => $this->ajax('dim-comment', "approve-comment_{$this->id('comment', 'dora')}", ['id' => (string) $this->id('comment', 'dora'), 'dimClass' => 'unapproved', 'new' => 'approved']),
            'wp-admin: a comment goes to the trash' => fn(): string => $this->ajax('delete-comment', "delete-comment_{$this->id('comment', 'hans')}", ['id' => (string) $this->id('comment', 'hans'), 'trash' => '1']),
            'wp-admin: a comment is answered' => fn(): string => $this->ajax('replyto-comment', 'replyto-comment', ['comment_post_ID' => (string) $this->id('post', 'first'), 'comment_ID' => (string) $this->id('comment', 'anna'), 'content' => self::word(), 'mode' => 'dashboard'], '_ajax_nonce-replyto-comment'),
            'wp-admin: a comment is edited' => fn(): string => $this->ajax('edit-comment', 'replyto-comment', ['comment_ID' => (string) $this->id('comment', 'emil'), 'content' => self::word(), 'newcomment_author' => self::word(), 'status' => '1', 'position' => '1', 'checkbox' => '1', 'mode' => 'detail'], '_ajax_nonce-replyto-comment'),
            'wp-admin: comments are spam' => fn(): string => $this->form('/wp-admin/edit-comments.php', ['_wpnonce' => 'bulk-comments'], ['action' => 'spam', 'delete_comments[0]' => (string) $this->id('comment', 'bert'), 'delete_comments[1]' => (string) $this->id('comment', 'carl')], 'GET'),
            'a visitor comments' => fn(): string => (string) $this->site->visit('/wp-comments-post.php', [], 'POST', ['comment' => self::word(), 'author' => self::word(), 'email' => self::word() . '@example.com', 'comment_post_ID' => (string) $this->id('post', 'first')])->status,
            'wp-admin: how one reads' => fn(): string => $this->form('/wp-admin/options.php', ['_wpnonce' => 'reading-options'], ['option_page' => 'reading', 'action' => 'update', 'show_on_front' => 'posts', 'posts_per_page' => (string) random_int(2, 6), 'posts_per_rss' => (string) random_int(2, 6), 'rss_use_excerpt' => (string) random_int(0, 1), 'blog_public' => '1']),
            'wp-admin: the form of addresses' => fn(): string => $this->form('/wp-admin/options-permalink.php', ['_wpnonce' => 'update-permalink'], ['selection' => 'custom', 'permalink_structure' => '/%postname%/', 'category_base' => '', 'tag_base' => ['label', 'sign'][random_int(0, 1)]]),
            'wp-admin: a plugin is switched on' => function (): string {
                $this->code('require_once ABSPATH . "wp-admin/includes/plugin.php"; deactivate_plugins("other.php");');

                return $this->form('/wp-admin/plugins.php', ['_wpnonce' => 'activate-plugin_other.php'], ['action' => 'activate', 'plugin' => 'other.php'], 'GET');
            },
            'wp-admin: another theme' => function (): string {
                $theme = $this->site->run('echo get_stylesheet() === "oracle" ? "twentytwentythree" : "oracle";');

                return $this->form('/wp-admin/themes.php', ['_wpnonce' => "switch-theme_{$theme}"], ['action' => 'activate', 'stylesheet' => $theme], 'GET');
            },
            'wp-admin: a user is renamed' => fn(): string => $this->form('/wp-admin/user-edit.php', ['_wpnonce' => "update-user_{$this->id('user', 'writer')}"], ['action' => 'update', 'user_id' => (string) $this->id('user', 'writer'), 'email' => 'writer@example.com', 'nickname' => $nickname = self::word(), 'display_name' => $nickname, 'description' => self::word(), 'role' => 'author', 'url' => '']),
            'wp-admin: a user is deleted' => fn(): string => $this->form('/wp-admin/users.php', ['_wpnonce' => 'delete-users'], ['action' => 'dodelete', 'users[]' => (string) $this->id('user', 'quitter'), 'delete_option' => 'reassign', 'reassign_user' => '1']),
            'wp-admin: a file is detached' => fn(): string => $this->form('/wp-admin/upload.php', ['_wpnonce' => 'bulk-media'], ['parent_post_id' => (string) $this->id('post', 'parent'), 'media[]' => (string) $this->id('post', 'a-file')], 'GET'),
            'Customizer: the name of the site' => fn(): string => $customize(['blogname' => self::word()]),
            'Customizer: a setting of the theme' => function () use ($customize): string {
                $this->code('switch_theme("oracle");');

                return $customize(['words' => self::word()]);
            },
            'Customizer: styles' => fn(): string => $customize(['custom_css[' . $this->site->run('echo get_stylesheet();') . ']' => 'body{--y:' . self::word() . '}']),
            'Customizer: an entry of a menu' => fn(): string => $customize(['nav_menu_item[-5]' => ['object_id' => 0, 'object' => 'custom', 'type' => 'custom', 'title' => self::word(), 'url' => 'https://y.example/', 'status' => 'publish', 'position' => 9, 'menu_item_parent' => 0, 'nav_menu_term_id' => $this->id('term', 'oracle')]]),
            'wp-admin: a menu is saved' => function (): string {
                $this->code('switch_theme("oracle");');

                return $this->form('/wp-admin/nav-menus.php', ['update-nav-menu-nonce' => 'update-nav_menu'], ['action' => 'update', 'menu' => (string) $this->id('term', 'oracle'), 'menu-name' => 'oracle', 'menu-item-db-id[' . ($item = $this->id('post', 'elsewhere')) . ']' => (string) $item, "menu-item-title[{$item}]" => self::word(), "menu-item-url[{$item}]" => 'https://z.example/', "menu-item-type[{$item}]" => 'custom', "menu-item-object[{$item}]" => 'custom', "menu-item-object-id[{$item}]" => (string) $item, "menu-item-parent-id[{$item}]" => '0', "menu-item-position[{$item}]" => '1']);
            },
            'wp-admin: a link is deleted' => fn(): string => $this->form('/wp-admin/link.php', ['_wpnonce' => 'delete-bookmark_1'], ['action' => 'delete', 'link_id' => '1'], 'GET'),
        ];
    }

    /** @return array<string, \Closure(): string> as the block editor changes it */
    private function byRest(): array
    {
        return [
            'REST: a post is edited' => fn(): string => $this->rest('POST', "/wp/v2/posts/{$this->id('post', 'second')}", ['title' => self::word(), 'content' => self::word(), 'excerpt' => self::word()]),
            'REST: a post is new' => fn(): string => $this->rest('POST', '/wp/v2/posts', ['title' => self::word(), 'content' => self::word(), 'status' => 'publish', 'slug' => 'to-come', 'categories[]' => (string) $this->id('term', 'blue')]),
            'REST: a post moves' => fn(): string => $this->rest('POST', "/wp/v2/posts/{$this->id('post', 'first')}", ['date' => '2020-05-28T10:33:00', 'categories[]' => (string) $this->id('term', 'blue'), 'author' => (string) $this->id('user', 'editor')]),
            'REST: a post is deleted' => fn(): string => $this->rest('DELETE', "/wp/v2/posts/{$this->id('post', 'victim-8')}", []),
            'REST: a draft is published' => fn(): string => $this->rest('POST', "/wp/v2/posts/{$this->id('post', 'draft-5')}", ['status' => 'publish']),
            'REST: a page moves' => fn(): string => $this->rest('POST', "/wp/v2/pages/{$this->id('post', 'sample-page')}", ['parent' => (string) $this->id('post', 'parent'), 'menu_order' => '7']),
            'REST: a product is edited' => fn(): string => $this->rest('POST', "/wp/v2/product/{$this->id('post', 'brie')}", ['title' => self::word(), 'excerpt' => self::word(), 'product_cat[]' => (string) $this->id('term', 'bread')]),
            'REST: a category is renamed' => fn(): string => $this->rest('POST', "/wp/v2/categories/{$this->id('term', 'red')}", ['name' => 'red ' . self::word()]),
            'REST: a tag is deleted' => fn(): string => $this->rest('DELETE', "/wp/v2/tags/{$this->id('term', 'old')}", ['force' => '1']),
            'REST: a comment is held' => fn(): string => $this->rest('POST', "/wp/v2/comments/{$this->id('comment', 'anna')}", ['status' => 'hold']),
            'REST: a comment is deleted' => fn(): string => $this->rest('DELETE', "/wp/v2/comments/{$this->id('comment', 'ida')}", ['force' => '1']),
            'REST: a user is described' => fn(): string => $this->rest('POST', "/wp/v2/users/{$this->id('user', 'writer')}", ['description' => self::word(), 'name' => self::word()]),
            'REST: settings' => fn(): string => $this->rest('POST', '/wp/v2/settings', ['title' => self::word(), 'description' => self::word(), 'date_format' => 'Y/m/d', 'posts_per_page' => '4']),
            'REST: a block is edited' => fn(): string => $this->rest('POST', "/wp/v2/blocks/{$this->id('post', 'shared')}", ['content' => self::word(), 'status' => 'publish']),
            'REST: a widget is new' => fn(): string => $this->rest('POST', '/wp/v2/widgets', ['id_base' => 'text', 'sidebar' => 'side', 'instance[raw][title]' => self::word(), 'instance[raw][text]' => self::word()]),
            'REST: an entry of a menu is new' => fn(): string => $this->rest('POST', '/wp/v2/menu-items', ['title' => self::word(), 'url' => 'https://r.example/', 'status' => 'publish', 'menus' => (string) $this->id('term', 'oracle'), 'menu_order' => '9']),
            'REST: a file is described' => fn(): string => $this->rest('POST', "/wp/v2/media/{$this->id('post', 'a-file')}", ['title' => self::word(), 'caption' => self::word(), 'alt_text' => self::word()]),
            'REST: a part of a template is edited' => function (): string {
                $this->code('switch_theme("twentytwentythree");');

                return $this->rest('POST', '/wp/v2/template-parts/twentytwentythree//footer', ['content' => '<!-- wp:paragraph --><p>' . self::word() . '</p><!-- /wp:paragraph -->']);
            },
            'REST: an autosave changes no page' => fn(): string => $this->rest('POST', "/wp/v2/posts/{$this->id('post', 'second')}/autosaves", ['title' => self::word(), 'content' => self::word()]),
        ];
    }

    /** @return array<string, \Closure(): string> */
    private function otherwise(): array
    {
        $blog = static fn(mixed ...$more): array => [1, 'admin', 'password', ...array_values($more)];

        return [
            'XML-RPC: a post is new' => fn(): string => $this->xmlRpc('wp.newPost', $blog(['post_type' => 'post', 'post_title' => self::word(), 'post_name' => 'to-come', 'post_status' => 'publish', 'post_content' => self::word(), 'terms_names' => ['post_tag' => ['soft']]])),
            'XML-RPC: a post is edited' => fn(): string => $this->xmlRpc('wp.editPost', $blog($this->id('post', 'first'), ['post_title' => self::word(), 'post_content' => self::word()])),
            'XML-RPC: a post is deleted' => fn(): string => $this->xmlRpc('wp.deletePost', $blog($this->id('post', 'victim-10'))),
            'XML-RPC: categories of a post' => fn(): string => $this->xmlRpc('mt.setPostCategories', [$this->id('post', 'second'), 'admin', 'password', [['categoryId' => $this->id('term', 'dark'), 'isPrimary' => true]]]),
            'XML-RPC: a comment is edited' => fn(): string => $this->xmlRpc('wp.editComment', $blog($this->id('comment', 'emil'), ['content' => self::word(), 'status' => 'approve'])),
            'XML-RPC: an option' => fn(): string => $this->xmlRpc('wp.setOptions', $blog(['blog_title' => self::word()])),
            'cron: a planned post is published' => function (): string {
                $this->code('$id = wp_insert_post(["post_title" => Oracle\word(), "post_name" => "to-come", "post_status" => "future", "post_date" => "2099-01-01 10:00:00", "post_category" => [Oracle\id("term", "red")]]); $GLOBALS["wpdb"]->update($GLOBALS["wpdb"]->posts, ["post_date" => "2020-05-29 10:32:00", "post_date_gmt" => "2020-05-29 10:32:00"], ["ID" => $id]); clean_post_cache($id); wp_clear_scheduled_hook("publish_future_post", [$id]); wp_schedule_single_event(time() - 5, "publish_future_post", [$id]);');

                return $this->cron();
            },
            'cron: the trash is emptied' => function (): string {
                $this->code('$id = Oracle\id("post", "draft-6"); wp_trash_post($id); update_post_meta($id, "_wp_trash_meta_time", 1); wp_clear_scheduled_hook("wp_scheduled_delete"); wp_schedule_single_event(time() - 5, "wp_scheduled_delete");');

                return $this->cron();
            },
            'WP-CLI: flush of a page' => fn(): string => $this->command(['larder', 'flush', "--url={$this->site->url}/first/"]),
            'WP-CLI: flush of all' => fn(): string => $this->command(['larder', 'flush']),
        ];
    }

    /** @param list<string> $arguments */
    private function code(string $code, array $arguments = []): string
    {
        return $this->site->run("require_once ABSPATH . 'wp-admin/includes/admin.php'; {$code}", $arguments);
    }

    /** @param list<string> $arguments */
    private function command(array $arguments): string
    {
        $process = $this->site->site->command($arguments);
        $process->wait();
        Assert::assertSame(0, $process->getExitCode(), $process->getOutput() . $process->getErrorOutput());

        return $process->getOutput();
    }

    private function cron(): string
    {
        $ends = time() + 60;
        do {
            // It answers before it begins, and does nothing while another is at it.
            $status = $this->site->visit('/wp-cron.php?doing_wp_cron')->status;
            usleep(100_000);
            $isDone = $this->site->run('echo json_encode(get_transient("doing_cron") === false && wp_get_ready_cron_jobs() === []);') === 'true';
        } while (!$isDone && time() < $ends);
        Assert::assertTrue($isDone, 'wp-cron has not ended within a minute.');

        return (string) $status;
    }

    /**
     * @param array<string, string> $nonces field => action
     * @param array<string, string> $fields
     */
    private function form(string $uri, array $nonces, array $fields, string $method = 'POST'): string
    {
        foreach ($nonces as $field => $action) {
            $fields[$field] = $this->nonce($action);
        }
        if ($method === 'GET') {
            $uri .= '?' . http_build_query($fields);
            $fields = [];
        }
        $answer = $this->site->visit($uri, [$this->cookie()], $method, $fields);
        Assert::assertContains($answer->status, [200, 302], "{$uri}: {$answer->body}");

        return "{$answer->status} {$answer->header('location')} " . trim(strip_tags($answer->header('location') === '' ? $answer->body : ''));
    }

    /** @param array<string, string> $fields */
    private function ajax(string $action, string $nonce, array $fields, string $of = '_ajax_nonce'): string
    {
        return $this->form('/wp-admin/admin-ajax.php', [$of => $nonce], ['action' => $action] + $fields);
    }

    /** @param array<string, string> $fields */
    private function rest(string $method, string $route, array $fields): string
    {
        $answer = $this->site->visit("/wp-json{$route}", [$this->cookie(), 'X-WP-Nonce: ' . $this->nonce('wp_rest')], $method, $fields + ['x' => 'y']);
        Assert::assertContains($answer->status, [200, 201], "{$route}: {$answer->body}");

        return (string) $answer->status;
    }

    /** @param list<mixed> $arguments */
    private function xmlRpc(string $method, array $arguments): string
    {
        $request = $this->site->request('/xmlrpc.php', ['Content-Type: text/xml'], 'POST');
        curl_setopt($request, \CURLOPT_POSTFIELDS, "<methodCall><methodName>{$method}</methodName><params>" . implode('', array_map(fn(mixed $argument): string => '<param>' . self::xml($argument) . '</param>', $arguments)) . '</params></methodCall>');
        $answer = Answer::of($request);
        Assert::assertStringNotContainsString('faultCode', $answer->body, $method);

        return (string) $answer->status;
    }

    private static function xml(mixed $value): string
    {
        return '<value>' . match (true) {
            \is_int($value) => "<int>{$value}</int>",
            \is_bool($value) => '<boolean>' . (int) $value . '</boolean>',
            \is_array($value) && array_is_list($value) => '<array><data>' . implode('', array_map(self::xml(...), $value)) . '</data></array>',
            \is_array($value) => '<struct>' . implode('', array_map(static fn(int|string $name, mixed $member): string => "<member><name>{$name}</name>" . self::xml($member) . '</member>', array_keys($value), $value)) . '</struct>',
            default => '<string>' . (\is_string($value) ? $value : '') . '</string>',
        } . '</value>';
    }

    private function id(string $kind, string $name): int
    {
        $ids = (array) ($this->ids[$kind] ?? []);
        Assert::assertIsInt($ids[$name] ?? null, "{$kind} {$name}");

        return $ids[$name];
    }

    private function nonce(string $action): string
    {
        return $this->site->visit('/?nonce-of=' . rawurlencode($action), [$this->cookie()])->body;
    }

    private function cookie(): string
    {
        if ($this->cookie === '') {
            $login = $this->site->visit('/wp-login.php', ['Cookie: wordpress_test_cookie=WP%20Cookie%20check'], 'POST', ['log' => 'admin', 'pwd' => 'password', 'testcookie' => '1']);
            $this->cookie = 'Cookie: ' . implode('; ', $login->cookies());
        }

        return $this->cookie;
    }

    private static function word(): string
    {
        return 'word' . bin2hex(random_bytes(4));
    }

    private static function uuid(): string
    {
        return (string) preg_replace('/^(.{8})(.{4})(.{3})(.{3})(.{12}).*$/', '$1-$2-4$3-8$4-$5', bin2hex(random_bytes(16)));
    }
}
