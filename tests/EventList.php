<?php

declare(strict_types=1);

namespace Larder\Tests;

use Psr\EventDispatcher\EventDispatcherInterface;

/** Keeps what is dispatched. */
final class EventList implements EventDispatcherInterface
{
    /** @var list<object> */
    public array $events = [];

    public function dispatch(object $event): object
    {
        $this->events[] = $event;

        return $event;
    }
}
