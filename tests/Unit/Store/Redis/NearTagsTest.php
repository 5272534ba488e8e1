<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store\Redis;

use Larder\Store\Redis\NearTags;
use Larder\Store\Redis\Span;
use Larder\Store\Tags;
use Larder\Store\Verdict;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What a host makes of what it knows of tags, whatever its processes do at the same time. */
#[CoversClass(NearTags::class)]
#[CoversClass(Span::class)]
final class NearTagsTest extends TestCase
{
    private OneMemory $memory;

    private TagServer $server;

    private NearTags $tags;

    protected function setUp(): void
    {
        $this->memory = new OneMemory();
        $this->server = new TagServer();
        $this->tags = new NearTags($this->memory, 'test');
    }

    public function testWhatIsNotKnownIsAskedForOnceByAllProcesses(): void
    {
        $this->server->invalidate('other');
        self::assertNull($this->verdict($this->tags, 1, 'a', 'b'));
        $this->learn($this->tags, 'a', 'b');
        self::assertSame(Verdict::Live, $this->verdict($this->tags, 1, 'a', 'b'));
        self::assertSame(Verdict::Live, $this->verdict(new NearTags($this->memory, 'test'), 1, 'b', 'a'));
        self::assertNull($this->verdict(new NearTags($this->memory, 'another'), 1, 'a'));
    }

    public function testAnItemIsDeadFromTheInvalidationOfOneOfItsTagsOn(): void
    {
        $this->server->invalidate('other');
        $this->learn($this->tags, 'a', 'b');
        $version = $this->server->tick;
        $this->server->invalidate('b');
        // Not even for a moment does the host judge by what it knew before.
        self::assertNull($this->verdict($this->tags, $version, 'a', 'b'));
        $this->learn($this->tags);
        self::assertSame(Verdict::Dead, $this->verdict($this->tags, $version, 'a', 'b'));
        self::assertSame(Verdict::Live, $this->verdict($this->tags, $version, 'a'));
        self::assertSame(Verdict::Live, $this->verdict($this->tags, $this->server->tick, 'b'));
        // Of the time of the span all is known, of any tag.
        self::assertSame(Verdict::Live, $this->verdict($this->tags, $version, 'never asked for'));
    }

    public function testWhatADelayedProcessLearntBeforeAnInvalidationBringsNothingBack(): void
    {
        $this->server->invalidate('other');
        $this->learn($this->tags, 'a');
        $version = $this->server->tick;
        $slow = new NearTags($this->memory, 'test');
        self::assertSame(Verdict::Live, $this->verdict($slow, $version - 1, 'a'));
        $question = $slow->question(0, ['a', 'b']);
        self::assertNotNull($question);
        $reply = $this->server->reply($question);
        $clock = $this->server->clock();
        $this->server->invalidate('a', 'b');
        $this->learn($this->tags, 'a', 'b');
        // Only now what it was told before is written, over what is newer.
        self::assertTrue($slow->learn(0, $clock, $question, $reply));
        foreach ([$this->tags, $slow, new NearTags($this->memory, 'test')] as $process) {
            foreach (['a', 'b'] as $tag) {
                $this->learn($process, ...$process->unknown(0, $this->server->clock(), Tags::pack([$tag])));
                self::assertSame(Verdict::Dead, $this->verdict($process, $version, $tag));
            }
        }
    }

    public function testASpanThatMissesAnInvalidationIsNotExtended(): void
    {
        $this->server->invalidate('other');
        $this->learn($this->tags, 'a');
        $version = $this->server->tick;
        $this->server->invalidate('a');
        $this->server->lose();
        $this->server->invalidate('another');
        self::assertNull($this->verdict($this->tags, $version, 'a'));
        $this->learn($this->tags);
        // What was known is older than the span that began.
        self::assertNull($this->verdict($this->tags, $version, 'a'));
        $this->learn($this->tags, 'a');
        self::assertSame(Verdict::Dead, $this->verdict($this->tags, $version, 'a'));
    }

