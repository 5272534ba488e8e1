<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Store\TagSlot;
use Larder\Stores;
use Larder\Tests\System\CacheServer;

/** MemcachedStore over one server or several. */
abstract class MemcachedCase extends NamedStoreCase
{
    /** @var list<CacheServer> */
    private static array $servers = [];

    /** @return non-empty-list<CacheServer> that run */
    abstract protected static function servers(): array;

    public static function setUpBeforeClass(): void
    {
        self::$servers = static::servers();
    }

    public static function tearDownAfterClass(): void
    {
        foreach (self::$servers as $server) {
            $server->stop();
        }
        self::$servers = [];
    }

    protected function setUp(): void
    {
        $this->store()->clear();
    }

    public function losses(): iterable
    {
        $all = [];
        foreach (self::$servers as $number => $server) {
            $client = new \Memcached();
            $client->addServer($server->socket, 0);
            $epoch = $client->get('test!clock');
            $epoch = \is_string($epoch) ? substr($epoch, 0, 16) : '';
            yield "the clock of server {$number}" => static function () use ($client): void {
                $client->delete('test!clock');
            };
            yield "the slots of server {$number}" => static function () use ($client, $epoch): void {
                $client->deleteMulti(array_map(static fn(int $slot): string => "test!{$epoch}:t{$slot}", range(0, TagSlot::SLOTS - 1)));
            };
            yield "all of server {$number}" => static function () use ($client): void {
                $client->flush();
            };
            $all[] = static function () use ($client, $epoch): void {
                foreach (['deleted', 'overwritten', 'h:' . hash('sha256', 'tag late')] as $key) {
                    $client->delete("test:{$epoch}:" . (str_contains($key, ':') ? $key : "k:{$key}"));
                }
            };
        }
        yield 'the holes' => static function () use ($all): void {
            foreach ($all as $lose) {
                $lose();
            }
        };
    }

    protected function named(string $name): Store
    {
        $paths = implode(',', array_map(static fn(CacheServer $server): string => $server->socket, self::$servers));

        return Stores::open("memcached+unix:{$paths}?prefix={$name}&timeout=10");
    }

    /** What is under a name that is not used any more is left to the server's eviction. */
    public function footprint(): null
    {
        return null;
    }

    public function forge(string $key, \Closure $forge): bool
    {
        Forgery::inMemcached(array_map(static fn(CacheServer $server): string => $server->socket, self::$servers), 'test', $key, $forge);

        return true;
    }
}
