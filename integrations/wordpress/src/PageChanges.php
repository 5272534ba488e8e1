<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Hears from WordPress what has changed, and kills the pages that show it. Each method hears one hook. By then
 * the database and the object cache know, so that a page whose making begins afterwards shows the change.
 */
final class PageChanges
{
    /** Hook => [method, number of arguments]. */
    public const HOOKS = [
        'wp_cache_set_last_changed' => ['again', 0], 'clean_post_cache' => ['post', 2], 'clean_attachment_cache' => ['file', 1], 'post_updated' => ['edited', 3], 'transition_post_status' => ['status', 3], 'before_delete_post' => ['deleting', 1], 'after_delete_post' => ['deleted', 2], 'delete_attachment' => ['deleting', 1], 'add_attachment' => ['attached', 1], 'attachment_updated' => ['edited', 3],
        'set_object_terms' => ['terms', 6], 'deleted_term_relationships' => ['unrelated', 3],
        'added_post_meta' => ['postMeta', 3], 'updated_post_meta' => ['postMeta', 3], 'deleted_post_meta' => ['postMeta', 3],
        'wp_insert_comment' => ['commented', 2], 'transition_comment_status' => ['commentStatus', 3], 'edit_comment' => ['commentEdited', 1], 'deleted_comment' => ['commentDeleted', 2], 'clean_comment_cache' => ['comment', 1], 'trashed_post_comments' => ['commentsOf', 1], 'untrashed_post_comments' => ['commentsOf', 1],
        'added_comment_meta' => ['commentMeta', 2], 'updated_comment_meta' => ['commentMeta', 2], 'deleted_comment_meta' => ['commentMeta', 2],
        'created_term' => ['term', 3], 'edit_terms' => ['termEdited', 2], 'edited_term' => ['term', 3], 'delete_term' => ['termDeleted', 5], 'edit_term_taxonomy' => ['counting', 1], 'clean_term_cache' => ['termsCleaned', 2],
        'added_term_meta' => ['termMeta', 2], 'updated_term_meta' => ['termMeta', 2], 'deleted_term_meta' => ['termMeta', 2],
        'profile_update' => ['userList', 1], 'user_register' => ['userList', 1], 'deleted_user' => ['userDeleted', 2], 'remove_user_from_blog' => ['removing', 3], 'set_user_role' => ['userList', 1], 'add_user_role' => ['userList', 1], 'remove_user_role' => ['userList', 1], 'clean_user_cache' => ['user', 1],
        'added_user_meta' => ['userMeta', 3], 'updated_user_meta' => ['userMeta', 3], 'deleted_user_meta' => ['userMeta', 3],
        'add_link' => ['links', 0], 'edit_link' => ['links', 0], 'deleted_link' => ['links', 0],
        'added_option' => ['option', 1], 'updated_option' => ['option', 1], 'deleted_option' => ['option', 1],
        'add_site_option' => ['networkOption', 1], 'update_site_option' => ['networkOption', 1], 'delete_site_option' => ['networkOption', 1],
        'switch_theme' => ['site', 0], 'customize_save_after' => ['site', 0], 'wp_update_nav_menu' => ['site', 0], 'wp_delete_nav_menu' => ['site', 0], 'permalink_structure_changed' => ['site', 0],
        'activated_plugin' => ['network', 0], 'deactivated_plugin' => ['network', 0], 'upgrader_process_complete' => ['network', 0], '_core_updated_successfully' => ['network', 0],
        'wp_update_site' => ['networkSite', 2], 'wp_delete_site' => ['networkSite', 1], 'wp_initialize_site' => ['networkSite', 1],
        'added_blog_meta' => ['network', 0], 'updated_blog_meta' => ['network', 0], 'deleted_blog_meta' => ['network', 0],
        'woocommerce_product_set_stock' => ['stock', 1], 'woocommerce_variation_set_stock' => ['stock', 1], 'woocommerce_product_set_stock_status' => ['stock', 1], 'woocommerce_variation_set_stock_status' => ['stock', 1],
        'woocommerce_updated_product_stock' => ['stock', 1], 'woocommerce_delete_product_transients' => ['stock', 1],
    ];

    /** Meta of a public post whose change makes nothing private, as what plugins keep there may. */
    private const OPEN_META = ['_stock' => true, '_stock_status' => true, '_price' => true, '_regular_price' => true, '_sale_price' => true, 'total_sales' => true, '_wc_average_rating' => true, '_wc_rating_count' => true, '_wc_review_count' => true, '_thumbnail_id' => true, '_wp_old_slug' => true, '_wp_old_date' => true, '_pingme' => true, '_encloseme' => true];

