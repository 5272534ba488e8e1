<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Store\Redis\Living;

/** A connection between two of whose commands another process does something once, although they are sent together. */
final class OvertakenConnection implements Living
{
    /** @var ?\Closure(): mixed what happens after the next command that is not alone */
    public ?\Closure $overtake = null;

    public function __construct(
        private readonly Living $connection,
    ) {}

    public function send(array $commands): array
    {
        if ($this->overtake === null || \count($commands) < 2) {
            return $this->connection->send($commands);
        }
        [$overtake, $this->overtake] = [$this->overtake, null];
        $replies = $this->connection->send([$commands[0]]);
        $overtake();

        return [...$replies, ...$this->connection->send(\array_slice($commands, 1))];
    }

    public function life(string $name): string
    {
        return $this->connection->life($name);
    }

    public function doubt(): void
    {
        $this->connection->doubt();
    }

    public function leave(): void
    {
        $this->connection->leave();
    }
}
