<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Fetched;
use Larder\Item;
use Larder\Serializer\Payload;
use Larder\Store\Tags;
use Larder\Token;

/**
 * How a RedisStore reads.
 *
 * A plain MGET of the clock and the items is one moment, and tells all but one thing: what became of an item with tags since it was
 * stored, if any tag was invalidated since. So a process begins with a script, which can tell that as well, and makes a
 * clock where there is none. From then on it reads plainly, as long as it sees that no tag was ever invalidated in this epoch; once it
 * has seen one that was, it keeps to the script. What remains is a read that follows plain ones and finds that meanwhile another
 * process was the first to invalidate a tag, or that the clock was lost: what it cannot tell is asked of the script in a second round trip.
 * After the first of the two that does not happen to it again, and the second happens to nobody else, as then there is a clock.
 *
 * The script judges the items by their heads, and an MGET behind it, in the same round trip, brings them, as Lua would copy each
 * value four times. The two are not one moment. But what the script found alive was so after the read began; and what has taken
 * its place before the MGET was written after that, and lived when it was. What was missing stays so, with a token that a later
 * write refuses. In a cluster a command that meets a slot that moves is sent once more, and so the MGET could come first: there the
 * script brings the values.
 */
final class Reads
{
    private const SIX_BYTES = 0xffffffffffff;

    private readonly \stdClass $foreign;

    /** Whether a plain MGET will do, as far as we know. */
    private bool $isPlain = false;

    /** Whether this process has seen that tags are invalidated here. */
    private bool $tagsAreInUse = false;

    /**
     * The clock that was read plainly last, and what it says: the token of then, and the tick at which a tag was last invalidated. It
     * changes as a whole: between any two lines a signal's handler may read something else.
     *
     * @var ?array{string, Token, int}
     */
    private ?array $now = null;

    public function __construct(
        private readonly Scripts $scripts,
        private readonly Layout $layout,
        private readonly ServerTime $time,
        private readonly Payload $payload,
    ) {
        $this->foreign = new \stdClass();
    }

    /** @param list<string> $keys */
    public function fetch(array $keys): Fetched
    {
        $items = $tokens = $stale = [];
        $chunks = $this->chunks($keys);
        $open = $this->isPlain && $chunks !== [] ? $this->readPlainly($chunks, $items, $tokens) : $keys;
        if ($open !== []) {
            $this->readByScript($open, $items, $tokens, $stale);
        }

        return \count($chunks) <= 1 && ($open === [] || \count($open) === \count($keys))
            ? new Fetched($items, $tokens, $stale)
            : new Fetched(self::inOrder($keys, $items), self::inOrder($keys, $tokens), self::inOrder($keys, $stale));
    }

    /** Whatever is there. */
    public function token(string $key): Token
    {
        $shard = $this->layout->shard($key);
        if ($this->isPlain) {
            [$reply] = $this->scripts->send([['MGET', $this->layout->clock($shard)]]);
            $now = $this->now(\is_array($reply) ? $reply[0] ?? null : throw Scripts::nonsense());
            if ($now !== null) {
                return $now[1];
            }
        }
        [$reply] = $this->scripts->run([[Script::Fetch, $this->layout->names($shard), [$this->time->isToBeAsked() ? '1' : '0', '0']]]);

        return $this->judgement($reply, 0)[0];
    }

    /**
     * @param non-empty-list<array{int, array<int, string>}> $chunks shards, and keys there
     * @param array<array-key, Item>                         $items
     * @param array<array-key, Token>                        $tokens
     *
     * @return list<string> the keys that only the script can tell of
     */
    private function readPlainly(array $chunks, array &$items, array &$tokens): array
    {
        $reads = $open = [];
        foreach ($chunks as [$shard, $keys]) {
            $reads[] = ['MGET', $this->layout->clock($shard), ...$this->layout->items($shard, $keys)];
        }
        $asksForTime = $this->time->isToBeAsked();
        $replies = $this->scripts->send($asksForTime ? [...$reads, ['TIME']] : $reads);
        if ($asksForTime) {
            $this->time->compareTo(array_pop($replies));
        }
        foreach ($chunks as $i => [, $keys]) {
            $values = $replies[$i] ?? null;
            if (!\is_array($values) || \count($values) !== \count($keys) + 1) {
                throw Scripts::nonsense();
            }
            $now = $this->now($values[0]);
            if ($now === null) {
                array_push($open, ...array_values($keys));
                continue;
            }
            [, $token, $invalidated] = $now;
            $begins = Script::MARK . $token->epoch;
            $at = 0;
            foreach ($keys as $key) {
                $item = $this->parsed($key, $values[++$at], $begins);
                if ($item === null) {
                    $tokens[$key] = $token;
                } elseif ($item->stamp >= $invalidated || $item->tags === []) {
                    $items[$key] = $item;
                } else {
                    $open[] = $key;
                }
            }
        }

        return $open;
    }

    /**
     * @param non-empty-list<string>  $keys
     * @param array<array-key, Item>  $items
     * @param array<array-key, Token> $tokens
     * @param array<array-key, Item>  $stale
     */
    private function readByScript(array $keys, array &$items, array &$tokens, array &$stale): void
    {
        $chunks = $this->chunks($keys);
        foreach ($this->look($chunks) as $i => [$token, $verdicts, $values]) {
            $begins = Script::MARK . $token->epoch;
            $at = 0;
            foreach ($chunks[$i][1] as $key) {
                $verdict = $verdicts[$at];
                $item = $verdict !== '2' ? $this->parsed($key, $values[$at] ?? null, $begins) : null;
                $at++;
                if ($item === null || $verdict === '1') {
                    $tokens[$key] = $token;
                    $item === null || $stale[$key] = $item;
                } else {
                    $items[$key] = $item;
                }
            }
        }
    }