    /** Types of posts that all pages are built of. */
    private const BUILDING = ['wp_template', 'wp_template_part', 'wp_global_styles', 'wp_navigation', 'wp_block', 'wp_font_family', 'wp_font_face', 'nav_menu_item', 'custom_css'];

    /** What of a post places it in lists. */
    private const PLACING = ['post_status', 'post_type', 'post_author', 'post_date', 'post_parent', 'menu_order', 'post_password', 'post_title', 'post_name', 'post_mime_type'];

    /** What of a post names lists that it is in. */
    private const NAMING = ['post_type', 'post_author', 'post_parent'];

    private const BOOKKEEPING = '~^(?:cron|_transient_.*|_site_transient_.*|recently_activated|recently_edited|auto_core_update_.*|auto_updater\.lock|core_updater\.lock|db_upgraded|can_compress_scripts|finished_updating_comment_type|action_scheduler_.*|recovery_.*|uninstall_plugins|delete_blog_hash|adminhash|nonce_key|nonce_salt|https_detection_errors|wp_force_deactivated_plugins|larder_.*)$~sD';

    /** Options of a network that change with each user and site, and that few pages show. */
    public const COUNTS = ['user_count' => true, 'blog_count' => true];

    private const USER_BOOKKEEPING = '~(?:^session_tokens$|user-settings|^meta-box-order|^closedpostboxes|^metaboxhidden|^manage.*columnshidden$|dashboard_quick_press_last_post_id$|^community-events-location$|^wc_last_active$|_woocommerce_persistent_cart|persisted_preferences$|^last_update$|^_application_passwords$)~';

    /** @var array<int, list<string>> the lists that a post was in before it was deleted */
    private array $before = [];

    /** @var array<int, int> how many posts terms had that are only counted anew */
    private array $counted = [];

    /** @var array<int, list<string>> by site, the lists between which posts move as their author leaves it */
    private array $moving = [];

    /** @var array<int, array<int, bool>> by site and post, those that SQL has moved between lists, and whether these are known; 0: any post */
    private array $moved = [];

    /** @var list<array{list<string>, string, bool}> what was killed before WordPress ended the lists that the object cache keeps */
    private array $early = [];

    /** @param \Closure(list<string>, string, bool): bool $kill takes tags, why, and whether the old pages may still be served for a while */
    public function __construct(
        private readonly \Closure $kill,
    ) {}

    /** Whether an option says nothing of what pages show. */
    public static function isBookkeeping(string $option): bool
    {
        return preg_match(self::BOOKKEEPING, $option) === 1;
    }

    public function post(mixed $id, mixed $post): void
    {
        if (!$post instanceof \WP_Post || $post->post_type === 'revision') {
            return;
        }
        if (\in_array($post->post_type, self::BUILDING, true) && $post->post_status !== 'auto-draft') {
            $this->site();

            return;
        }
        $site = get_current_blog_id();
        $isKnown = $this->moved[$site][$post->ID] ?? $this->moved[$site][0] ?? null;
        unset($this->moved[$site][$post->ID]);
        $lists = match ($isKnown) {
            // It may have been in any.
            false => [PageTags::of('site')],
            true => $this->lists($post),
            null => [PageTags::of('all', $post->post_type), PageTags::of('all', 'any')],
        };
        $this->killTwice([PageTags::of('post', $post->ID), ...$lists], "post {$post->ID}", $isKnown === null && $this->isOpen($post));
        $this->kill($this->moving[$site] ?? [], 'user');
    }

    /** A file goes to another post. WordPress tells nothing else of it. */
    public function file(mixed $id): void
    {
        $this->post($id, is_numeric($id) ? get_post((int) $id) : null);
    }

    /** Code writes to posts by SQL of its own. When it tells WordPress which, their lists are others. */
    public function moves(string $sql): void
    {
        $where = strripos($sql, 'WHERE');
        $sets = strtolower($where === false ? $sql : substr($sql, 0, $where));
        $contains = static fn(string $column): bool => str_contains($sets, $column);
        if (array_filter(self::PLACING, $contains) !== []) {
            $id = preg_match('~\bWHERE\s+`?ID`?\s*=\s*\'?(\d+)\'?\s*$~i', $sql, $found) === 1 ? (int) $found[1] : 0;
            $site = get_current_blog_id();
            $this->moved[$site][$id] = ($this->moved[$site][$id] ?? true) && array_filter(self::NAMING, $contains) === [];
        }
    }

