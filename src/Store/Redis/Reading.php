<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Fetched;
use Larder\Item;
use Larder\Reads;
use Larder\Serializer\Payload;
use Larder\Store\Verdict;
use Larder\Token;

/**
 * How a RedisStore reads.
 *
 * A plain MGET of the clock and the items is one moment. It tells everything but one thing: whether an item is dead because a tag
 * was invalidated since the item was stored. (The connection knows whether the server is in the life that the clock names.) So a
 * process begins with a script, which tells that as well, and makes a clock where there is none. From then on it reads plainly,
 * until it sees that a tag was invalidated in this epoch. From then on it keeps to the script.
 *
 * A plain read may find that another process was the first to invalidate a tag, and that this may have killed its item. Or
 * it may find that the clock was lost. Then it asks the script in a second round trip. The first case does not happen to the
 * process again. The second does not happen to any other process, as there is a clock then.
 *
 * Where the host knows of the tags itself, all reads are plain, and the items are judged here (see NearTags). It asks for the versions
 * that it lacks in a second round trip. Items that only the server can judge go to the script.
 *
 * The script judges the items by their heads. An MGET behind it, in the same round trip, brings the values, because Lua would
 * copy each of them four times. The two are not one moment. But an item that the script found live was live after the read
 * began. An item that replaced it before the MGET was written after that, and was live then. A missing item stays missing, with a
 * token that a later write refuses. In a cluster, a command that meets a moving slot is sent once more, and so the MGET could come
 * first. There the script brings the values.
 */
final class Reading
{
    /** Whether a plain MGET will do, as far as we know. */
    private bool $isPlain = false;

    /** Whether this process has seen that tags are invalidated here. */
    private bool $tagsAreInUse = false;

    /**
     * The clock that was read plainly last, and its contents: the token of then, the tick at which a tag was last invalidated, the life, and
     * what items of the epoch begin with. It changes as a whole: between any two lines a signal's handler may read something else.
     *
     * @var ?array{string, Token, int, string, string}
     */
    private ?array $now = null;

    /** Whether the token of the next read is to be noted, as that of a request. */
    private bool $isNoting = false;

    /** Of the first read since a request was noted. */
    private ?Token $first = null;

    /** @param NearTags|\Closure(): ?NearTags|null $nearTags what judges tags on this host, or makes it when a read first needs it */
    public function __construct(
        private readonly Scripts $scripts,
        private readonly Layout $layout,
        private readonly ServerTime $time,
        private readonly Payload $payload,
        private NearTags|\Closure|null $nearTags = null,
    ) {}

    /** Whether this host may judge tags. As long as no tag was invalidated it has nothing to judge, and is not asked whether it can. */
    private function mayJudge(): bool
    {
        return $this->nearTags instanceof \Closure || $this->nearTags?->works() === true;
    }

    private function nearTags(): ?NearTags
    {
        if ($this->nearTags instanceof \Closure) {
            $this->nearTags = ($this->nearTags)();
        }

        return $this->nearTags?->works() === true ? $this->nearTags : null;
    }

    /** @param list<string> $keys */
    public function fetch(array $keys): Fetched
    {
        if (\count($keys) === 1) {
            $value = $this->value($keys[0], null, $fetched, $item);
            if ($fetched !== null) {
                return $fetched;
            }
            \assert(\is_string($item));

            return new Fetched([$keys[0] => $this->item($keys[0], $value, $item)], []);
        }
        [$values, $bytes, $tokens] = $this->readAll($keys, null);
        $items = $stale = [];
        foreach ($values as $key => $value) {
            $item = $this->item((string) $key, $value, $bytes[$key]);
            isset($tokens[$key]) ? $stale[$key] = $item : $items[$key] = $item;
        }

        return new Fetched($items, $tokens, $stale);
    }

