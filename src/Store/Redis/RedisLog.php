<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;
use Larder\Log\Away;
use Larder\Log\Event;
use Larder\Log\News;
use Larder\System\Caution;
use Larder\Token;
use Psr\Log\LoggerAwareInterface;
use Psr\Log\LoggerInterface;

/**
 * The log of a RedisStore: a stream for each shard, which the scripts that write append to (see Script and Lua::RECORD).
 *
 * What holds:
 *
 * 1. A write, delete, tag invalidation or touch, and its events, are one script. A script that may not record changes nothing. A
 *    fill of a missing key has no event, as no near store has anything to forget because of it. It has one where the server has evicted
 *    anything.
 * 2. A log begins with the first process that follows it. From then on every script records, also that of a process without a near
 *    store. A log that is gone has ended for all: a position in it is no position in the next one.
 * 3. A position is the id of the last event that was followed, its mark, and the life of the server (see Life). No two events have the
 *    same mark, which is the epoch and the tick. A near store asks for that event together with what follows it. If the answer begins
 *    with another one, the position is of another history. That is so after a trim beyond it, FLUSHALL or a clear. It is so, too, if
 *    the clock or the log is lost.
 * 4. In another life, a position is of another history. A replica, or a disk, may have missed the end of the log. The connection tells
 *    the life, as it was a second ago at most or in this round trip. It breaks when the server ends. Where the two differ, it may also be
 *    the connection that leads to a former master: then it is made anew, once.
 *
 * By 3 and 4, a near store starts anew after any loss, and is never trusted. All shards are asked in one round trip to each server.
 *
 * Why near stores ask, where Redis could tell them (CLIENT TRACKING): see docs/several-hosts.md.
 */
final class RedisLog implements Away, LoggerAwareInterface
{
    /** Events in one answer; for a near store that has more to follow it is better to start anew. */
    private const MOST_EVENTS = 1_000;

    private const EVICTS = 'The Redis server may evict the log that near stores follow, which then begin anew; set maxmemory-policy to volatile-lru or noeviction.';

    /** Between the parts of a position, and between the shards. */
    private const AND = ' ';

    /**
     * The answer to what was asked along, and the position that it begins at.
     *
     * @var ?array{string, ?list<mixed>}
     */
    private ?array $along = null;

    /** Whether it is being asked along. */
    private bool $isAsking = false;

    /**
     * The last answer that told nothing new, and its news. Requests get the same one again and again.
     *
     * @var ?array{list<mixed>, News}
     */
    private ?array $quiet = null;

    /**
     * The questions that were asked last, and the position that they begin at.
     *
     * @var ?array{string, non-empty-list<non-empty-list<string>>}
     */
    private ?array $asked = null;

    /**
     * The position that reaches() was asked of last, what the tokens begin with that it may reach, and the last clock of these.
     *
     * @var ?array{string, string, int}
     */
    private ?array $reached = null;

    /** Null: PHP's error log. */
    private ?LoggerInterface $logger = null;

    /** Made when there is something to tell, which most requests have not. */
    private ?Caution $caution = null;

    /** @param \Closure(): ?string $evicts by which policy the server evicts, if it does */
    public function __construct(
        private readonly Scripts $scripts,
        private readonly Layout $layout,
        private readonly \Closure $evicts,
    ) {}

    public function askAlong(?string $position): void
    {
        $this->along = null;
        if ($this->isAsking) {
            $this->scripts->sendNothingBehind();
            $this->isAsking = false;
        }
        $questions = $position === null ? null : $this->questions($position);
        if ($position === null || $questions === null) {
            return;
        }
        $this->isAsking = true;
        $this->scripts->sendBehind($questions, function (array $replies) use ($position): void {
            $this->along = [$position, $replies];
        });
    }

    /**
     * Whether there are, or were, near stores in front of it. Where the server does not say, there may be.
     *
     * @throws StoreUnavailable
     */
    public function isFollowed(): bool
    {
        $replies = $this->scripts->exchange(array_map(fn(int $shard): array => ['EXISTS', $this->layout->log($shard)], $this->layout->all()));

        return array_filter($replies, static fn(mixed $reply): bool => $reply !== 0) !== [];
    }

    /** Several masters answer in any order. */
    public function isAskedBehind(): bool
    {
        return $this->layout->shards === 0;
    }

    /**
     * A token is of the clock, which goes on with each event, and once more when that has changed anything. So one tick past the last
     * event's is its own change. Or it is an event that has changed nothing under any key. The clock of one shard tells nothing of the others.
     */
    public function reaches(string $position, Token $token): bool
    {
        if ($this->layout->shards > 0) {
            return false;
        }
        if ($this->reached === null || $this->reached[0] !== $position) {
            [, $mark, $life] = explode(self::AND, $position) + ['', '', ''];
            $bytes = preg_match('/^[0-9a-f]{28}$/D', $mark) === 1 ? (string) hex2bin($mark) : '';
            $this->reached = $bytes === '' ? [$position, "\0", \PHP_INT_MIN] : [$position, substr($bytes, 0, Script::EPOCH) . $life, Entry::number($bytes, Script::EPOCH) + 1];
        }

        // Behind the epoch may stand that it is of a counter.
        return $token->version <= $this->reached[2] && str_starts_with($token->epoch, $this->reached[1]);
    }