    /**
     * Code has changed rows by SQL of its own, and has told the object cache which of its entries mirror these.
     *
     * @param int|string|null $id null: all of the group
     */
    public function entry(string $group, int|string|null $id): void
    {
        $id = is_multisite() ? preg_replace('/^\d+:/', '', (string) $id) : $id;
        $site = get_current_blog_id();
        if ($id === null || $id === '') {
            $this->network();
        } elseif ($group === 'options') {
            $id === 'alloptions' || $id === 'notoptions' ? $this->site() : $this->option((string) $id);
        } elseif ($group === 'bookmark') {
            $this->links();
        } elseif (str_ends_with($group, '_relationships')) {
            // Which terms the post had before nothing tells.
            $this->site();
        } elseif (is_numeric($id)) {
            $all = static fn(string $kind, array $names): array => array_map(static fn(string $name): string => PageTags::of($kind, $name), ['any', ...array_values(array_filter($names, is_string(...)))]);
            match ($group) {
                'posts', 'post_meta' => isset($this->moved[$site][(int) $id]) || isset($this->moved[$site][0]) ? $this->site() : $this->kill([PageTags::of('post', (int) $id), ...$all('all', get_post_types())], "post {$id}"),
                'terms', 'term_meta' => $this->kill([PageTags::of('term', (int) $id), ...$all('terms', get_taxonomies())], "term {$id}"),
                'users', 'user_meta' => $this->kill([PageTags::of('user', (int) $id, 0), ...$this->usersOf('list'), ...$this->usersOf('all')], "user {$id}"),
                default => $this->kill([PageTags::of('comment', (int) $id), PageTags::of('list', 'comments'), PageTags::of('all', 'comments')], "comment {$id}"),
            };
        }
    }

    /**
     * WordPress says what it has cleaned before it ends the lists that were kept of it. So a page may have been made of these meanwhile.
     */
    public function again(): void
    {
        $early = $this->early;
        $this->early = [];
        foreach ($early as [$tags, $why, $isSoft]) {
            $this->kill($tags, $why, $isSoft);
        }
    }

    public function edited(mixed $id, mixed $after, mixed $before): void
    {
        if (!$after instanceof \WP_Post || !$before instanceof \WP_Post) {
            return;
        }
        foreach (self::PLACING as $field) {
            if ($after->$field !== $before->$field) {
                if (self::isSeen($after->post_status) || self::isSeen($before->post_status)) {
                    $isCounted = $after->post_status !== $before->post_status || $after->post_type !== $before->post_type || $after->post_author !== $before->post_author;
                    $this->placed($after, [...$this->lists($before, $isCounted), PageTags::of('post', (int) $before->post_parent)], $isCounted, $this->isOpen($after));
                }

                return;
            }
        }
    }

    public function status(mixed $new, mixed $old, mixed $post): void
    {
        if ($post instanceof \WP_Post && $new !== $old && (self::isSeen($new) || self::isSeen($old))) {
            $this->placed($post, isSoft: $new === $post->post_status && $this->isOpen($post));
        }
    }

    /** WordPress says no status of a file that is new. */
    public function attached(mixed $id): void
    {
        $post = is_numeric($id) ? get_post((int) $id) : null;
        if ($post instanceof \WP_Post) {
            $this->placed($post);
        }
    }

    public function deleting(mixed $id): void
    {
        $post = is_numeric($id) ? get_post((int) $id) : null;
        if ($post instanceof \WP_Post && self::isSeen($post->post_status)) {
            $this->before[$post->ID] = $this->lists($post);
        }
    }

    public function deleted(mixed $id, mixed $post): void
    {
        if ($post instanceof \WP_Post && isset($this->before[$post->ID])) {
            $this->kill([...$this->before[$post->ID], PageTags::of('post', $post->ID)], "post {$post->ID}");
            unset($this->before[$post->ID]);
        }
    }