    /**
     * As of Larder\Reads.
     *
     * @param mixed $item gets the bytes of the item of a value that is found
     */
    public function value(string $key, mixed $default, ?Fetched &$fetched, mixed &$item = null): mixed
    {
        $reply = $this->askOne($key);
        $now = $reply === null ? null : $this->now(0, $reply[0]);
        $item = $reply[1] ?? null;
        $at = $now === null ? null : $this->payloadAt($now, $item);
        if ($at === null) {
            [$values, $bytes, $tokens] = $this->readAll([$key], $reply);
            $item = $bytes[$key] ?? null;
            if ($tokens === [] && !self::isSealed($values[$key])) {
                return $values[$key];
            }
            $items = $item !== null && \array_key_exists($key, $values) ? [$key => $this->item($key, $values[$key], $item)] : [];
            $fetched = $tokens === [] ? new Fetched($items, []) : new Fetched([], $tokens, $items);

            return $tokens === [] ? $values[$key] : $default;
        }
        if ($this->isNoting) {
            $this->isNoting = false;
            $this->first = $now[1];
        }
        $value = $at === 0 || !\is_string($item) ? $this : $this->payload->decode($item, $this, $key, $at);
        if ($value === $this) {
            $fetched = new Fetched([], [$key => $now[1]]);

            return $default;
        }
        if (\is_array($value) && self::isSealed($value)) {
            $fetched = new Fetched([$key => $this->item($key, $value, $item)], []);
        }

        return $value;
    }

    /**
     * As of Larder\Reads.
     *
     * @param list<string> $keys
     */
    public function values(array $keys): Fetched
    {
        if (\count($keys) === 1) {
            $value = $this->value($keys[0], null, $fetched);

            return $fetched ?? new Fetched([], [], values: [$keys[0] => $value]);
        }
        [$values, $bytes, $tokens] = $this->readAll($keys, null);
        $values = $tokens === [] ? $values : array_diff_key($values, $tokens);
        $sealed = [];
        foreach ($values as $key => $value) {
            // As isSealed(), without a call for each.
            if (\is_array($value) && ($value[0] ?? null) === Reads::SEAL) {
                $sealed[$key] = $this->item((string) $key, $value, $bytes[$key]);
            }
        }

        return new Fetched($sealed, $tokens, values: $values);
    }

    private static function isSealed(mixed $value): bool
    {
        return \is_array($value) && ($value[0] ?? null) === Reads::SEAL;
    }

    public function noteRequest(bool $anew): void
    {
        $this->first = $anew ? null : $this->first;
        $this->isNoting = $this->first === null;
    }

    public function requestToken(): ?Token
    {
        return $this->first;
    }

    /** Whatever is there. */
    public function token(string $key): Token
    {
        $shard = $this->layout->shard($key);
        [$reply] = $this->scripts->run([[Script::Token, $this->layout->names($shard, [$key]), [$this->time->isToBeAsked() ? '1' : '0']]]);

        return $this->judgement($reply, 0)[0];
    }

    /** @return ?array{mixed, mixed} the clock and the item; null: a plain read of one key will not do, or the reply is nonsense */
    private function askOne(string $key): ?array
    {
        if ($this->layout->shards > 0 || !($this->isPlain || $this->mayJudge()) || $this->time->isToBeAsked()) {
            return null;
        }
        $reply = $this->scripts->sendOne($this->layout->plainRead($key));
        if (!\is_array($reply) || \count($reply) !== 2) {
            throw Scripts::nonsense();
        }

        /** @var array{mixed, mixed} $reply */
        return $reply;
    }

