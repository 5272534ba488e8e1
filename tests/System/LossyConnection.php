<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Exception\StoreUnavailable;
use Larder\Store\Redis\Connection;

/** A connection that loses an answer on demand: the server has done what it was told. */
final class LossyConnection implements Connection
{
    /** The answer to the next commands with this in them is lost; '': none is. */
    public string $loses = '';

    /** How many were lost. */
    public int $lost = 0;

    public function __construct(
        private readonly Connection $connection,
    ) {}

    public function send(array $commands): array
    {
        $replies = $this->connection->send($commands);
        if ($this->loses !== '' && str_contains(implode(' ', array_merge(...$commands)), $this->loses)) {
            $this->loses = '';
            $this->lost++;

            throw StoreUnavailable::because('The Redis server', 'the connection broke before its answer came', 'look at the test that broke it');
        }

        return $replies;
    }
}
