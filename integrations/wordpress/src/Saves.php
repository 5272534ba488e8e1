<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Finds saves that never came to their end. The database has what they changed, and the caches were not told.
 *
 * A request that writes to a table of WordPress notes so in a file, and holds that locked until it has told all. A process that is killed
 * before, as php-fpm does after its time limit, leaves a file that no process holds. The next request of WordPress finds it, and ends
 * all that is kept.
 *
 *     IDENTITY.save-0123456789abcdef.new   not locked yet, and nothing is written to the database. If no process holds it, it is deleted.
 *                                          A process that finds its own gone when it has the lock makes another
 *     IDENTITY.save-0123456789abcdef       locked before it got this name. If no process holds it, its process was killed
 *
 * A plugin may also end the request in a filter of a save, as by wp_die(). WordPress is in more hooks then than when it wrote, and has not
 * told of what it wrote.
 */
final class Saves
{
    /** Options that say nothing of what is kept, and that each visit may write. */
    private const BOOKKEEPING = '~\'(?:cron|_(?:site_)?transient_[^\']*)\'~';

    /** Tables, and the hooks that tell of what was written to them, where other code runs in between. */
    private const TELLING = [
        'posts' => ['clean_post_cache'],
        'term_relationships' => ['set_object_terms', 'deleted_term_relationships'],
        'terms' => ['clean_term_cache'],
        'term_taxonomy' => ['clean_term_cache'],
        'comments' => ['clean_comment_cache'],
        'users' => ['clean_user_cache'],
        'options' => ['added_option', 'updated_option', 'deleted_option'],
        'sitemeta' => ['add_site_option', 'update_site_option', 'delete_site_option'],
    ];

    /** What ends a request in the middle, and lets it do no more than say so. */
    private const FATAL = \E_ERROR | \E_CORE_ERROR | \E_COMPILE_ERROR | \E_USER_ERROR | \E_RECOVERABLE_ERROR;

    /** Of the files; null: there is none. */
    private readonly ?string $directory;

    /** What the names of the files begin with. */
    private readonly string $beginning;

    /** @var ?resource */
    private $lock;

    private string $file = '';

    /** @var array<string, list<string>> by table, the hooks that WordPress was in when it wrote there, and has not told of it yet */
    private array $untold = [];

    /**
     * @param \Closure(): bool       $isVisit whether the request only asks for a page
     * @param \Closure(string): bool $forget  ends all that is kept, and says why
     */
    public function __construct(
        Settings $settings,
        private readonly \Closure $isVisit,
        private readonly \Closure $forget,
    ) {
        $this->directory = $settings->directory;
        $this->beginning = "{$settings->identity}.save-";
    }

    public function hook(Transactions $transactions): void
    {
        if ($this->directory !== null) {
            // A path may have in it what glob() takes for patterns.
            foreach (glob(addcslashes("{$this->directory}/{$this->beginning}", '*?[\\') . '*') ?: [] as $file) {
                $this->look($this->directory, $file);
            }
        }
        $transactions->writes($this->note(...));
        foreach (self::TELLING as $table => $hooks) {
            foreach ($hooks as $hook) {
                add_action($hook, fn() => $this->told($table), \PHP_INT_MIN, 0);
            }
        }
        add_action('shutdown', function (): void {
            $error = $this->lock === null ? null : error_get_last();
            if ($error !== null && ($error['type'] & self::FATAL) !== 0) {
                ($this->forget)('a save that an error ended');
            } elseif ($this->isCutOff()) {
                ($this->forget)('a save that was cut off');
            }
        }, \PHP_INT_MIN);
    }

    /** Whether a query that writes to options changes only such as say nothing of what is kept. */
    public static function isBookkeeping(string $sql): bool
    {
        return preg_match(self::BOOKKEEPING, substr($sql, 0, 200) . substr($sql, -200)) === 1;
    }

    private function look(string $directory, string $file): void
    {
        // No pipe that lies there holds the request up.
        $lock = Directory::asOwner($directory, static fn(): mixed => @fopen($file, 'rn'));
        if (!\is_resource($lock)) {
            return;
        }
        if (flock($lock, \LOCK_EX | \LOCK_NB)) {
            clearstatcache(true, $file);
            // It may have come to its end since it was found, or have another name now.
            if (is_file($file) && (str_ends_with($file, '.new') || ($this->forget)('a save that was killed'))) {
                Directory::asOwner($directory, static fn(): bool => @unlink($file));
            }
        }
        fclose($lock);
    }

    /** A query that writes is about to be sent. */
    private function note(string $sql): void
    {
        $database = $GLOBALS['wpdb'] ?? null;
        if (!$database instanceof \wpdb) {
            return;
        }
        $isOfWordPress = false;
        foreach (PageTables::written($sql) as $table) {
            $name = PageTables::own($table, $database);
            if (($name === 'options' || $name === 'sitemeta') && self::isBookkeeping($sql)) {
                continue;
            }
            if (isset(self::TELLING[$name]) && \count($this->untold[$name] ?? self::within()) >= \count(self::within())) {
                $this->untold[$name] = self::within();
            }
            $isOfWordPress = $isOfWordPress || isset(self::TELLING[$name]) || PageTables::isTold($table, $database);
        }
        if ($isOfWordPress && $this->lock === null && $this->directory !== null && !($this->isVisit)()) {
            $place = "{$this->directory}/{$this->beginning}";
            Directory::asOwner($this->directory, fn() => $this->begin($place));
        }
    }

    private function begin(string $place): void
    {
        // Another process may look at it before it is locked, and delete it.
        do {
            $file = $place . bin2hex(random_bytes(8));
            $lock = @fopen("{$file}.new", 'x');
            if ($lock === false || !flock($lock, \LOCK_EX)) {
                return;
            }
            $isNamed = @rename("{$file}.new", $file);
            clearstatcache(true, "{$file}.new");
        } while (!$isNamed && !is_file("{$file}.new"));
        if ($isNamed) {
            $this->lock = $lock;
            $this->file = $file;
            // Behind all that tells the caches at the end of the request.
            register_shutdown_function($this->end(...));
        }
    }

    private function end(): void
    {
        Directory::asOwner(\dirname($this->file), fn(): bool => @unlink($this->file));
        if ($this->lock !== null) {
            fclose($this->lock);
            $this->lock = null;
        }
    }

    /** WordPress says that it has written to this table, unless that is of another save, from within this one. */
    private function told(string $table): void
    {
        if (\count(self::within()) <= \count($this->untold[$table] ?? [])) {
            unset($this->untold[$table]);
        }
    }

    /** Whether the request ends in a hook of a save. */
    private function isCutOff(): bool
    {
        $within = self::within();

        return array_filter($this->untold, static fn(array $before): bool => \count($within) > \count($before) && \array_slice($within, 0, \count($before)) === $before) !== [];
    }

    /** @return list<string> the hooks that WordPress is in, without that which calls us */
    private static function within(): array
    {
        $hooks = $GLOBALS['wp_current_filter'] ?? [];

        return \is_array($hooks) ? array_values(array_filter(\array_slice($hooks, 0, -1), is_string(...))) : [];
    }
}
