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
     * @return \Closure(): non-empty-list<mixed> reads what send() would have brought, and throws what it would have thrown;
     *                                           without a call of it, these replies stay unread
     *
     * @throws StoreUnavailable
     */
    public function begin(array $commands): \Closure;
}
