<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Store\Tags;
use Larder\Store\Verdict;

/**
 * Judges items of the server by what this host knows of its tags, so that a read of items with tags is a plain MGET.
 *
 *     process ── MGET clock, items ──> server     one moment: the items, and the tick at which a tag was last invalidated
 *        │
 *        ├── a span up to that tick?              all tags that were invalidated between two ticks (see Span)
 *        └── a fact of each tag?                  at tick C, the last invalidation of this tag was v
 *
 * The invariant: all that the memory of the host holds stays true for good. A span says which tags were invalidated in a time that
 * is over. A fact says how a tag stood at a tick that is over. A process puts another span or fact in the place of one, and the new one
 * is as true as the old one. So the order in which processes write does not matter. Nor do delays and losses.
 *
 * An item lives if no tag of it was invalidated after the item's version, up to the clock that was read with it. Two things prove that:
 *
 * 1. A span reaches at least to the clock, and names none of its tags with a later tick than the version.
 * 2. If the version is older than the span's beginning, there is a fact of each tag. It is of a tick at which the span had begun, and
 *    its v is not later than the version.
 *
 * The moment is that of the MGET, or a later one. The read is as right as the script's, without any regard to when a request began.
 *
 * The host asks for the rest in one script: the versions of tags, and the invalidations since the span ends.
 * The server keeps a list of the last invalidations for that (see ScriptText). If it lacks any, a new span begins, and the
 * facts that are older count no more. Spans and facts are those of one history: an epoch, in one life of the server and one process
 * of it. After a clear, a loss or a failover they are of no use.
 *
 * The clock of a read proves more than following a log would. So there is nothing to follow, and writes record nothing.
 */
final class NearTags
{
    /** How many tags are asked for at once; of more the script judges. */
    private const MOST_ASKED = 1_000;

    /** How many parts the facts of a store lie in, how many at most those of a shard, and how many facts are in each; of more the oldest goes. */
    private const PARTS = 4_096;
    private const PARTS_OF_ONE = 1_024;
    private const FACTS = 64;

    /** Bytes: hash 8 | tick 6 | version 6. */
    private const FACT = 20;

    /** Tags whose hashes a process keeps. */
    private const AT_HAND = 16_384;

    /** @var array<int, TagTicks> by shard */
    private array $known = [];

    /** @var array<array-key, string> by tag: to hash a tag takes longer than all else that an item's tag takes here */
    private array $hashes = [];

    /** The clock that was read last, and its history. */
    private string $clock = '';
    private string $history = '';

    private bool $works = true;

    /** Whether the extension looks at all tags of an item at once. */
    private readonly bool $asksExtension;

    /** How many parts the facts of a shard lie in. */
    private readonly int $parts;

    /**
     * @param string $name          of the store in the memory; another store of the same name costs both their facts, and no more
     * @param int    $shards        as of Layout
     * @param bool   $asksExtension where it is loaded; without it the judgement is the same, and takes longer
     */
    public function __construct(
        private readonly HostMemory $memory,
        private readonly string $name,
        int $shards = 0,
        bool $asksExtension = true,
    ) {
        $this->asksExtension = $asksExtension && \function_exists('Larder\\tags_precede');
        $this->parts = min(self::PARTS_OF_ONE, max(1, intdiv(self::PARTS, max(1, $shards))));
    }

    /** Whether the memory takes what it is given. Otherwise each read would ask twice. */
    public function works(): bool
    {
        return $this->works;
    }

