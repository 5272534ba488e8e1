<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use PHPUnit\Framework\TestCase;

/** Tests that share a Redis or Valkey of their own. */
abstract class OneRedis extends TestCase
{
    private static ?CacheServer $server = null;

    public static function setUpBeforeClass(): void
    {
        self::$server = CacheServer::redis()->start();
    }

    public static function tearDownAfterClass(): void
    {
        self::$server?->stop();
        self::$server = null;
    }

    final protected static function server(): CacheServer
    {
        return self::$server ?? throw new \LogicException('It is started before the first test.');
    }

    /** A plain connection to it. */
    final protected static function redis(): \Redis
    {
        $redis = new \Redis();
        $redis->connect(self::server()->socket);

        return $redis;
    }
}