    public function since(?string $position): News
    {
        [$asked, $replies] = $this->along ?? [null, null];
        if ($this->isAsking) {
            $this->askAlong(null);
        }
        $questions = $position === null ? null : $this->questions($position);
        if ($position === null || $questions === null) {
            return $this->start();
        }
        if ($asked !== $position || $replies === null || array_filter($replies, static fn(mixed $reply): bool => $reply instanceof ErrorReply) !== []) {
            $replies = $this->scripts->exchange($questions);
        }

        $news = $this->news($position, $replies);
        if ($news === null && !$this->isOfHistory($position)) {
            // Another process may have followed the server that has taken this one's place, which is not heard of on a connection to this one.
            $this->scripts->leave();
            $news = $this->news($position, $this->scripts->exchange($questions));
        }

        return $news ?? $this->start();
    }

    public function isOfHistory(string $position): bool
    {
        if ($this->layout->shards <= 1) {
            // Told in fewer steps: a process asks this before it keeps what it has read.
            return str_ends_with($position, self::AND . $this->scripts->life($this->layout->clock(0)));
        }
        $parts = explode(self::AND, $position);
        foreach ($this->layout->all() as $i => $shard) {
            if ($this->scripts->life($this->layout->clock($shard)) !== ($parts[3 * $i + 2] ?? '')) {
                return false;
            }
        }

        return true;
    }

    /** @return ?non-empty-list<non-empty-list<string>> null: it is no position of such a log */
    private function questions(string $position): ?array
    {
        if ($this->asked !== null && $this->asked[0] === $position) {
            return $this->asked[1];
        }
        $shards = $this->layout->all();
        $parts = explode(self::AND, $position);
        if (\count($parts) !== 3 * \count($shards)) {
            return null;
        }
        $questions = [];
        foreach ($shards as $i => $shard) {
            $questions[] = ['XRANGE', $this->layout->log($shard), $parts[3 * $i], '+', 'COUNT', (string) (self::MOST_EVENTS + 1)];
        }

        $this->asked = [$position, $questions];

        return $questions;
    }

    /**
     * @param list<mixed> $replies
     *
     * @return ?News null: the position is of another history, or too far back
     */
    private function news(string $position, array $replies): ?News
    {
        if ($this->quiet !== null && $this->quiet[1]->position === $position && $this->quiet[0] === $replies && $this->isOfHistory($position)) {
            return $this->quiet[1];
        }
        $events = $parts = [];
        $before = explode(self::AND, $position);
        foreach ($this->layout->all() as $i => $shard) {
            [$id, $mark, $life] = \array_slice($before, 3 * $i, 3);
            $entries = $replies[$i] ?? null;
            if ($entries instanceof ErrorReply && !$entries->is('WRONGTYPE')) {
                throw $entries->is('NOPERM')
                    ? Scripts::denied()
                    : StoreUnavailable::because('The log in the Redis server', "it said \"{$entries->message}\"", 'see that it is Redis 6.2 or later, or Valkey');
            }
            if (!\is_array($entries) || \count($entries) > self::MOST_EVENTS || $life !== $this->scripts->life($this->layout->clock($shard))) {
                return null;
            }
            foreach (array_values($entries) as $n => $entry) {
                [$at, $fields] = \is_array($entry) ? $entry + [null, null] : [null, null];
                if (!\is_string($at) || !\is_array($fields) || ($fields[0] ?? null) !== 'e' || !\is_string($fields[1] ?? null)) {
                    return null;
                }
                $is = bin2hex($fields[1]);
                if ($n === 0 ? $at !== $id || $is !== $mark : !str_starts_with($is, substr($mark, 0, 2 * Script::EPOCH))) {
                    return null;
                }
                if ($n > 0) {
                    [$id, $mark] = [$at, $is];
                    $events[] = $this->event($shard, $fields);
                }
            }
            if ($entries === []) {
                return null;
            }
            array_push($parts, $id, $mark, $life);
        }

        $news = new News(implode(self::AND, $parts), $events, true);
        if ($events === []) {
            $this->quiet = [$replies, $news];
        }

        return $news;
    }

    /** @param array<mixed> $fields */
    private function event(int $shard, array $fields): Event
    {
        $keys = $tags = [];
        for ($i = 2; isset($fields[$i + 1]); $i += 2) {
            $name = $fields[$i + 1];
            if ($fields[$i] === 'k' && \is_string($name)) {
                $keys[] = $this->layout->key($shard, $name);
            } elseif ($fields[$i] === 't' && \is_string($name)) {
                $tags[] = $name;
            } else {
                return Event::everything();
            }
        }

        return Event::both($keys, $tags);
    }

    public function setLogger(LoggerInterface $logger): void
    {
        $this->logger = $logger;
    }

    /** That a log may go at any time is told when a near store begins with it, which is seldom unless it does go. */
    private function warn(): void
    {
        $policy = $this->caution?->isTold(self::EVICTS) === true ? null : ($this->evicts)();
        if ($policy !== null && str_starts_with($policy, 'allkeys-')) {
            ($this->caution ??= new Caution($this->logger))->tell(self::EVICTS, ['why' => $policy]);
        }
    }

    /**
     * Where the log ends now; it begins where there is none.
     *
     * @throws StoreUnavailable
     */
    private function start(): News
    {
        $parts = [];
        foreach ($this->scripts->run(array_map(fn(int $shard): array => [Script::Follow, $this->layout->names($shard), []], $this->layout->all())) as $reply) {
            [$id, $mark, $life] = \is_array($reply) ? $reply + [null, null, null] : [null, null, null];
            if (!\is_string($id) || !\is_string($mark) || !\is_string($life)) {
                throw Scripts::nonsense();
            }
            array_push($parts, $id, bin2hex($mark), $life);
        }
        $this->warn();

        return new News(implode(self::AND, $parts), [], false);
    }
}