    /**
     * @param string $clock       that was read with the item
     * @param int    $invalidated the tick at which a tag was last invalidated by it
     * @param int    $version     of the item
     * @param string $tags        of the item, packed
     *
     * @return ?Verdict Stale: only the server can tell; null: see unknown()
     */
    public function verdict(int $shard, string $clock, int $invalidated, int $version, string $tags): ?Verdict
    {
        if ($clock !== $this->clock) {
            $this->history = Span::history($clock);
            $this->clock = $clock;
        }
        $known = $this->known[$shard] ?? null;
        if ($known === null || $known->span->until < $invalidated || !str_starts_with($known->span->bytes, $this->history)) {
            $known = $this->known($shard, $this->history, $invalidated);
            if ($known === null || $known->span->until < $invalidated) {
                return null;
            }
        }
        if ($version >= $known->span->until) {
            return Verdict::Live;
        }
        if ($this->asksExtension && \Larder\tags_precede($tags, $this->hashes, $known->byHash, $version)) {
            return Verdict::Live;
        }
        $verdict = Verdict::Live;
        $ticks = $known->byHash;
        $older = [];
        // As of Tags::unpack(), without a list of them: without the extension this is done in each read.
        for ($at = 0, $end = \strlen($tags); $at < $end; $at += $length) {
            $length = \ord($tags[$at++]);
            $tag = substr($tags, $at, $length);
            $hash = $this->hashes[$tag] ?? $this->hash($tag);
            $tick = $ticks[$hash] ?? null;
            if ($tick === null) {
                $older[] = $hash;
            } elseif ($tick > $version) {
                $verdict = $verdict->and(self::verdictOf($tick, $version));
            }
        }
        if ($older === [] || $verdict === Verdict::Dead || $version >= $known->span->since) {
            return $verdict;
        }
        // With a second holder, PHP would copy all of it for the next that becomes known.
        unset($ticks);
        $isKnown = true;
        foreach ($this->facts($shard, $known, $older) as $tick) {
            $isKnown = $isKnown && $tick !== null;
            $verdict = $verdict->and(self::verdictOf($tick ?? 0, $version));
        }

        return $isKnown || $verdict === Verdict::Dead ? $verdict : null;
    }

    /**
     * @param string $tags of an item, packed
     *
     * @return list<string> those to be asked for
     */
    public function unknown(int $shard, string $clock, string $tags): array
    {
        $known = $this->known($shard, Span::history($clock), \PHP_INT_MAX);
        $names = [];
        foreach (Tags::unpack($tags) as $tag) {
            $hash = $this->hash($tag);
            if (!isset($known->byHash[$hash])) {
                $names[$hash] = $tag;
            }
        }
        $facts = $known === null ? [] : $this->facts($shard, $known, array_map(strval(...), array_keys($names)));

        return array_values(array_filter($names, static fn(int|string $hash): bool => !isset($facts[$hash]), \ARRAY_FILTER_USE_KEY));
    }

    /**
     * @param list<string> $tags that are to be asked for
     *
     * @return ?list<string> the arguments of Script::Versions; null: there are too many
     */
    public function question(int $shard, array $tags): ?array
    {
        return \count($tags) > self::MOST_ASKED ? null : [isset($this->known[$shard]) ? (string) $this->known[$shard]->span->until : '', ...$tags];
    }

    /**
     * @param string       $clock    that was read with the items
     * @param list<string> $question as of question()
     * @param mixed        $reply    to it
     *
     * @return bool false: the server is in another history by now
     */
    public function learn(int $shard, string $clock, array $question, mixed $reply): bool
    {
        [$now, $entries, $versions] = \is_array($reply) ? $reply + [null, null, null] : [null, null, null];
        $history = Span::history($clock);
        $tags = \array_slice($question, 1);
        if (!\is_string($now) || \strlen($now) !== \strlen($clock) || Span::history($now) !== $history || !\is_array($versions) || \count($versions) !== \count($tags)) {
            return false;
        }
        $tick = Entry::number($now, Script::INVALIDATED);
        $span = ($this->known[$shard] ?? null)?->span;
        // If the span is another one by now than when this was asked, the entries do not go on from it.
        $span = $span?->isOf($history) === true ? $span->extended($entries, $tick) : null;
        $span ??= Span::at($history, $tick);
        $known = $this->known[$shard] = TagTicks::of($span, $this->known[$shard] ?? null);
        $this->works = $this->works && $this->memory->write($this->place($shard, 'span'), $span->bytes);
        $learnt = [];
        foreach ($tags as $i => $tag) {
            $version = self::version($versions[$i] ?? null);
            if ($version === null) {
                return false;
            }
            $hash = $this->hash($tag);
            $learnt[$this->part($hash)][$hash] = $hash . Span::number($tick) . Span::number($version);
            $known->byHash[$hash] = $version;
        }
        $this->store($shard, $history, $learnt);

        return true;
    }

