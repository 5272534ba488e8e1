<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Subject;

use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Subject\MemcachedSubjects;
use Larder\Tests\Bench\RealServers;

final class MemcachedSubjectsTest extends RealServers
{
    public function testManyAreReadAtOnceInTheirOrderAndAsOftenAsTheyAreAskedFor(): void
    {
        self::need('memcached');
        $server = MemcachedServer::onSocket(64);
        try {
            $client = new \Memcached();
            $client->addServer((string) $server->socket, 0);
            $client->setMulti(['one' => 'first', 'two' => 'second']);

            self::assertSame(['second', 'first', 'second', null], MemcachedSubjects::multi($client, ['two', 'one', 'two', 'three']));
        } finally {
            $server->stop();
        }
    }
}
