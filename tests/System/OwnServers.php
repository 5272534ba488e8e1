<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use PHPUnit\Framework\TestCase;

/** Tests each of which starts servers of its own, which stop with it. */
abstract class OwnServers extends TestCase
{
    /** @var list<CacheServer> */
    protected array $servers = [];

    protected function tearDown(): void
    {
        foreach ($this->servers as $server) {
            $server->stop();
        }
        $this->servers = [];
    }

    final protected function started(CacheServer $server): CacheServer
    {
        return $this->servers[] = $server->start();
    }
}
