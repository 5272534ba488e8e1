<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use PHPUnit\Framework\Assert;

/** Changes the bytes of items behind a store's back, as any process can that may write where they lie. */
final class Forgery
{
    private function __construct() {}

    /** @param \Closure(string): string $forge */
    public static function inSqlite(string $path, string $prefix, string $key, \Closure $forge): void
    {
        $database = new \SQLite3($path);
        $database->busyTimeout(30_000);
        $find = $database->prepare("SELECT value FROM \"items:{$prefix}\" WHERE key = ?");
        $change = $database->prepare("UPDATE \"items:{$prefix}\" SET value = ? WHERE key = ?");
        Assert::assertTrue($find !== false && $change !== false);
        $find->bindValue(1, $key, \SQLITE3_BLOB);
        $row = $find->execute();
        $bytes = $row === false ? false : $row->fetchArray(\SQLITE3_NUM);
        Assert::assertIsArray($bytes);
        Assert::assertIsString($bytes[0]);
        $change->bindValue(1, $forge($bytes[0]), \SQLITE3_BLOB);
        $change->bindValue(2, $key, \SQLITE3_BLOB);
        $change->execute();
        Assert::assertSame(1, $database->changes());
    }

    /**
     * All items of a directory.
     *
     * @param \Closure(string): string $forge
     */
    public static function inFiles(string $directory, \Closure $forge): void
    {
        $files = array_filter(glob("{$directory}/[0-9a-f][0-9a-f]/*") ?: [], static fn(string $file): bool => !is_link($file));
        Assert::assertNotSame([], $files);
        foreach ($files as $file) {
            file_put_contents($file, $forge((string) file_get_contents($file)));
        }
    }

    /**
     * @param string                   $name  of the item in the server
     * @param \Closure(string): string $forge
     */
    public static function inRedis(string $socket, int $database, string $name, \Closure $forge): void
    {
        $redis = new \Redis();
        $redis->connect($socket);
        $redis->select($database);
        $bytes = $redis->get($name);
        Assert::assertIsString($bytes);
        $redis->set($name, $forge($bytes), ['KEEPTTL']);
    }

    /**
     * @param list<string>             $sockets of the servers, one of which has it
     * @param \Closure(string): string $forge
     */
    public static function inMemcached(array $sockets, string $prefix, string $key, \Closure $forge): void
    {
        foreach ($sockets as $socket) {
            $client = new \Memcached();
            $client->addServer($socket, 0);
            $clock = $client->get("{$prefix}!clock");
            $name = "{$prefix}:" . (\is_string($clock) ? substr($clock, 0, 16) : '') . ":k:{$key}";
            $bytes = $client->get($name);
            if (\is_string($bytes)) {
                Assert::assertTrue($client->set($name, $forge($bytes)));

                return;
            }
        }
        Assert::fail('No server has the item.');
    }
}
