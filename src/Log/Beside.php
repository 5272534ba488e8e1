<?php

declare(strict_types=1);

namespace Larder\Log;

use Larder\Exception\StoreUnavailable;
use Larder\Log;

/** A log on the machine of those who follow it. It tells for next to nothing that it has no news, and is told of each write. */
interface Beside extends Log
{
    /**
     * A short word that is another one whenever something was recorded since it was asked for; the cheapest way to learn
     * that nothing was. Two that are the same say that no write has begun, and none has ended, in between.
     *
     * @return ?string null: something is being recorded at the moment, or it cannot be told so cheaply; ask for the news
     *
     * @throws StoreUnavailable
     */
    public function head(): ?string;

    /**
     * The events that this object recorded between a position and the state of a head, if there were no others: a near store that
     * has just been written through follows its own writes without asking for the news.
     *
     * @param string $head     as head() tells it now
     * @param string $position as earlier news told it
     *
     * @return ?News null: others have recorded something, or it is not known; ask for the news
     */
    public function own(string $head, string $position): ?News;

    /**
     * Has something written into the far store, and the event recorded with it: both or neither.
     *
     * @template T
     *
     * @param \Closure(): T $write into the far store; may be called again if the first time was undone
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    public function record(Event $event, \Closure $write): mixed;
}