    public function testASpanThatBeginsEarlierBringsWhatHappenedBefore(): void
    {
        $this->server->invalidate('other');
        $this->learn($this->tags);
        $version = $this->server->tick;
        $this->server->invalidate('a');
        $this->learn($this->tags);
        $this->memory->forget('span');
        $late = new NearTags($this->memory, 'test');
        $this->learn($late, 'b');
        $this->server->invalidate('another');
        // The one that has known longer writes what both go on from.
        $this->learn($this->tags);

        self::assertSame(Verdict::Dead, $this->verdict($late, $version, 'a'));
        self::assertSame(Verdict::Live, $this->verdict($late, $version, 'b'));
    }

    public function testWhatIsMissingAtTheEndOfTheListShows(): void
    {
        $this->server->invalidate('other');
        $this->learn($this->tags, 'a');
        $version = $this->server->tick;
        $this->server->invalidate('another');
        $this->server->invalidate('a');
        $this->server->loseLast();
        $this->learn($this->tags);
        self::assertNull($this->verdict($this->tags, $version, 'a'));
    }

    /** @return iterable<string, array{\Closure(TagServer): mixed}> */
    public static function histories(): iterable
    {
        yield 'an epoch' => [static fn(TagServer $server): string => $server->epoch = 'epoch002'];
        yield 'a life' => [static fn(TagServer $server): string => $server->life = str_repeat('b', 16)];
        yield 'a process' => [static fn(TagServer $server): string => $server->process = str_repeat('b', 16)];
    }

    /** @param \Closure(TagServer): mixed $change */
    #[DataProvider('histories')]
    public function testNothingThatIsKnownIsTrueInAnotherHistory(\Closure $change): void
    {
        $this->server->invalidate('a');
        $this->server->invalidate('other');
        $this->learn($this->tags, 'a', 'b');
        $clock = $this->server->clock();
        self::assertSame(Verdict::Live, $this->verdict($this->tags, 2, 'b'));
        $another = new NearTags(new OneMemory(), 'test');
        $this->learn($another, 'b');
        $question = $another->question(0, ['c']);
        self::assertNotNull($question);
        $change($this->server);
        // Also if it has read nothing since.
        self::assertTrue($another->learn(0, $this->server->clock(), $question, $this->server->reply($question)));
        self::assertNull($this->verdict($another, 2, 'b'));
        self::assertNull($this->verdict($this->tags, 2, 'b'));
        self::assertNull($this->verdict(new NearTags($this->memory, 'test'), 2, 'b'));
        // Nor does an answer from there count where the items are from before.
        $question = $this->tags->question(0, ['b']);
        self::assertNotNull($question);
        self::assertFalse($this->tags->learn(0, $clock, $question, $this->server->reply($question)));
        // One that lies beside it.
        $place = static fn(string $tag): int => (\ord(Span::hash($tag)[0]) << 8 | \ord(Span::hash($tag)[1])) % 1_024;
        for ($i = 0, $beside = 'c'; $place($beside) !== $place('b'); $i++) {
            $beside = "c{$i}";
        }
        $this->learn($this->tags, 'c', $beside);
        // A span has begun. What was known of the other tag is older, although its tick is not.
        self::assertSame(Verdict::Live, $this->verdict($this->tags, 2, 'c'));
        self::assertNull($this->verdict($this->tags, 2, 'b'));
        self::assertNull($this->verdict(new NearTags($this->memory, 'test'), 2, 'b'));
        $this->learn($this->tags, 'b');
        self::assertSame(Verdict::Live, $this->verdict($this->tags, 2, 'b'));
    }

    public function testWhatMayStillBeServedIsLeftToTheServer(): void
    {
        $this->server->invalidate('other');
        $version = $this->server->tick;
        $this->learn($this->tags, 'a', 'b');
        $this->server->letServe('a');
        $this->learn($this->tags);
        self::assertSame(Verdict::Stale, $this->verdict($this->tags, $version, 'a'));
        self::assertSame(Verdict::Live, $this->verdict($this->tags, $this->server->tick, 'a'));
        $fresh = new NearTags(new OneMemory(), 'test');
        $this->learn($fresh, 'a', 'b');
        self::assertSame(Verdict::Stale, $this->verdict($fresh, $version, 'a', 'b'));
        $this->server->invalidate('b');
        $this->learn($fresh);
        self::assertSame(Verdict::Dead, $this->verdict($fresh, $version, 'a', 'b'));
    }

