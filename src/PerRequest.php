<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/**
 * A store that keeps something for the length of a request: what was missed in it, how far it has followed others, or what it knows of
 * its server.
 * Where a request ends with its script nobody needs to tell it; a process that serves many calls Cache::refresh().
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
