<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Sees each query of SQL, for what no hook tells of: tables of plugins, and WordPress's own where code uses its own SQL.
 *
 * A page that reads such a table carries a tag of it. A write to the table kills these pages when it is done. The next query tells of it, and
 * so does the end of the request. A request to another server does, too, as it may come back to this site. A write in a transaction
 * waits for its end, because no other process sees it before.
 *
 * A visit of a page is no change. A plugin that writes then, such as a count of visits, kills nothing.
 */
final class PageQueries
{
    /** Functions of WordPress that read posts by SQL of their own. Neither a hook nor the object cache tells of it. */
    private const UNTOLD = ['count_many_users_posts' => true, 'get_available_post_mime_types' => true, 'get_page_by_title' => true];

    /** Functions of WordPress that look for meta otherwise than by what it belongs to. Any change of such may be one of what they find. */
    private const HIDDEN = ['attachment_url_to_postid' => true, 'get_metadata_by_mid' => true];

    /** What WordPress looks for one user by, and the group of the object cache that has the users who were found. */
    private const USERS = ['ID' => 'users', 'user_login' => 'userlogins', 'user_email' => 'useremail', 'user_nicename' => 'userslugs'];

    /** Functions of WordPress that move posts between lists, and of which no hook tells where these were before. */
    private const MOVING = ['set_post_type' => true, 'wp_media_attach_action' => true];

    /** Groups of the object cache, and the tables whose rows they have. Those whose names end in _relationships have the terms of posts. */
    private const MIRRORS = [
        'posts' => 'posts', 'post_meta' => 'posts', 'terms' => 'terms', 'term_meta' => 'terms', 'users' => 'users', 'user_meta' => 'users',
        'comment' => 'comments', 'comment_meta' => 'comments', 'options' => 'options', 'bookmark' => 'links',
    ];

    /** Functions of WordPress that tell the object cache, and say no hook that tells pages. */
    private const SILENT = ['clean_object_term_cache' => true, 'clean_bookmark_cache' => true];

    /** Nanoseconds between two kills: an import writes thousands of rows. */
    private const PAUSE = 50_000_000;

    /** @var array<string, true> tables written to, of which the store does not know yet */
    private array $written = [];

    private int $next = 0;

    /** Whether the request has written to a table of which no hook of WordPress tells. */
    public bool $hasWritten = false;

    /** @var array<string, true> tables of WordPress to which code has written by SQL of its own, as tags name them */
    private array $rewritten = [];

    /** @var list<string> what paths of WordPress's own code begin with */
    private array $core = [];

    /** @var array<string, bool> by table, whether it is WordPress's own */
    private array $own = [];

    /** @var ?\Closure(string): void takes a table that the page being made reads */
    private ?\Closure $reads = null;

    /** @var ?\Closure(): void is told that the page being made lists posts, where nothing tells which */
    private ?\Closure $lists = null;

    /** @var ?\Closure(string, string): void takes what the page being made looks for a user by: a group of the object cache, and a key */
    private ?\Closure $looks = null;

    /**
     * @param \Closure(list<string>): void $wrote   takes tables
     * @param \Closure(string): void       $moves   takes SQL that writes to posts, and of which no hook but clean_post_cache may tell
     * @param \Closure(): bool             $isVisit whether the request only asks for a page
     */
    public function __construct(
        private readonly \wpdb $database,
        private readonly \Closure $wrote,
        private readonly \Closure $moves,
        private readonly \Closure $isVisit,
        private readonly Transactions $transactions,
    ) {}

    public function hook(): void
    {
        add_filter('query', $this->see(...), \PHP_INT_MAX);
        add_filter('pre_http_request', function (mixed $answer): mixed {
            $this->tell();

            return $answer;
        }, \PHP_INT_MIN);
        foreach ([\PHP_INT_MIN, \PHP_INT_MAX - 1] as $priority) {
            add_action('shutdown', $this->tell(...), $priority);
        }
    }

    /**
     * @param \Closure(string): void $reads takes each table that a page reads from now on in a way that nothing else tells of
     * @param \Closure(): void       $lists is told when WordPress itself lists or looks for posts in such a way
     * @param \Closure(string, string): void $looks takes the group and the key in the object cache of each user whom WordPress looks for, found or not
     */
    public function watch(\Closure $reads, \Closure $lists, \Closure $looks): void
    {
        $this->reads = $reads;
        $this->lists = $lists;
        $this->looks = $looks;
        add_filter('alloptions', function (mixed $options) use ($reads): mixed {
            // Three frames are of hooks. What WordPress itself takes of the list, the page has asked for by name.
            $loads = debug_backtrace(\DEBUG_BACKTRACE_IGNORE_ARGS, 4)[3] ?? [];
            if (($loads['function'] ?? '') !== 'wp_load_alloptions' || !$this->isOfCore($loads['file'] ?? '')) {
                $reads(PageTables::together($this->database->options, $this->database));
            }

            return $options;
        }, \PHP_INT_MAX);
    }

