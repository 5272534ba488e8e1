<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/**
 * A store that keeps facts for the length of a request: its misses, its position in a log, or the state of its server. Where a
 * request ends with its script, no call is needed. A process that serves many requests calls Cache::refresh().
 */
interface PerRequest
{
    /**
     * In this process, another request begins.
     *
     * @throws StoreUnavailable
     */
    public function beginRequest(): void;
}
