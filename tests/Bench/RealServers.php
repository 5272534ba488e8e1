<?php

declare(strict_types=1);

namespace Larder\Tests\Bench;

use Larder\Bench\Server\Program;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use PHPUnit\Framework\TestCase;

/** What tests with real servers need; what is missing skips a test, and fails it in CI. */
abstract class RealServers extends TestCase
{
    /** @param list<string> $options */
    protected static function redis(array $options = []): RedisServer
    {
        return RedisServer::start(RedisFlavour::installed() ?? self::lack('redis-server or valkey-server'), 64, options: $options);
    }

    protected static function need(string ...$programs): void
    {
        if (Program::find(...$programs) === null) {
            self::lack(implode(' or ', $programs));
        }
    }

    protected static function lack(string $what): never
    {
        $lack = "There is no {$what} on the PATH; `tools/packages servers` installs it.";
        if (getenv('CI') === 'true') {
            self::fail($lack);
        }
        self::markTestSkipped($lack);
    }
}
