<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Finds saves that never came to their end. The database has what they changed, and the caches were not told.
 *
 * A request that writes to a table of WordPress notes so in a file, and holds that locked until it has told all. A process that is killed
 * before, as php-fpm does after its time limit, leaves a file that no process holds. The next request of WordPress finds it, and ends
 * all that is kept.
 */
final class Saves
{
    /** Options that say nothing of what is kept, and that each visit may write. */
    private const BOOKKEEPING = '~\'(?:cron|_(?:site_)?transient_[^\']*)\'~';

    /** What ends a request in the middle, and lets it do no more than say so. */
    private const FATAL = \E_ERROR | \E_CORE_ERROR | \E_COMPILE_ERROR | \E_USER_ERROR | \E_RECOVERABLE_ERROR;

    /** What the names of the files begin with; empty: there is no directory for them. */
    private readonly string $place;

    /** @var ?resource */
    private $lock;

    private string $file = '';

    /**
     * @param \Closure(): bool       $isVisit whether the request only asks for a page
     * @param \Closure(string): bool $forget  ends all that is kept, and says why
     */
    public function __construct(
        Settings $settings,
        private readonly \Closure $isVisit,
        private readonly \Closure $forget,
    ) {
        $this->place = $settings->directory === null ? '' : "{$settings->directory}/{$settings->identity}.save-";
    }

    public function hook(Transactions $transactions): void
    {
        if ($this->place === '') {
            return;
        }
        foreach (glob("{$this->place}*[0-9a-f]") ?: [] as $file) {
            $this->look($file);
        }
        $transactions->writes($this->note(...));
        add_action('shutdown', function (): void {
            $error = $this->lock === null ? null : error_get_last();
            if ($error !== null && ($error['type'] & self::FATAL) !== 0) {
                ($this->forget)('a save that an error ended');
            }
        }, \PHP_INT_MIN);
    }

    private function look(string $file): void
    {
        $lock = @fopen($file, 'r');
        if ($lock === false) {
            return;
        }
        if (flock($lock, \LOCK_EX | \LOCK_NB)) {
            clearstatcache(true, $file);
            // It may have come to its end since it was found.
            if (is_file($file) && ($this->forget)('a save that was killed')) {
                @unlink($file);
            }
        }
        fclose($lock);
    }

    /** A query that writes is about to be sent. */
    private function note(string $sql): void
    {
        if ($this->lock !== null || ($this->isVisit)() || !$this->isOfWordPress($sql)) {
            return;
        }
        $file = $this->place . bin2hex(random_bytes(8));
        // Under its name only once it is locked: another request would take it for one of a process that was killed.
        $lock = @fopen("{$file}.new", 'x');
        if ($lock !== false && flock($lock, \LOCK_EX) && rename("{$file}.new", $file)) {
            $this->lock = $lock;
            $this->file = $file;
            // Behind all that tells the caches at the end of the request.
            register_shutdown_function($this->end(...));
        }
    }

    private function end(): void
    {
        @unlink($this->file);
        if ($this->lock !== null) {
            fclose($this->lock);
            $this->lock = null;
        }
    }

    private function isOfWordPress(string $sql): bool
    {
        $database = $GLOBALS['wpdb'] ?? null;
        if (!$database instanceof \wpdb) {
            return false;
        }
        foreach (PageTables::written($sql) as $table) {
            if (PageTables::isTold($table, $database) && ($table !== $database->options || preg_match(self::BOOKKEEPING, substr($sql, 0, 200) . substr($sql, -200)) !== 1)) {
                return true;
            }
        }

        return false;
    }
}