    public function terms(mixed $id, mixed $terms, mixed $now, mixed $taxonomy, mixed $isAppended, mixed $before): void
    {
        $now = $this->numbers($now);
        $before = $this->numbers($before);
        $gone = array_diff($before, $now);
        // Of terms that have an order for each post only this may be another.
        $isSorted = \is_string($taxonomy) && (get_taxonomy($taxonomy)->sort ?? false) === true;
        if (!$isAppended && $gone !== [] || array_diff($now, $before) !== [] || $isSorted) {
            $this->unrelated($id, $isAppended ? [] : $gone, $taxonomy);
        }
    }

    public function unrelated(mixed $id, mixed $gone, mixed $taxonomy): void
    {
        if (!is_numeric($id)) {
            return;
        }
        $lists = [];
        foreach (\is_array($gone) ? $gone : [] as $related) {
            $term = is_numeric($related) ? get_term_by('term_taxonomy_id', (int) $related, \is_string($taxonomy) ? $taxonomy : '') : null;
            if ($term instanceof \WP_Term) {
                array_push($lists, ...$this->listsOf($term));
            }
        }
        $post = get_post((int) $id);
        if (!$post instanceof \WP_Post) {
            // Users, comments and others may have terms as well, and a page that shows these has the number alone.
            $this->kill([PageTags::of('post', (int) $id), ...$lists], "terms of {$id}");

            return;
        }
        self::isSeen($post->post_status) ? $this->placed($post, $lists) : $this->kill([PageTags::of('post', $post->ID), PageTags::of('all', $post->post_type), PageTags::of('all', 'any')], "post {$post->ID}");
    }

    public function postMeta(mixed $meta, mixed $id, mixed $key): void
    {
        if ($this->isOfAll($id)) {
            $this->site();
        } elseif (is_numeric($id) && $key !== '_edit_lock' && $key !== '_edit_last') {
            $post = get_post((int) $id);
            $lists = $post instanceof \WP_Post ? [PageTags::of('all', $post->post_type), PageTags::of('all', 'any')] : [];
            $this->kill([PageTags::of('post', (int) $id), ...$lists], "post {$id}", \is_string($key) && isset(self::OPEN_META[$key]) && $this->isOpen($post));
        }
    }

    public function commented(mixed $id, mixed $comment): void
    {
        if ($this->isApproved($comment)) {
            $this->comments($comment, $this->isOpen(get_post((int) $comment->comment_post_ID)));
        } else {
            $this->heldBack($comment);
        }
    }

    public function commentDeleted(mixed $id, mixed $comment): void
    {
        if ($this->isApproved($comment)) {
            $this->comments($comment);
        } else {
            $this->heldBack($comment);
        }
    }

    public function commentStatus(mixed $new, mixed $old, mixed $comment): void
    {
        if ($comment instanceof \WP_Comment && ($new === 'approved' || $old === 'approved')) {
            $this->comments($comment, $new === 'approved' && $this->isOpen(get_post((int) $comment->comment_post_ID)));
        } else {
            $this->heldBack($comment);
        }
    }

    public function commentEdited(mixed $id): void
    {
        // As with one that goes: a name may have been taken out of it.
        $this->commentDeleted($id, is_numeric($id) ? get_comment((int) $id) : null);
    }

    public function comment(mixed $id): void
    {
        if (is_numeric($id)) {
            $comment = get_comment((int) $id);
            $tag = PageTags::of('comment', (int) $id);
            // A name may have been taken out of it.
            ($this->kill)([$tag], "comment {$id}", false);
            $this->kill([$tag], "comment {$id}", $this->isApproved($comment) && $this->isOpen(get_post((int) $comment->comment_post_ID)));
        }
    }

    /** All comments of a post have gone with it, or have come back. */
    public function commentsOf(mixed $post): void
    {
        if (is_numeric($post)) {
            $this->kill([PageTags::of('comments', (int) $post), PageTags::of('list', 'comments'), PageTags::of('all', 'comments')], "post {$post}");
        }
    }

    public function commentMeta(mixed $meta, mixed $id): void
    {
        $comment = is_numeric($id) && $id > 0 ? get_comment((int) $id) : null;
        match (true) {
            $this->isOfAll($id) => $this->site(),
            $this->isApproved($comment) => $this->comments($comment),
            default => $this->comment($id),
        };
    }

    public function links(): void
    {
        $this->kill([PageTags::of('links')], 'links');
    }

    public function term(mixed $id, mixed $related, mixed $taxonomy): void
    {
        $term = is_numeric($id) ? get_term((int) $id, \is_string($taxonomy) ? $taxonomy : '') : null;
        if ($term instanceof \WP_Term) {
            $this->kill($this->listsOf($term), "term {$term->term_id}");
        }
    }

