<?php

declare(strict_types=1);

namespace Larder\Log;

/** What a log has to say to a near store that has followed it up to some position. */
final class News
{
    /**
     * @param string       $position   up to which this goes; opaque to everyone but the log
     * @param list<Event>  $events     since the near store's position, the oldest first
     * @param bool         $isComplete false: the log does not reach back to that position, or is another one by now; what
     *                                 the near store has cannot be trusted
     */
    public function __construct(
        public readonly string $position,
        public readonly array $events,
        public readonly bool $isComplete,
    ) {}
}