    /**
     * @param list<string>         $keys
     * @param ?array{mixed, mixed} $reply to the plain read of the only one, if that was sent
     *
     * @return array{array<array-key, mixed>, array<array-key, string>, array<array-key, Token>} by key: the values of what lives or is
     *                                                    stale, the items that they are of, the tokens of what does not live
     */
    private function readAll(array $keys, ?array $reply): array
    {
        $values = $items = $tokens = [];
        $chunks = $this->layout->grouped($keys);
        $looks = $chunks === [] ? [] : (($this->isPlain || $this->mayJudge() ? $this->lookPlainly($chunks, $reply === null ? null : [$reply]) : null) ?? $this->look($chunks));
        foreach ($looks as $i => [$token, $verdicts, $all, $at]) {
            if ($this->isNoting) {
                $this->isNoting = false;
                $this->first = $token;
            }
            $begins = Entry::beginning(substr($token->epoch, 0, Script::EPOCH));
            $asked = $chunks[$i][1];
            [$ours, $tagged] = Entry::allOf($begins, $asked, $all, $at);
            if (\count($ours) < \count($asked)) {
                foreach ($asked as $key) {
                    if (!isset($ours[$key])) {
                        $tokens[$key] = $token;
                    }
                }
            }
            foreach (str_contains($verdicts, '1') ? array_values($asked) : [] as $number => $key) {
                if ($verdicts[$number] === '1') {
                    $tokens[$key] = $token;
                }
            }
            $read = $this->payload->decodeAll($ours, Entry::HEAD, $tagged);
            if (\count($read) < \count($ours)) {
                $tokens += array_fill_keys(array_keys(array_diff_key($ours, $read)), $token);
            }
            $values = $values === [] ? $read : $values + $read;
            $items = $items === [] ? $ours : $items + $ours;
        }

        return \count($chunks) > 1 || \count($tokens) > 1
            ? [self::inOrder($keys, $values), $items, self::inOrder($keys, $tokens)]
            : [$values, $items, $tokens];
    }

    /**
     * @param array{string, Token, int, string, string} $now  that was read with the item
     * @param mixed                                     $item of the first shard
     *
     * @return ?int where the item's payload begins; 0: it does not live, or is none; null: something else is to be asked
     */
    private function payloadAt(array $now, mixed $item): ?int
    {
        if (!\is_string($item) || !isset($item[Entry::HEAD - 1]) || !str_starts_with($item, $now[4])) {
            return 0;
        }
        if (!Entry::hasTags($item)) {
            return Entry::HEAD;
        }
        [$version, $at] = Entry::versionAndPayload($item);
        if ($version >= $now[2]) {
            return $at;
        }

        return match ($this->nearTags()?->verdict(0, $now[0], $now[2], $version, substr($item, Entry::HEAD, $at - Entry::HEAD))) {
            Verdict::Live => $at,
            Verdict::Dead => 0,
            default => null,
        };
    }

    /**
     * @param non-empty-list<array{int, array<int, string>}> $chunks  shards, and keys there
     * @param ?list<mixed>                                   $replies to the plain commands, if these have been sent
     *
     * @return ?list<array{Token, string, array<mixed>, int}> as of look(); null: only the script can tell
     */
    private function lookPlainly(array $chunks, ?array $replies): ?array
    {
        $all = $tokens = $found = [];
        $replies ??= $this->askPlainly($chunks);
        $nearTags = null;
        $doubtful = [];
        foreach ($chunks as $i => [$shard, $keys]) {
            $values = $replies[$i] ?? null;
            if (!\is_array($values) || \count($values) !== \count($keys) + 1) {
                throw Scripts::nonsense();
            }
            $now = $this->now($shard, $values[0]);
            if ($now === null) {
                return null;
            }
            // Where this process judges, it looks at each item in any case.
            if ($now[2] > 0 && (($nearTags ??= $this->nearTags()) !== null || self::mayBeDead(\array_slice($values, 1), $now[2]))) {
                $doubtful[$i] = $now;
            }
            $tokens[] = $now[1];
            $all[] = $values;
        }
        if ($doubtful !== []) {
            $all = $nearTags === null ? null : $this->judgedNear($nearTags, $chunks, $doubtful, $all);
        }
        foreach ($all ?? [] as $i => $values) {
            $found[] = [$tokens[$i], '', $values, 1];
        }

        return $all === null ? null : $found;
    }

