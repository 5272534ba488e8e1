<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Fetched;
use Larder\Item;
use Larder\Serializer\Payload;
use Larder\Store\Tags;
use Larder\Token;

/** How a RedisStore reads: plainly where that can tell all, else by a script (see RedisStore). */
final class Reads
{
    private const CLOCK_BYTES = 20;

    /** Whether the last read found no tag invalidated and nothing missing: then a plain one probably tells all next time. */
    private bool $readsPlainly = false;

    private readonly \stdClass $foreign;

    /** Of what is not missing. */
    private readonly Token $none;

    public function __construct(
        private readonly Scripts $scripts,
        private readonly Layout $layout,
        private readonly ServerTime $time,
        private readonly Payload $payload,
    ) {
        $this->foreign = new \stdClass();
        $this->none = new Token('', 0);
    }

    /** @param list<string> $keys */
    public function fetch(array $keys): Fetched
    {
        $found = $this->readsPlainly ? $this->readPlainly($keys) : [];
        $open = [];
        foreach ($keys as $i => $key) {
            if (!isset($found[$i])) {
                $open[$i] = $key;
            }
        }
        if ($open !== []) {
            $found += $this->readByScript($open);
        }
        $items = $tokens = $stale = [];
        foreach ($keys as $i => $key) {
            [$item, $token, $isStale] = $found[$i];
            if ($item !== null) {
                $isStale ? $stale[$key] = $item : $items[$key] = $item;
            }
            if ($item === null || $isStale) {
                $tokens[$key] = $token;
            }
        }

        return new Fetched($items, $tokens, $stale);
    }

    public function token(string $key): Token
    {
        // The clock is no item: whoever asks for that gets a token and nothing else.
        $clock = $this->layout->clock($this->layout->shard($key));
        [$reply] = $this->scripts->send([['MGET', $clock, $this->layout->guard($key)]]);
        [$found, $guard] = \is_array($reply) ? $reply + [null, null] : [null, null];
        $token = \is_string($found) && \strlen($found) === self::CLOCK_BYTES && \is_string($guard) ? self::guarded($found, $guard) : null;

        return $token ?? $this->readByScript([$key], tokensOnly: true)[0][1];
    }

    /**
     * @param array<int, string> $keys
     *
     * @return array<int, array{?Item, Token, bool}> by the keys' numbers, of those of which this tells all: the item,
     *                                               the token if it is missing, whether it is stale
     */
    private function readPlainly(array $keys): array
    {
        $commands = $numbers = [];
        foreach ($this->layout->grouped($keys) as $shard => $chunks) {
            foreach ($chunks as $chunk) {
                $command = ['MGET', $this->layout->clock($shard)];
                foreach ($chunk as $key) {
                    $command[] = $this->layout->item($key);
                    $command[] = $this->layout->guard($key);
                }
                $commands[] = $command;
                $numbers[] = $chunk;
            }
        }
        if ($commands === []) {
            return [];
        }
        $asksTime = $this->time->isToBeAsked();
        $replies = $this->scripts->send($asksTime ? [...$commands, ['TIME']] : $commands);
        if ($asksTime) {
            $this->time->compare(ServerTime::in(array_pop($replies)));
        }
        $found = [];
        foreach ($replies as $command => $reply) {
            $clock = \is_array($reply) ? $reply[0] ?? null : throw Scripts::nonsense();
            if (!\is_string($clock) || \strlen($clock) !== self::CLOCK_BYTES) {
                continue;
            }
            $invalidated = substr($clock, 14, 6);
            $at = 1;
            foreach ($numbers[$command] as $i => $key) {
                [$bytes, $guard] = [$reply[$at] ?? null, $reply[$at + 1] ?? null];
                $at += 2;
                $item = null;
                if (\is_string($bytes) && self::isOf($clock, $bytes)) {
                    if (substr($bytes, 21, 3) !== "\0\0\0" && strcmp(substr($bytes, 9, 6), $invalidated) < 0) {
                        continue;
                    }
                    $item = $this->parsed($key, $bytes);
                }
                $token = $item === null && \is_string($guard) ? self::guarded($clock, $guard) : null;
                if ($item !== null || $token !== null) {
                    $found[$i] = [$item, $token ?? $this->none, false];
                }
            }
        }

        return $found;
    }

    /**
     * @param array<int, string> $keys
     * @param bool               $tokensOnly whether to look at the clocks instead of the items, which are none: so all are missing
     *
     * @return array<int, array{?Item, Token, bool}> as readPlainly()
     */
    private function readByScript(array $keys, bool $tokensOnly = false): array
    {
        $calls = $numbers = [];
        foreach ($this->layout->grouped($keys) as $shard => $chunks) {
            foreach ($chunks as $chunk) {
                $calls[] = [Script::Fetch, $this->layout->names($shard, $chunk, $tokensOnly ? $this->layout->clock($shard) : null), [$this->time->isToBeAsked() ? '1' : '0']];
                $numbers[] = $chunk;
            }
        }
        $found = $foreign = [];
        $couldBePlain = true;
        foreach ($this->scripts->run($calls) as $call => $reply) {
            if (!\is_array($reply) || !\is_string($reply[0] ?? null) || !\is_int($reply[1] ?? null) || !\is_int($reply[2] ?? null) || !\is_int($reply[3] ?? null)) {
                throw Scripts::nonsense();
            }
            if ($reply[2] > 0) {
                $this->time->compare($reply[2]);
            }
            $token = new Token($reply[0], $reply[1]);
            $couldBePlain = $couldBePlain && $reply[3] === 1;
            $at = 4;
            foreach ($numbers[$call] as $i => $key) {
                $bytes = $reply[$at++] ?? null;
                $isStale = \is_array($bytes);
                $bytes = $isStale ? $bytes[0] ?? null : $bytes;
                $found[$i] = [\is_string($bytes) ? $this->parsed($key, $bytes) : null, $token, $isStale];
                if (\is_string($bytes) && $found[$i][0] === null) {
                    $foreign[$i] = $key;
                }
            }
        }
        if ($tokensOnly) {
            return $found;
        }
        $this->readsPlainly = $couldBePlain;

        // The server takes these for living, and made nothing that fills of them could be judged by.
        return $foreign === [] ? $found : array_replace($found, $this->readByScript($foreign, tokensOnly: true));
    }

    private static function isOf(string $clock, string $item): bool
    {
        return isset($item[Script::HEAD - 1]) && $item[0] === Script::MARK && substr($item, 1, 8) === substr($clock, 0, 8);
    }

    /** The token of this moment, if there is a guard to judge by. */
    private static function guarded(string $clock, string $guard): ?Token
    {
        $epoch = substr($clock, 0, 8);
        $tick = unpack('J', "\0\0" . substr($clock, 8, 6));

        return str_starts_with($guard, $epoch) && $tick !== false && \is_int($tick[1]) ? new Token($epoch, $tick[1]) : null;
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
        $value = $this->payload->decode(substr($bytes, Script::HEAD + $length), $this->foreign, $key);

        return $value === $this->foreign ? null : Item::found(
            $key,
            $value,
            $expiry === 0 ? null : $this->time->ours($expiry),
            $numbers['a'] << 32 | $numbers['b'],
            $length === 0 ? [] : Tags::unpack(substr($bytes, Script::HEAD, $length)),
        );
    }
}
