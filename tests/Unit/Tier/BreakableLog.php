<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Tier;

use Larder\Exception\StoreUnavailable;
use Larder\Log\Beside;
use Larder\Log\Event;
use Larder\Log\News;

/** A log that cannot be read, or has no head, when a test says so, and counts how often it is asked for news. */
final class BreakableLog implements Beside
{
    public bool $isBroken = false;

    /** Whether it never has a head, as while something is being recorded. */
    public bool $isHeadless = false;

    public int $asked = 0;

    /** @var ?\Closure(): void what happens once it has told the news */
    public ?\Closure $afterwards = null;

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

        $news = $this->log->since($position);
        [$afterwards, $this->afterwards] = [$this->afterwards, null];
        $afterwards === null || $afterwards();

        return $news;
    }

    public function isOfHistory(string $position): bool
    {
        return $this->log->isOfHistory($position);
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