    public function testWhatAHostKnowsIsBoundedAndItJudgesAsTheServerDoes(): void
    {
        mt_srand($seed = random_int(0, 1 << 30));
        $this->server->invalidate('other');
        $items = [];
        for ($i = 0; $i < 500; $i++) {
            $items[$i] = [$this->server->tick, array_map(static fn(): string => 'tag ' . mt_rand(0, 3_000), range(0, mt_rand(0, 4)))];
        }
        // By the extension or without it: each judges by what the others have learnt.
        $start = fn(): NearTags => new NearTags($this->memory, 'test', asksExtension: mt_rand(0, 1) === 1);
        $processes = [$this->tags, $start(), $start()];
        $asked = $judged = 0;
        for ($step = 0; $step < 5_000; $step++) {
            // Some go on for long, and have spans of their own as what they share is lost; others are there for one read.
            $process = mt_rand(0, 9);
            $tags = $processes[$process] ?? $start();
            if ($process < 3 && mt_rand(0, 99) === 0) {
                $processes[$process] = $tags = $start();
            }
            if (mt_rand(0, 199) === 0) {
                $this->memory->forget('span');
            }
            if (mt_rand(0, 99) === 0) {
                $this->memory->forgetOne();
            }
            if (mt_rand(0, 9) < 4) {
                $this->server->invalidate(...array_map(static fn(): string => 'tag ' . mt_rand(0, 3_000), range(0, mt_rand(0, 2))));
            }
            $i = mt_rand(0, 499);
            [$version, $names] = $items[$i] ?? [0, []];
            for ($tries = 0; ($verdict = $this->verdict($tags, $version, ...$names)) === null; $tries++) {
                self::assertLessThan(3, $tries, "seed {$seed}");
                $this->learn($tags, ...$tags->unknown(0, $this->server->clock(), Tags::pack($names)));
                $asked++;
            }
            $judged++;
            self::assertSame($this->server->judge($version, $names), $verdict, "seed {$seed}, step {$step}");
            if ($verdict === Verdict::Dead) {
                $items[$i] = [$this->server->tick, $names];
            }
        }
        self::assertGreaterThan($asked, $judged, "seed {$seed}");
        self::assertLessThan(3_000_000, $this->memory->bytes());
    }

    public function testAMemoryThatTakesNothingIsNotAskedAgain(): void
    {
        $this->server->invalidate('other');
        $this->memory->isFull = true;
        self::assertTrue($this->tags->works());
        $this->learn($this->tags, 'a');
        self::assertFalse($this->tags->works());
    }

    public function testWhatLiesThereThatIsNoneOfItsOwnIsNotBelieved(): void
    {
        $this->server->invalidate('other');
        $this->learn($this->tags, 'a');
        foreach (['', 'x', str_repeat('x', 53), substr($this->server->clock(), 1, 8)] as $bytes) {
            $this->memory->overwrite($bytes);
            self::assertNull($this->verdict(new NearTags($this->memory, 'test'), 1, 'a'));
        }
    }

    private function verdict(NearTags $tags, int $version, string ...$names): ?Verdict
    {
        return $tags->verdict(0, $this->server->clock(), $this->server->invalidated, $version, Tags::pack(array_values($names)));
    }

    private function learn(NearTags $tags, string ...$names): void
    {
        // As a read does, which has looked for a span before.
        $this->verdict($tags, 0, 'any');
        $question = $tags->question(0, array_values($names));
        self::assertNotNull($question);
        self::assertTrue($tags->learn(0, $this->server->clock(), $question, $this->server->reply($question)));
    }
}
