<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Store\Redis\Parallel;

/** A connection to one of several servers, all of which note in one diary what they do and when. */
final class RecordedConnection implements Parallel
{
    /** @param \ArrayObject<int, string> $diary */
    public function __construct(
        private readonly Parallel $connection,
        private readonly string $name,
        private readonly \ArrayObject $diary,
    ) {}

    public function send(array $commands): array
    {
        $this->diary[] = "send {$this->name}";

        return $this->connection->send($commands);
    }

    public function begin(array $commands): \Closure
    {
        $this->diary[] = "begin {$this->name}";
        $finish = $this->connection->begin($commands);

        return function () use ($finish): array {
            $this->diary[] = "finish {$this->name}";

            return $finish();
        };
    }
}