    /** @return ?array{string, Token, int} what $now is; null: there is no clock */
    private function now(mixed $clock): ?array
    {
        if ($this->now !== null && $this->now[0] === $clock) {
            return $this->now;
        }
        if (!\is_string($clock) || \strlen($clock) !== Script::CLOCK_BYTES || $clock[0] !== Script::CLOCK_MARK) {
            return null;
        }
        /** @var array{a: int, b: int} $numbers */
        $numbers = unpack('Ja/X2/Jb', $clock, 7);
        $invalidated = $numbers['b'] & self::SIX_BYTES;
        $this->learn($invalidated);

        return $this->now = [$clock, new Token(substr($clock, 1, 8), $numbers['a'] & self::SIX_BYTES), $invalidated];
    }

    /** @param int $invalidated the tick at which a tag was last invalidated */
    private function learn(int $invalidated): void
    {
        $this->tagsAreInUse = $this->tagsAreInUse || $invalidated > 0;
        $this->isPlain = !$this->tagsAreInUse;
    }

    /**
     * @param non-empty-list<array{int, array<int, string>}> $chunks shards, and keys there
     *
     * @return list<array{Token, string, array<mixed>}> for each the token of what is missing, the verdicts, and the items
     */
    private function look(array $chunks): array
    {
        $isBrought = $this->layout->shards > 0;
        $calls = $reads = $found = [];
        foreach ($chunks as [$shard, $keys]) {
            $names = $this->layout->names($shard, $keys);
            $calls[] = [Script::Fetch, $names, [$this->time->isToBeAsked() ? '1' : '0', $isBrought ? '1' : '0']];
            $reads[] = ['MGET', ...\array_slice($names, -\count($keys))];
        }
        foreach ($isBrought ? $this->scripts->run($calls) : $this->scripts->runBefore($calls, $reads) as $i => $reply) {
            [$judged, $values] = !$isBrought && \is_array($reply) ? $reply + [null, null] : [$reply, null];
            [$token, $verdicts] = $this->judgement($judged, \count($chunks[$i][1]));
            if ($isBrought && \is_array($judged)) {
                $values = self::spread(\array_slice($judged, 5), $verdicts);
            }
            if (!\is_array($values)) {
                throw Scripts::nonsense();
            }
            $found[] = [$token, $verdicts, $values];
        }

        return $found;
    }

    /** @return array{Token, string} the token of what is missing, and the verdicts on so many items */
    private function judgement(mixed $reply, int $count): array
    {
        [$epoch, $tick, $invalidated, $time, $verdicts] = \is_array($reply) ? $reply + [null, null, null, null, null] : [null, null, null, null, null];
        if (!\is_string($epoch) || !\is_int($tick) || !\is_int($invalidated) || !\is_int($time) || !\is_string($verdicts) || \strlen($verdicts) !== $count) {
            throw Scripts::nonsense();
        }
        if ($time > 0) {
            $this->time->compare($time);
        }
        $this->learn($invalidated);

        return [new Token($epoch, $tick), $verdicts];
    }

    /**
     * @param list<string> $keys
     *
     * @return ($keys is non-empty-list ? non-empty-list<array{int, array<int, string>}> : array{}) shards, and keys there, by their numbers
     */
    private function chunks(array $keys): array
    {
        $all = [];
        foreach ($this->layout->grouped($keys) as $shard => $chunks) {
            foreach ($chunks as $chunk) {
                $all[] = [$shard, $chunk];
            }
        }

        return $all;
    }

    /**
     * @param array<mixed> $values of the items that are not dead
     *
     * @return array<int, mixed> by the numbers of all
     */
    private static function spread(array $values, string $verdicts): array
    {
        $spread = [];
        $at = 0;
        foreach (str_split($verdicts) as $verdict) {
            $spread[] = $verdict === '2' ? null : $values[$at++] ?? null;
        }

        return $spread;
    }

    /**
     * @template T of object
     *
     * @param list<string>        $keys
     * @param array<array-key, T> $found
     *
     * @return array<array-key, T>
     */
    private static function inOrder(array $keys, array $found): array
    {
        $ordered = [];
        foreach ($keys as $key) {
            if (isset($found[$key])) {
                $ordered[$key] = $found[$key];
            }
        }

        return $ordered;
    }

    /** @param string $item one that the server takes for living */
    public function canRead(string $key, string $item): bool
    {
        return $this->parsed($key, $item, Script::MARK) !== null;
    }

    /** @param string $begins what an item of this life of the clock begins with */
    private function parsed(string $key, mixed $bytes, string $begins): ?Item
    {
        if (!\is_string($bytes) || !isset($bytes[Script::HEAD - 1]) || !str_starts_with($bytes, $begins)) {
            return null;
        }
        /** @var array{a: int, b: int, c: int} $numbers */
        $numbers = unpack('Ja/X2/Jb/X/Nc', $bytes, 7);
        $expiry = $numbers['b'] & self::SIX_BYTES;
        $length = $numbers['c'] & 0xffffff;
        $value = $this->payload->decode($bytes, $this->foreign, $key, Script::HEAD + $length);

        return $value === $this->foreign ? null : new Item(
            $key,
            $value,
            null,
            $length === 0 ? [] : Tags::unpack(substr($bytes, Script::HEAD, $length)),
            null,
            false,
            0.0,
            $expiry === 0 ? null : $this->time->ours($expiry),
            $numbers['a'] & self::SIX_BYTES,
        );
    }
}
