<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Bench\Server\MemcachedServer;
use Larder\Dsn;
use Larder\Store;
use Larder\Store\MemcachedStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(MemcachedStore::class)]
final class MemcachedStoreTest extends SharedStoreContract
{
    private static ?MemcachedServer $server = null;

    private ?Store $store = null;

    public static function setUpBeforeClass(): void
    {
        self::$server = MemcachedServer::onSocket();
    }

    public static function tearDownAfterClass(): void
    {
        self::$server?->stop();
        self::$server = null;
    }

    protected function setUp(): void
    {
        $this->store()->clear();
    }

    protected function store(): Store
    {
        return $this->store ??= self::named('test');
    }

    protected function reopened(): Store
    {
        return self::named('test');
    }

    protected function neighbour(): Store
    {
        return self::named('tes');
    }

    private static function named(string $prefix): Store
    {
        self::assertNotNull(self::$server);

        return Dsn::parse('memcached+unix:' . self::$server->socket . "?prefix={$prefix}&timeout=10")->open();
    }
}