    public function termEdited(mixed $id, mixed $taxonomy): void
    {
        // Those above it now may not be those above it afterwards.
        $this->term($id, 0, $taxonomy);
    }

    public function termDeleted(mixed $id, mixed $related, mixed $taxonomy, mixed $term, mixed $posts): void
    {
        if (!$term instanceof \WP_Term) {
            return;
        }
        $tags = $this->listsOf($term);
        foreach (\is_array($posts) ? $posts : [] as $post) {
            if (is_numeric($post)) {
                array_push($tags, PageTags::of('post', (int) $post), PageTags::of('list', (string) get_post_type((int) $post)));
            }
        }
        $this->kill([...$tags, PageTags::of('list', 'any')], "term {$term->term_id}");
    }

    public function counting(mixed $related): void
    {
        $term = is_numeric($related) ? get_term_by('term_taxonomy_id', (int) $related) : null;
        if ($term instanceof \WP_Term) {
            $this->counted[$term->term_id] = $term->count;
        }
    }

    public function termsCleaned(mixed $ids, mixed $taxonomy): void
    {
        $tags = $counts = [];
        foreach (\is_array($ids) ? $ids : [$ids] as $id) {
            if (!is_numeric($id)) {
                continue;
            }
            $before = $this->counted[(int) $id] ?? null;
            unset($this->counted[(int) $id]);
            if ($before === null) {
                $tags[] = PageTags::of('term', (int) $id);
                continue;
            }
            // An import counts when all its posts are there.
            $term = get_term((int) $id);
            if ($term instanceof \WP_Term && $term->count !== $before) {
                array_push($counts, ...$this->listsOf($term));
            }
        }
        $this->killTwice($tags, 'terms');
        $this->killTwice($counts, 'terms', true);
    }

    public function termMeta(mixed $meta, mixed $id): void
    {
        $this->isOfAll($id) ? $this->site() : $this->term($id, 0, '');
    }

    public function user(mixed $id): void
    {
        if (is_numeric($id)) {
            $this->kill([PageTags::of('user', (int) $id, 0)], "user {$id}");
        }
    }

    public function userList(mixed $id): void
    {
        if (is_numeric($id)) {
            $this->kill([PageTags::of('user', (int) $id, 0), ...$this->usersOf('list')], "user {$id}");
        }
    }

    public function userDeleted(mixed $id, mixed $heir): void
    {
        $this->userList($id);
        $this->kill($this->betweenAuthors($id, $heir), 'user');
    }

    /** A user leaves a site. After that another one may get the posts, of which WordPress tells only that they are others. */
    public function removing(mixed $id, mixed $site, mixed $heir): void
    {
        $this->moving[get_current_blog_id()] = $this->betweenAuthors($id, $heir);
    }

    public function userMeta(mixed $meta, mixed $id, mixed $key): void
    {
        if (!\is_string($key) || preg_match(self::USER_BOOKKEEPING, $key) === 1) {
            return;
        }
        if ($this->isOfAll($id)) {
            $this->network();
        } elseif (is_numeric($id)) {
            $site = is_multisite() ? self::siteOfRights($key) : null;
            $this->kill([PageTags::of('user', (int) $id, 0), ...$this->usersOf('all', $site), ...$site === null ? [] : $this->usersOf('list', $site)], "user {$id}");
        }
    }

    public function option(mixed $name): void
    {
        if (!\is_string($name) || self::isBookkeeping($name)) {
            return;
        }
        if (preg_match('~^(?:sidebars_widgets|widget_.*|template|stylesheet|theme_mods_.*|permalink_structure|category_base|tag_base|active_plugins|home|siteurl|page_for_posts|page_on_front|show_on_front|sticky_posts|blog_public)$~D', $name) === 1) {
            $this->kill([PageTags::of('site'), PageTags::of('option', $name)], "option {$name}");
        } else {
            $this->kill([PageTags::of('option', $name)], "option {$name}");
        }
    }

    public function networkOption(mixed $name): void
    {
        if (\is_string($name) && !self::isBookkeeping($name)) {
            $this->kill([isset(self::COUNTS[$name]) ? PageTags::of('option', $name, 0) : 'network'], "network option {$name}");
        }
    }

    public function site(): void
    {
        $this->kill([PageTags::of('site')], 'site');
    }

    public function network(): void
    {
        $this->kill(['network'], 'network');
    }

