<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

/** What is lost behind a store's back, as any process can cause that may write where it lies. */
final class Losses
{
    private function __construct() {}

    /**
     * @param list<string> $tables
     *
     * @return iterable<string, \Closure(): void> what is lost, and how
     */
    public static function inSqlite(\SQLite3 $database, string $prefix, array $tables = ['clock', 'tags', 'items']): iterable
    {
        foreach ($tables as $table) {
            yield "the {$table}" => static function () use ($database, $table, $prefix): void {
                $database->exec("DELETE FROM \"{$table}:{$prefix}\"");
            };
        }
    }
}