    /**
     * @param non-empty-list<array{int, array<int, string>}> $chunks shards, and keys there
     *
     * @return list<mixed> for each the clock and the items
     */
    private function askPlainly(array $chunks): array
    {
        $reads = [];
        foreach ($chunks as [$shard, $keys]) {
            $reads[] = $this->layout->items($shard, $keys, ['MGET', $this->layout->clock($shard)]);
        }
        if (!$this->time->isToBeAsked()) {
            return $this->scripts->send($reads);
        }
        $replies = $this->scripts->send([...$reads, ['TIME']]);
        $this->time->compareTo(array_pop($replies));

        return $replies;
    }

    /**
     * @param non-empty-list<array{int, array<int, string>}>                  $chunks   shards, and keys there
     * @param non-empty-array<int, array{string, Token, int, string, string}> $doubtful of some of them the clock
     * @param list<array<mixed>>                                              $values   of all, behind the clock
     *
     * @return ?list<array<mixed>> the same, null in place of what is dead; null: only the script can tell
     */
    private function judgedNear(NearTags $nearTags, array $chunks, array $doubtful, array $values): ?array
    {
        for ($tries = 0; $tries < 2; $tries++) {
            $unknown = [];
            foreach ($doubtful as $i => [$clock, , $invalidated]) {
                $shard = $chunks[$i][0];
                $begins = Entry::beginning(substr($clock, 1, Script::EPOCH));
                foreach ($values[$i] ?? [] as $at => $item) {
                    if ($at === 0 || !\is_string($item) || !isset($item[Entry::HEAD - 1]) || !str_starts_with($item, $begins) || !Entry::hasTags($item)) {
                        continue;
                    }
                    $version = Entry::version($item);
                    if ($version >= $invalidated) {
                        continue;
                    }
                    $tags = substr($item, Entry::HEAD, Entry::payloadAt($item) - Entry::HEAD);
                    $verdict = $nearTags->verdict($shard, $clock, $invalidated, $version, $tags);
                    if ($verdict === Verdict::Stale || ($verdict === null && $tries > 0)) {
                        return null;
                    }
                    if ($verdict === null) {
                        $unknown[$shard] = [$clock, ($unknown[$shard][1] ?? []) + array_fill_keys($nearTags->unknown($shard, $clock, $tags), true)];
                    } elseif ($verdict === Verdict::Dead) {
                        $values[$i][$at] = null;
                    }
                }
            }
            if ($unknown === []) {
                return $values;
            }
            if (!$this->learnTags($nearTags, $unknown)) {
                return null;
            }
        }

        return null;
    }

    /**
     * @param non-empty-array<int, array{string, array<array-key, true>}> $unknown by shard the clock, and the tags that are to be asked for
     *
     * @return bool false: the server is in another history by now, or there are too many
     */
    private function learnTags(NearTags $nearTags, array $unknown): bool
    {
        $calls = $questions = [];
        foreach ($unknown as $shard => [, $tags]) {
            $question = $nearTags->question($shard, array_map(strval(...), array_keys($tags)));
            if ($question === null) {
                return false;
            }
            $questions[$shard] = $question;
            $calls[] = [Script::Versions, [...$this->layout->names($shard), $this->layout->invalidations($shard)], $question];
        }
        $replies = $this->scripts->run($calls);
        $hasLearnt = true;
        foreach (array_keys($questions) as $i => $shard) {
            $hasLearnt = $nearTags->learn($shard, $unknown[$shard][0], $questions[$shard], $replies[$i]) && $hasLearnt;
        }

        return $hasLearnt;
    }