    public function networkSite(mixed $site, mixed $before = null): void
    {
        if ($site instanceof \WP_Site && $before instanceof \WP_Site) {
            // Each post notes in its site when it was published.
            $fields = array_fill_keys(['domain', 'path', 'public', 'archived', 'mature', 'spam', 'deleted', 'lang_id'], true);
            if (array_intersect_key($site->to_array(), $fields) == array_intersect_key($before->to_array(), $fields)) {
                return;
            }
        }
        $this->kill($site instanceof \WP_Site ? ['network', PageTags::of('site', site: (int) $site->blog_id)] : ['network'], 'network');
    }

    /** Lists that show the product have read it. It comes into others, or leaves them, by terms or meta, which hooks of their own tell of. */
    public function stock(mixed $product): void
    {
        $id = \is_object($product) && method_exists($product, 'get_id') ? $product->get_id() : $product;
        $post = is_numeric($id) ? get_post((int) $id) : null;
        foreach ([$post, $post instanceof \WP_Post && $post->post_parent > 0 ? get_post($post->post_parent) : null] as $stocked) {
            if ($stocked instanceof \WP_Post) {
                $this->kill([PageTags::of('post', $stocked->ID), PageTags::of('all', $stocked->post_type), PageTags::of('all', 'any')], "post {$stocked->ID}", $this->isOpen($stocked));
            }
        }
    }

    /** Whether meta has been taken from all that had it, of which WordPress does not say which they are. */
    private function isOfAll(mixed $id): bool
    {
        return !is_numeric($id) || (int) $id === 0;
    }

    /** @return list<int> */
    private function numbers(mixed $of): array
    {
        $numbers = [];
        foreach (\is_array($of) ? $of : [] as $number) {
            if (is_numeric($number)) {
                $numbers[] = (int) $number;
            }
        }

        return $numbers;
    }

    /**
     * The post has come into lists, or gone, or stands elsewhere in them.
     *
     * @param list<string> $before    tags of lists that it was in
     * @param bool         $isCounted whether terms and authors may have more or fewer posts now
     * @param bool         $isSoft    whether the old pages may still be served for a while
     */
    private function placed(\WP_Post $post, array $before = [], bool $isCounted = true, bool $isSoft = false): void
    {
        if ($post->post_type !== 'revision') {
            $this->kill(array_values(array_unique([PageTags::of('post', $post->ID), ...$this->lists($post, $isCounted), ...$before])), "post {$post->ID}", $isSoft);
        }
    }

    /** @return ?int the site whose rights are in meta of a user; null: it has no rights in it */
    private static function siteOfRights(string $key): ?int
    {
        $database = $GLOBALS['wpdb'] ?? null;
        $prefix = $database instanceof \wpdb ? preg_quote($database->base_prefix, '~') : '';

        return preg_match("~^{$prefix}(?:(\d+)_)?(?:capabilities|user_level)$~D", $key, $parts) === 1 ? (int) ($parts[1] ?? 1) : null;
    }

    /**
     * @param ?int $site that has other users now; null: the present one
     *
     * @return list<string> lists of users: those of the site, of the present one and of all sites
     */
    private function usersOf(string $kind, ?int $site = null): array
    {
        $present = get_current_blog_id();

        return array_map(static fn(int $of): string => PageTags::of($kind, 'users', $of), array_values(array_unique(is_multisite() ? [$present, $site ?? $present, 0] : [$present])));
    }

    /** @return list<string> lists in which the posts of a user stand elsewhere once another has them; empty: none has them */
    private function betweenAuthors(mixed $from, mixed $to): array
    {
        if (!is_numeric($from) || !is_numeric($to) || (int) $to === 0) {
            return [];
        }
        $types = array_map(static fn(string $type): string => PageTags::of('list', $type), array_values(get_post_types()));

        return [PageTags::of('list', 'author/' . (int) $from), PageTags::of('list', 'author/' . (int) $to), PageTags::of('list', 'users'), PageTags::of('list', 'any'), PageTags::of('links'), ...$types];
    }

