<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Subject;

use Larder\Bench\Server\RedisServer;
use Larder\Bench\Subject\RedisScript;
use Larder\Tests\Bench\RealServers;

final class RedisScriptTest extends RealServers
{
    public function testItReadsWhatTheLibraryHasStored(): void
    {
        self::need('redis-server');
        $server = RedisServer::start(megabytes: 64);
        try {
            $script = new RedisScript($server->socket);
            foreach (['a text', ['a' => [1, 2.5, null]]] as $i => $value) {
                $script->set("key {$i}", $value);
                self::assertSame($value, $script->get("key {$i}"));
            }
            self::assertNull($script->get('absent'));
            $script->close();
        } finally {
            $server->stop();
        }
    }
}
