<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/** A connection that can send now and read later, so that several servers work at the same time. */
interface Parallel extends Connection
{
    /**
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @throws StoreUnavailable
     */
    public function begin(array $commands): void;

    /**
     * What send() would have brought for what was begun.
     *
     * @return non-empty-list<mixed>
     *
     * @throws StoreUnavailable
     */
    public function finish(): array;
}