    /** @return ?TagTicks of a span that reaches to that tick, or else of the one that comes nearest */
    private function known(int $shard, string $history, int $invalidated): ?TagTicks
    {
        $known = $this->known[$shard] ?? null;
        if ($known !== null && !$known->span->isOf($history)) {
            unset($this->known[$shard]);
            $known = null;
        }
        if ($known === null || ($known->span->until < $invalidated && $invalidated < \PHP_INT_MAX)) {
            $name = $this->place($shard, 'span');
            $shared = Span::read($this->memory->read([$name])[$name] ?? '', $history);
            if ($shared !== null && ($known === null || $shared->until > $known->span->until)) {
                $this->known[$shard] = $known = TagTicks::of($shared, $known);
            }
        }

        return $known;
    }

    private function hash(string $tag): string
    {
        if (\count($this->hashes) > self::AT_HAND) {
            $this->hashes = [];
        }

        return $this->hashes[$tag] ??= Span::hash($tag);
    }

    /**
     * @param list<string> $hashes of tags of which nothing is at hand
     *
     * @return array<array-key, ?int> by hash the versions that the span can go on from; null: there is none
     */
    private function facts(int $shard, TagTicks $known, array $hashes): array
    {
        $versions = $parts = [];
        foreach ($hashes as $hash) {
            $parts[$this->place($shard, (string) $this->part($hash))][] = $hash;
        }
        if ($parts === []) {
            return $versions;
        }
        $read = $this->memory->read(array_keys($parts));
        $history = substr($known->span->bytes, 0, Span::HISTORY);
        foreach ($parts as $name => $hashes) {
            $bytes = $read[$name] ?? '';
            $bytes = str_starts_with($bytes, $history) ? $bytes : '';
            foreach ($hashes as $hash) {
                $at = self::find($bytes, $hash);
                $tick = $at === null ? -1 : Entry::number($bytes, $at + 8);
                $versions[$hash] = null;
                if ($at !== null && $tick >= $known->span->since) {
                    $versions[$hash] = Entry::number($bytes, $at + 14);
                    $known->byHash[$hash] = $versions[$hash];
                }
            }
        }

        return $versions;
    }

    /** @param array<int, array<array-key, string>> $learnt facts by their part */
    private function store(int $shard, string $history, array $learnt): void
    {
        $names = [];
        foreach ($learnt as $part => $_) {
            $names[$part] = $this->place($shard, (string) $part);
        }
        $there = $names === [] || !$this->works ? [] : $this->memory->read(array_values($names));
        foreach ($this->works ? $learnt : [] as $part => $facts) {
            $bytes = $there[$names[$part]] ?? '';
            $old = str_starts_with($bytes, $history) && (\strlen($bytes) - Span::HISTORY) % self::FACT === 0 ? substr($bytes, Span::HISTORY) : '';
            foreach ($facts as $hash => $_) {
                $at = self::find($history . $old, (string) $hash);
                $old = $at === null ? $old : substr_replace($old, '', $at - Span::HISTORY, self::FACT);
            }
            $this->works = $this->works && $this->memory->write($names[$part], $history . substr($old . implode('', $facts), -self::FACTS * self::FACT));
        }
    }

    /** @return ?int where the fact of that tag is */
    private static function find(string $bytes, string $hash): ?int
    {
        for ($at = $bytes === '' ? false : strpos($bytes, $hash, Span::HISTORY); $at !== false; $at = strpos($bytes, $hash, $at + 1)) {
            if (($at - Span::HISTORY) % self::FACT === 0) {
                return $at;
            }
        }

        return null;
    }

    private function part(string $hash): int
    {
        return (\ord($hash[0]) << 8 | \ord($hash[1])) % $this->parts;
    }

    /** @param int $tick at which a tag was last invalidated */
    private static function verdictOf(int $tick, int $version): Verdict
    {
        return match (true) {
            $version >= ($tick & ~Span::MAY_BE_SERVED) => Verdict::Live,
            $tick < Span::MAY_BE_SERVED => Verdict::Dead,
            default => Verdict::Stale,
        };
    }

    /** @param mixed $field a tag's version, as it lies in the server (see Script) */
    private static function version(mixed $field): ?int
    {
        if (!\is_string($field) || preg_match('/^(\d+)(?: (\d+) \d+)?$/D', $field, $ticks) !== 1) {
            return null;
        }

        return isset($ticks[2]) ? max((int) $ticks[1], (int) $ticks[2]) | Span::MAY_BE_SERVED : (int) $ticks[1];
    }

    private function place(int $shard, string $what): string
    {
        return "{$this->name}:{$shard}:{$what}";
    }
}
