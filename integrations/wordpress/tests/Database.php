<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\MariaDbServer;

/**
 * The MariaDB of all tests, which ends with their process. To start one, and to install WordPress, takes seconds. So there is one, and each site
 * begins as a copy of tables that were installed once.
 */
final class Database
{
    private static ?self $shared = null;

    /** @var array<string, true> names of installed ones that are copied */
    private array $installed = [];

    private readonly \mysqli $connection;

    private function __construct(
        public readonly MariaDbServer $server,
    ) {
        $this->connection = new \mysqli('localhost', 'root', '', '', 0, $server->socket);
    }

    public static function shared(): self
    {
        return self::$shared ??= new self(MariaDbServer::start());
    }

    /**
     * Makes a database.
     *
     * @param string           $name    its name
     * @param string           $kind    of what is in it; databases of one kind begin alike
     * @param \Closure(): void $install fills the first one
     */
    public function make(string $name, string $kind, \Closure $install): void
    {
        $this->connection->query("CREATE DATABASE {$name}");
        if (isset($this->installed[$kind])) {
            $this->copy($kind, $name);

            return;
        }
        $install();
        $this->connection->query("CREATE DATABASE {$kind}");
        $this->copy($name, $kind);
        $this->installed[$kind] = true;
    }

    /** @return list<array<array-key, string>> what a database has now; columns by name, NULL as an empty text */
    public function rows(string $database, string $query): array
    {
        $this->connection->select_db($database);
        $found = $this->connection->query($query);
        $rows = [];
        foreach ($found instanceof \mysqli_result ? $found->fetch_all(\MYSQLI_ASSOC) : [] as $row) {
            $rows[] = array_map(static fn(mixed $column): string => \is_scalar($column) ? (string) $column : '', $row);
        }

        return $rows;
    }

    private function copy(string $from, string $to): void
    {
        $tables = $this->connection->query("SHOW TABLES FROM {$from}");
        foreach ($tables instanceof \mysqli_result ? $tables->fetch_all() : [] as [$table]) {
            if (\is_string($table)) {
                $this->connection->query("CREATE TABLE {$to}.{$table} LIKE {$from}.{$table}");
                $this->connection->query("INSERT INTO {$to}.{$table} SELECT * FROM {$from}.{$table}");
            }
        }
    }
}
