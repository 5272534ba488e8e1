<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Fetched;
use Larder\Item;
use Larder\Serializer\Payload;
use Larder\Store\Tags;
use Larder\Token;

/**
 * How a RedisStore reads: a script judges the items by their heads, and a plain MGET behind it, in the same round trip, brings
 * them, as Lua would copy each value four times.
 *
 * The two are not one moment. But what the script found alive was so after the read began; and what has taken its place before
 * the MGET was written after that, and lived when it was. What was missing stays so, with a token that a later write refuses.
 *
 * In a cluster a command that meets a slot that moves is sent once more, and so the MGET could come first: there the
 * script brings the values.
 */
final class Reads
{
    private readonly \stdClass $foreign;

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
        $items = $tokens = $stale = $foreign = $asked = [];
        foreach ($this->layout->grouped($keys) as $shard => $chunks) {
            foreach ($chunks as $chunk) {
                $asked[] = [$shard, $chunk];
            }
        }
        foreach ($this->look($asked) as $i => [$token, $verdicts, $values]) {
            $at = 0;
            foreach ($asked[$i][1] as $key) {
                $bytes = $values[$at] ?? null;
                $verdict = $verdicts[$at++];
                $item = $verdict !== '2' && \is_string($bytes) && self::isOf($token, $bytes) ? $this->parsed($key, $bytes) : null;
                if ($item === null || $verdict === '1') {
                    $tokens[$key] = $token;
                    $item === null || $stale[$key] = $item;
                } else {
                    $items[$key] = $item;
                }
                if ($item === null && $verdict === '0') {
                    $foreign[] = $key;
                }
            }
        }
        if ($foreign !== []) {
            // The script took these for living, and made nothing that fills of them could be judged by.
            $tokens = array_replace($tokens, $this->tokens($foreign));
        }

        return \count($asked) <= 1 ? new Fetched($items, $tokens, $stale) : new Fetched(self::inOrder($keys, $items), self::inOrder($keys, $tokens), self::inOrder($keys, $stale));
    }

    public function token(string $key): Token
    {
        return $this->tokens([$key])[$key];
    }

    /**
     * The tokens of keys, whatever is there.
     *
     * @param list<string> $keys
     *
     * @return array<array-key, Token> by key
     */
    private function tokens(array $keys): array
    {
        $calls = $asked = $tokens = [];
        foreach ($this->layout->grouped($keys) as $shard => $chunks) {
            foreach ($chunks as $chunk) {
                // The clock is no item: whoever asks for that gets a token and nothing else.
                $calls[] = [Script::Fetch, $this->layout->names($shard, $chunk, $this->layout->clock($shard)), [$this->time->isToBeAsked() ? '1' : '0', '']];
                $asked[] = $chunk;
            }
        }
        foreach ($this->scripts->run($calls) as $i => $reply) {
            [$token] = $this->judgement($reply, \count($asked[$i]));
            $tokens += array_fill_keys($asked[$i], $token);
        }

        return $tokens;
    }

    /**
     * @param list<array{int, array<int, string>}> $asked shards, and keys there
     *
     * @return list<array{Token, string, array<mixed>}> for each the token of what is missing, the verdicts, and the items
     */
    private function look(array $asked): array
    {
        $isOne = $this->layout->shards === 0;
        $calls = $reads = $found = [];
        foreach ($asked as [$shard, $keys]) {
            $calls[] = [Script::Fetch, $this->layout->names($shard, $keys), [$this->time->isToBeAsked() ? '1' : '0', $isOne ? '0' : '1']];
            $reads[] = ['MGET', ...array_map($this->layout->item(...), array_values($keys))];
        }
        if ($calls === []) {
            return [];
        }
        foreach ($isOne ? $this->scripts->runBefore($calls, $reads) : $this->scripts->run($calls) as $i => $reply) {
            [$judged, $values] = $isOne && \is_array($reply) ? $reply + [null, null] : [$reply, null];
            [$token, $verdicts] = $this->judgement($judged, \count($asked[$i][1]));
            if (!$isOne && \is_array($judged)) {
                $values = self::spread(\array_slice($judged, 4), $verdicts);
            }
            $found[] = [$token, $verdicts, \is_array($values) ? $values : throw Scripts::nonsense()];
        }

        return $found;
    }

    /** @return array{Token, string} the token of what is missing, and the verdicts on so many items */
    private function judgement(mixed $reply, int $count): array
    {
        [$epoch, $tick, $time, $verdicts] = \is_array($reply) ? $reply + [null, null, null, null] : [null, null, null, null];
        if (!\is_string($epoch) || !\is_int($tick) || !\is_int($time) || !\is_string($verdicts) || \strlen($verdicts) !== $count) {
            throw Scripts::nonsense();
        }
        if ($time > 0) {
            $this->time->compare($time);
        }

        return [new Token($epoch, $tick), $verdicts];
    }

    /**
     * @param array<mixed> $values of the items that are not dead
     *
     * @return array<int, mixed> by the numbers of all
     */
    private static function spread(array $values, string $verdicts): array
    {
        $spread = [];
        foreach (str_split($verdicts) as $i => $verdict) {
            $spread[$i] = $verdict === '2' ? null : array_shift($values);
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

    /** Whether it was stored in this life of the clock. */
    private static function isOf(Token $now, string $item): bool
    {
        return isset($item[Script::HEAD - 1]) && $item[0] === Script::MARK && substr($item, 1, 8) === $now->epoch;
    }

    /** @param string $item one that the server takes for living */
    public function canRead(string $key, string $item): bool
    {
        return $this->parsed($key, $item) !== null;
    }

    private function parsed(string $key, string $bytes): ?Item
    {
        $numbers = unpack('na/Nb/nc/Nd/Ce/nf', $bytes, 9);
        if ($numbers === false) {
            return null;
        }
        /** @var array{a: int, b: int, c: int, d: int, e: int, f: int} $numbers */
        $expiry = $numbers['c'] << 32 | $numbers['d'];
        $length = $numbers['e'] << 16 | $numbers['f'];
        $value = $this->payload->decode($bytes, $this->foreign, $key, Script::HEAD + $length);

        return $value === $this->foreign ? null : Item::found(
            $key,
            $value,
            $expiry === 0 ? null : $this->time->ours($expiry),
            $numbers['a'] << 32 | $numbers['b'],
            $length === 0 ? [] : Tags::unpack(substr($bytes, Script::HEAD, $length)),
        );
    }
}
