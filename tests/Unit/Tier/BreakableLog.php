<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Tier;

use Larder\Exception\StoreUnavailable;
use Larder\Log\Beside;
use Larder\Log\Event;
use Larder\Log\News;

/** A log that cannot be read, or has no head, when a test says so, and that counts how often it is asked for news. */
final class BreakableLog implements Beside
{
    public bool $isBroken = false;

    /** Whether it never has a head, as while something is being recorded. */
    public bool $isHeadless = false;

    public int $asked = 0;

    /** @var list<Event> that were recorded */
    public array $recorded = [];

    public function __construct(
        private readonly Beside $log,
    ) {}

    public function head(): ?string
    {
        $this->fail();

        return $this->isHeadless ? null : $this->log->head();
    }

    public function since(?string $position): News
    {
        $this->fail();
        $this->asked++;

        return $this->log->since($position);
    }

    public function own(string $head, string $position): ?News
    {
        $this->fail();

        return $this->log->own($head, $position);
    }

    public function record(Event $event, \Closure $write): mixed
    {
        $this->fail();
        $this->recorded[] = $event;

        return $this->log->record($event, $write);
    }

    private function fail(): void
    {
        if ($this->isBroken) {
            throw StoreUnavailable::because('The log', 'a test has broken it', 'nothing');
        }
    }
}