    /** @return ?array{string, Token, int, string, string} what $now is; null: there is no clock, or it is not of the life that the server is in */
    private function now(int $shard, mixed $clock): ?array
    {
        $now = $this->now;
        if ($now === null || $now[0] !== $clock) {
            if (!\is_string($clock) || \strlen($clock) !== Script::CLOCK_BYTES || $clock[0] !== Script::CLOCK_MARK) {
                return null;
            }
            [$epoch, $life] = [substr($clock, 1, Script::EPOCH), substr($clock, Script::LIFE, Life::NAME)];
            $now = [$clock, new Token($epoch . $life, Entry::number($clock, Script::TICK)), Entry::number($clock, Script::INVALIDATED), $life, Entry::beginning($epoch)];
        }
        if ($now[3] !== $this->scripts->life($this->layout->clock($shard))) {
            return null;
        }
        if ($now !== $this->now) {
            $this->learn($now[2]);
            $this->now = $now;
        }

        return $now;
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
     * @return list<array{Token, string, array<mixed>, int}> for each the token of what is missing; the verdicts, '' if all that is there
     *                                                       lives; the items, and where they begin; no dead ones
     */
    private function look(array $chunks): array
    {
        $isBrought = $this->layout->shards > 0;
        $calls = $reads = $found = [];
        foreach ($chunks as [$shard, $keys]) {
            $names = $this->layout->names($shard, $keys);
            $calls[] = [Script::Fetch, $names, [$this->time->isToBeAsked() ? '1' : '0', $isBrought ? '1' : '0']];
            $reads[] = $this->layout->items($shard, $keys, ['MGET']);
        }
        foreach ($isBrought ? $this->scripts->run($calls) : $this->scripts->runBefore($calls, $reads) as $i => $reply) {
            [$judged, $values] = !$isBrought && \is_array($reply) ? $reply + [null, null] : [$reply, null];
            [$token, $verdicts] = $this->judgement($judged, \count($chunks[$i][1]));
            if ($isBrought && \is_array($judged)) {
                $values = \array_slice($judged, 5);
            }
            if (!\is_array($values)) {
                throw Scripts::nonsense();
            }
            $found[] = [$token, $verdicts, self::living($values, $verdicts, $isBrought), 0];
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
     * @param array<mixed> $values
     * @param bool         $areFew whether those of what is dead are not among them
     *
     * @return array<mixed> of all, null in place of what is dead
     */
    private static function living(array $values, string $verdicts, bool $areFew): array
    {
        if (!str_contains($verdicts, '2')) {
            return $values;
        }
        $living = [];
        $at = 0;
        foreach (str_split($verdicts) as $i => $verdict) {
            $living[] = $verdict === '2' ? null : $values[$areFew ? $at++ : $i] ?? null;
        }

        return $living;
    }

    /**
     * @template T
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
            if (\array_key_exists($key, $found)) {
                $ordered[$key] = $found[$key];
            }
        }

        return $ordered;
    }

    /** @param string $item one that the server takes for living */
    public function canRead(string $key, string $item): bool
    {
        return isset($item[Entry::HEAD - 1])
            && str_starts_with($item, Entry::beginning())
            && $this->payload->decodeAll([$key => $item], Entry::payloadAt($item)) !== [];
    }

    /**
     * Whether a tag that one of them carries may have been invalidated since its version.
     *
     * @param array<mixed> $items
     * @param int          $invalidated the tick at which one was last
     */
    private static function mayBeDead(array $items, int $invalidated): bool
    {
        foreach ($items as $item) {
            if (\is_string($item) && isset($item[Entry::HEAD - 1]) && Entry::hasTags($item) && Entry::version($item) < $invalidated) {
                return true;
            }
        }

        return false;
    }

    private function item(string $key, mixed $value, string $bytes): Item
    {
        $expiry = Entry::expiry($bytes);

        return new Item(
            $key,
            $value,
            null,
            Entry::tags($bytes),
            null,
            false,
            0.0,
            $expiry === 0 ? null : $this->time->ours($expiry),
            Entry::version($bytes),
        );
    }
}
