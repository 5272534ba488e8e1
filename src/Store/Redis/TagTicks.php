<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/**
 * When tags were last invalidated, as a process knows it. All that a span says is here. Of other tags there is
 * the answer of the server or of the host.
 *
 * Of each tag it is true as of the end of the span, or of a later moment. Its span never changes: another span has another object. So
 * a signal's handler that reads meanwhile cannot put a tick beside a span that is not its own.
 */
final class TagTicks
{
    /** Tags that are kept for the next span. */
    private const AT_HAND = 16_384;

    /** @param array<array-key, int> $byHash with Span::MAY_BE_SERVED; 0: never */
    private function __construct(
        public readonly Span $span,
        public array $byHash,
    ) {}

    /** @param ?self $before what the process knew so far; of another history, or of a time that is too long ago, it counts no more */
    public static function of(Span $span, ?self $before): self
    {
        $ticks = [];
        $since = 0;
        if ($before !== null && $span->goesOnFrom($before->span) && \count($before->byHash) <= self::AT_HAND) {
            $ticks = $before->byHash;
            // One that begins earlier also names tags of the time before.
            $since = $before->span->since <= $span->since ? $before->span->until : 0;
        }
        foreach ($span->after($since) as [$hash, $tick]) {
            $ticks[$hash] = $tick;
        }

        return new self($span, $ticks);
    }
}