    /**
     * Whether code has written to the rows of a group by SQL of its own, and now tells the object cache alone, as by wp_cache_delete(). Where
     * WordPress's own code tells the object cache, its hooks tell of it as well.
     */
    public function tellsCacheAlone(string $group): bool
    {
        if ($this->rewritten === []) {
            // Mostly: it is asked with each write to the object cache.
            return false;
        }
        $table = self::MIRRORS[$group] ?? (str_ends_with($group, '_relationships') ? 'posts' : '');
        if ($table === '' || !isset($this->rewritten[$this->database->$table])) {
            return false;
        }
        $isInCore = false;
        foreach (debug_backtrace(\DEBUG_BACKTRACE_IGNORE_ARGS, 12) as $frame) {
            $file = $frame['file'] ?? '';
            if (\dirname($file) === __DIR__ || $file === \dirname(__DIR__) . '/functions.php') {
                continue;
            }
            if ($isInCore && !isset(self::SILENT[$frame['function']])) {
                return false;
            }
            if (!$this->isOfCore($file)) {
                return true;
            }
            $isInCore = true;
        }

        return false;
    }

    /** Whether code of a plugin or the theme asks the object cache for the last change of a group. It may keep entries under keys with that in them. */
    public function isAskedByPlugin(): bool
    {
        $isAsked = false;
        foreach (debug_backtrace(\DEBUG_BACKTRACE_IGNORE_ARGS, 9) as $frame) {
            $file = $frame['file'] ?? '';
            if (\dirname($file) === __DIR__ || $file === \dirname(__DIR__) . '/functions.php') {
                continue;
            }
            if ($isAsked && $frame['function'] !== 'wp_cache_get_last_changed') {
                return false;
            }
            if (!$this->isOfCore($file)) {
                return true;
            }
            $isAsked = true;
        }

        return false;
    }

    private function see(mixed $sql): mixed
    {
        if ($this->written !== [] && hrtime(true) >= $this->next) {
            $this->tell();
        }
        if (!\is_string($sql)) {
            return $sql;
        }
        switch (PageTables::verb($sql)) {
            case 'reads':
                $this->reads === null || $this->read($sql, $this->reads);
                break;
            case 'writes':
                ($this->isVisit)() || $this->write($sql);
                break;
        }

        return $sql;
    }

    /** @param \Closure(string): void $reads */
    private function read(string $sql, \Closure $reads): void
    {
        $caller = null;
        foreach (PageTables::read($sql) as $table) {
            if ($this->own[$table] ??= PageTables::isOwn($table, $this->database)) {
                $caller ??= $this->caller();
                $isKnown = $this->isOfCore($caller['file']) && !isset(self::HIDDEN[$caller['function']]);
                if (!$isKnown && str_contains($caller['file'], PageTables::QUEUE)) {
                    // It keeps jobs among the posts until it has moved all to tables of its own.
                    continue;
                }
                if ($isKnown && isset(self::UNTOLD[$caller['function']]) && $this->lists !== null) {
                    ($this->lists)();
                }
                if ($isKnown && $caller['function'] === 'get_data_by' && $this->looks !== null && preg_match('~\bWHERE (\w+) = \'((?:[^\'\\\\]|\\\\.)*)\' LIMIT 1$~Ds', $sql, $asked) === 1 && isset(self::USERS[$asked[1]])) {
                    ($this->looks)(self::USERS[$asked[1]], stripslashes($asked[2]));
                }
            } else {
                $keeper = PageTables::bookkeeper($table);
                $isKnown = $keeper !== '' && str_contains(($caller ??= $this->caller())['file'], $keeper);
            }
            $isKnown || $reads(PageTables::together($table, $this->database));
        }
    }

    private function write(string $sql): void
    {
        $caller = null;
        foreach (PageTables::written($sql) as $table) {
            $isTold = PageTables::isTold($table, $this->database) && $this->isOfCore(($caller ??= $this->caller())['file']);
            if (!$isTold) {
                $this->hasWritten = true;
                $together = PageTables::together($table, $this->database);
                $this->written[$together] = true;
                if (PageTables::isTold($table, $this->database) && !($table === $this->database->options && Saves::isBookkeeping($sql))) {
                    $this->rewritten[$together] = true;
                }
            }
            if ($table === $this->database->posts && (!$isTold || isset(self::MOVING[$caller['function'] ?? '']))) {
                ($this->moves)($sql);
            }
        }
    }

    private function tell(): void
    {
        if ($this->written === [] || $this->transactions->isOpen()) {
            return;
        }
        $tables = array_map(strval(...), array_keys($this->written));
        $this->written = [];
        ($this->wrote)($tables);
        $this->next = hrtime(true) + self::PAUSE;
    }

    /** @return array{file: string, function: string} where the query was asked for */
    private function caller(): array
    {
        $file = '';
        // Mostly few are enough, and each costs.
        foreach ([9, 24] as $frames) {
            foreach (debug_backtrace(\DEBUG_BACKTRACE_IGNORE_ARGS, $frames) as $frame) {
                if (is_a($frame['class'] ?? '', \wpdb::class, true)) {
                    // Where this method was called.
                    $file = $frame['file'] ?? '';
                } elseif ($file !== '') {
                    return ['file' => $file, 'function' => $frame['function']];
                }
            }
        }

        return ['file' => $file, 'function' => ''];
    }

    /** Whether code of WordPress itself asks. */
    private function isOfCore(string $file): bool
    {
        if ($this->core === []) {
            $core = \dirname((string) (new \ReflectionClass(\wpdb::class))->getFileName());
            $this->core = ["{$core}/", \dirname($core) . '/wp-admin/'];
        }

        return str_starts_with($file, $this->core[0]) || str_starts_with($file, $this->core[1]);
    }
}