    /** @return list<string> */
    private function lists(\WP_Post $post, bool $isCounted = true): array
    {
        $tags = [
            PageTags::of('list', $post->post_type), PageTags::of('list', 'any'), PageTags::of('all', $post->post_type), PageTags::of('all', 'any'),
            PageTags::of('list', "author/{$post->post_author}"), ...$isCounted ? [PageTags::of('list', 'users')] : [],
        ];
        if ($post->post_parent > 0) {
            $tags[] = PageTags::of('post', (int) $post->post_parent);
        }
        if ($isCounted && (int) $post->comment_count > 0) {
            // Lists of comments leave out those of posts that are not public.
            array_push($tags, PageTags::of('list', 'comments'), PageTags::of('all', 'comments'));
        }
        $terms = wp_get_object_terms($post->ID, get_object_taxonomies($post->post_type));
        foreach (\is_array($terms) ? $terms : [] as $term) {
            array_push($tags, ...$this->listsOf($term, $isCounted));
        }

        return $tags;
    }

    /** @return list<string> of what shows the term, unless it itself stays as it is, and of lists of its posts */
    private function listsOf(\WP_Term $term, bool $isChanged = true): array
    {
        $tags = $isChanged ? [PageTags::of('terms', $term->taxonomy), PageTags::of('terms', 'any')] : [];
        foreach ([$term->term_id, ...get_ancestors($term->term_id, $term->taxonomy, 'taxonomy')] as $id) {
            array_push($tags, PageTags::of('list', "term/{$id}"), ...$isChanged ? [PageTags::of('term', (int) $id)] : []);
        }

        return $tags;
    }

    private function comments(\WP_Comment $comment, bool $isSoft = false): void
    {
        $this->kill([PageTags::of('comment', (int) $comment->comment_ID), PageTags::of('comments', (int) $comment->comment_post_ID), PageTags::of('post', (int) $comment->comment_post_ID), PageTags::of('list', 'comments'), PageTags::of('all', 'comments')], "comment {$comment->comment_ID}", $isSoft);
    }

    /** No visitor sees the comment, but a page may say how many of such there are. */
    private function heldBack(mixed $comment): void
    {
        if ($comment instanceof \WP_Comment) {
            $this->kill([PageTags::of('comment', (int) $comment->comment_ID), PageTags::of('all', 'comments')], "comment {$comment->comment_ID}");
        }
    }

    /** Lists end with the time of the next post that waits for it, so that they have to know of it. */
    public static function isSeen(mixed $status): bool
    {
        return $status === 'publish' || $status === 'inherit' || $status === 'future' || (\is_string($status) && (get_post_status_object($status)->public ?? false) === true);
    }

    /** Whether all may see the post, so that no page of before shows what has been made private. */
    private function isOpen(mixed $post): bool
    {
        return $post instanceof \WP_Post && $post->post_password === '' && (get_post_status_object($post->post_status)->public ?? false) === true;
    }

    /** @phpstan-assert-if-true \WP_Comment $comment */
    private function isApproved(mixed $comment): bool
    {
        return $comment instanceof \WP_Comment && \in_array($comment->comment_approved, ['1', 'approve', 1], true);
    }

    /**
     * @param list<string> $tags
     *
     * @return list<string> of pages that read the tables of these by SQL of their own
     */
    private function tables(array $tags): array
    {
        $database = $GLOBALS['wpdb'] ?? null;
        if (!$database instanceof \wpdb) {
            return [];
        }
        $tables = [];
        foreach ($tags as $tag) {
            [, $kind, $what] = explode('/', $tag, 3) + ['', '', ''];
            $table = match ($kind) {
                'post' => $database->posts,
                'all' => $what === 'users' || $what === 'comments' ? null : $database->posts,
                'term', 'terms' => $database->terms,
                'comment', 'comments' => $database->comments,
                'user' => $database->users,
                'option' => $database->options,
                'links' => $database->links,
                default => null,
            };
            if ($table !== null) {
                $tables[$table] = PageTags::of('table', $table, 0);
            }
        }

        return array_values($tables);
    }

    /**
     * @param list<string> $tags
     * @param bool         $isSoft whether the old pages may still be served for a while
     */
    private function killTwice(array $tags, string $why, bool $isSoft = false): void
    {
        $this->kill($tags, $why, $isSoft);
        if ($tags !== []) {
            $this->early[] = [$tags, $why, $isSoft];
        }
    }

    /**
     * @param list<string> $tags
     * @param bool         $isSoft whether the old pages may still be served for a while
     */
    private function kill(array $tags, string $why, bool $isSoft = false): void
    {
        if ($tags !== []) {
            ($this->kill)([...$tags, ...$this->tables($tags), PageTags::of('any')], $why, $isSoft);
        }
    }
}
