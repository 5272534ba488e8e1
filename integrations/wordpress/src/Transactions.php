<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Sees the transactions of a request. Until the end of one, other processes read the old rows, and keep them anew. Keys and tags that were
 * invalidated meanwhile are so again afterwards. The process itself reads rows that may be taken back, or are old, and keeps them to itself.
 */
final class Transactions
{
    private bool $isOpen = false;

    /** Whether each end is a beginning, as after "SET autocommit = 0". */
    private bool $isManual = false;

    /** Whether one is to end by the query that was seen last. */
    private bool $ends = false;

    /** @var list<\Closure(): void> */
    private array $after = [];

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
                $this->isManual = false;
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

    public function isOpen(): bool
    {
        return $this->isOpen;
    }

    private function see(mixed $sql): mixed
    {
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
        if ($this->isManual) {
            $this->begin();
        }
    }
}
