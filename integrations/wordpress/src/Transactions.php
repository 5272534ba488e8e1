<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Sees the transactions of a request. Until the end of one, other processes read the old rows, and keep them anew. Keys and tags that were
 * invalidated meanwhile are so again afterwards. The process itself reads rows that may be taken back, or are old, and keeps them to itself.
 *
 * It does so, too, once a query has failed that reads. WordPress takes it for one without rows, and would keep that nothing is there.
 */
final class Transactions
{
    /** Numbers of errors that a query has each time: an unknown column, an ambiguous one, a mistake of grammar, no such function. */
    private const LASTING = [1054 => true, 1052 => true, 1064 => true, 1305 => true];

    private const NO_TABLE = 1146;

    private bool $isOpen = false;

    /** Whether each end is a beginning, as after "SET autocommit = 0". */
    private bool $isManual = false;

    /** Whether one is to end by the query that was seen last. */
    private bool $ends = false;

    /** Whether a query that reads has failed. */
    private bool $hasFailed = false;

    private bool $wasConnected = false;

    /** Whether the request ends. */
    private bool $isOver = false;

    /** @var list<\Closure(): void> */
    private array $after = [];

    /** @var ?\Closure(string): void */
    private ?\Closure $writes = null;

    public function __construct(
        private readonly ?ObjectCache $cache,
    ) {}

    public function hook(): void
    {
        add_filter('query', $this->see(...), \PHP_INT_MIN);
        add_filter('pre_http_request', function (mixed $answer): mixed {
            // The other server may come back to this site.
            if ($this->ends) {
                $this->end();
            }

            return $answer;
        }, \PHP_INT_MIN);
        foreach ([\PHP_INT_MIN, \PHP_INT_MAX - 2] as $priority) {
            // What no COMMIT has confirmed is not there when the request has ended.
            add_action('shutdown', function (): void {
                $this->look();
                $this->isManual = false;
                $this->isOver = true;
                if ($this->isOpen) {
                    $this->end();
                }
            }, $priority);
        }
    }

    /** @param \Closure(): void $after is called when a transaction has ended, whichever way */
    public function after(\Closure $after): void
    {
        $this->after[] = $after;
    }

    /** @param \Closure(string): void $writes is called with each query that writes, before it is sent */
    public function writes(\Closure $writes): void
    {
        $this->writes = $writes;
    }

    public function isOpen(): bool
    {
        return $this->isOpen;
    }

    /** Whether the database has refused to say something in this request, or was gone. */
    public function hasFailed(): bool
    {
        $this->look();

        return $this->hasFailed;
    }

    /** Whether the query that was seen last has failed is known only now. */
    private function look(): void
    {
        $database = $this->hasFailed ? null : $GLOBALS['wpdb'] ?? null;
        if (!$database instanceof \wpdb) {
            return;
        }
        $connection = $database->__get('dbh');
        $isConnected = $connection !== null;
        // Where WordPress waits for a database in vain, it notes no error.
        if (($this->wasConnected && !$isConnected) || ($database->last_error !== '' && $this->isFailure($database, $connection))) {
            $this->hasFailed = true;
            $this->cache?->distrust();
            $this->isOpen || $this->begin();
        }
        $this->wasConnected = $isConnected;
    }

    /** Whether the query could have had rows at another time. Where a table of a plugin is missing, each page of the site asks for it in vain. */
    private function isFailure(\wpdb $database, mixed $connection): bool
    {
        $sql = (string) $database->last_query;
        $error = $connection instanceof \mysqli ? mysqli_errno($connection) : 0;
        if (PageTables::verb($sql) !== 'reads' || isset(self::LASTING[$error])) {
            return false;
        }

        // A backup that is played back makes the tables of WordPress anew.
        return $error !== self::NO_TABLE || array_filter(PageTables::read($sql), static fn(string $table): bool => PageTables::isOwn($table, $database)) !== [];
    }

    private function see(mixed $sql): mixed
    {
        $this->look();
        if ($this->ends) {
            $this->end();
        }
        $verb = \is_string($sql) && strncasecmp($sql, 'SELECT', 6) !== 0 ? PageTables::verb($sql) : '';
        if ($verb !== '' && preg_match('~^\s*SET\b~i', $sql) === 1) {
            $this->isManual = $verb === 'begins';
        }
        if ($verb === 'begins' && !$this->isOpen) {
            $this->begin();
        }
        $this->ends = $verb === 'ends' && $this->isOpen;
        if ($verb === 'writes' && $this->writes !== null) {
            ($this->writes)($sql);
        }

        return $sql;
    }

    private function begin(): void
    {
        $this->isOpen = true;
        $this->cache?->beginTransaction();
    }

    private function end(): void
    {
        $this->isOpen = $this->ends = false;
        $this->cache?->endTransaction();
        foreach ($this->after as $after) {
            $after();
        }
        if ($this->isManual || ($this->hasFailed && !$this->isOver)) {
            $this->begin();
        }
    }
}
