<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** The servers that subjects can ask for. */
enum ServerKind: string
{
    case Redis = 'redis';
    case Valkey = 'valkey';
    case MemcachedSocket = 'memcached-socket';
    case MemcachedPort = 'memcached-port';
}
