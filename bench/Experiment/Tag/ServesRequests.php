<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

/** A cache of a framework that says when a request of a worker is over. */
interface ServesRequests extends TaggedCache
{
    /** What the framework does then. The process, its connections and what it uses in place stay. */
    public function endRequest(): void;
}
