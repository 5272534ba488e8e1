<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Capability;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store;
use PHPUnit\Framework\Attributes\DataProvider;

/** What a store that judges tokens promises to a write that says what it was made from: compare and set. */
final class ConflictContract extends Suite
{
    /** @return iterable<string, array{\Closure(Store): void}> what makes stale what is made from something older */
    public static function invalidations(): iterable
    {
        return TokenContract::invalidations();
    }

    /** @param \Closure(Store): void $invalidate */
    #[DataProvider('invalidations')]
    public function testAWriteMadeFromWhatHasChangedIsRefusedAndChangesNothing(\Closure $invalidate): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $store = $this->store();
        $tags = $this->can(Capability::Tags) ? ['late'] : [];
        foreach (['small', str_repeat('large', 1_000)] as $late) {
            $store->save([new Item('key', 1, 1_000)]);
            $token = $store->token('key');
            $this->of->elsewhere($invalidate);
            $before = $store->fetch(['key'])->items;
            foreach ([[SaveMode::Set, false], [SaveMode::Replace, false], [SaveMode::Set, true]] as [$mode, $isFill]) {
                $item = new Item('key', $late, 100, $tags, $token, $isFill);
                self::assertSame(['key'], $store->save([$item], $mode));
                $after = $store->fetch(['key'])->items;
                self::assertSame(array_column($before, 'value'), array_column($after, 'value'), $mode->name);
                self::assertEqualsWithDelta($before['key']->expiry ?? null, $after['key']->expiry ?? null, 1);
            }
            $dead = new Item('key', $late, 0, $tags, $token);
            $store->save([$dead]);
            // An invalidated tag refuses what carries it; but nothing carries it here.
            if ($this->named !== 'a tag') {
                self::assertSame(array_column($before, 'value'), array_column($store->fetch(['key'])->items, 'value'), 'dead at once');
            }
        }
    }

    public function testAWriteUnderATokenIsStoredWhereNothingHasChanged(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $store = $this->store();
        foreach (['small', str_repeat('large', 1_000)] as $value) {
            $older = $store->token('key');
            self::assertSame([], $store->save([new Item('key', $value, 1_000, [], $store->token('key'))]));
            self::assertSame($value, $this->value('key'));
            $this->of->elsewhere(static function (Store $store): void {
                self::assertSame([], $store->save([new Item('key', [1], 1_000, [], $store->token('key'))], SaveMode::Replace));
            });
            // It is new truth: what was computed before is stale.
            self::assertSame(['key'], $store->save([new Item('key', 'late', 1_000, [], $older, true)]));
            self::assertSame([1], $this->value('key'));
            self::assertSame([], $store->save([new Item('key', 'dead', 0, [], $store->token('key'))]));
            self::assertFalse($this->has('key'));
        }
    }

    public function testOfTwoWritesUnderTheSameTokenTheFirstStays(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        foreach (['absent', 'there'] as $key) {
            if ($key === 'there') {
                $this->store()->save([new Item($key, 'old', 1_000)]);
            }
            $token = $this->store()->token($key);
            $write = static fn(Store $store, string $by): array => $store->save([new Item($key, $by, 1_000, [], $token)]);
            $this->of->elsewhere(static function (Store $store) use ($write): void {
                self::assertSame([], $write($store, 'first'));
            });
            self::assertSame([$key], $write($this->store(), 'second'));
            self::assertSame('first', $this->value($key));
        }
    }

    public function testOfABatchEachItemIsRefusedByItself(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $store = $this->store();
        $keys = ['stays', 'stays, too', 'is stored'];
        $store->save(array_map(static fn(string $key): Item => new Item($key, 'old', 1_000), $keys));
        $tokens = array_map($store->token(...), $keys);
        $this->of->elsewhere(static function (Store $store): void {
            $store->save([new Item('stays', 'new', 1_000), new Item('stays, too', 'new', 1_000)]);
        });
        self::assertSame(['stays', 'stays, too'], $store->save([
            new Item('stays', 'late', 1_000, [], $tokens[0]),
            new Item('stays, too', 'late', 1_000, [], $tokens[1], true),
            new Item('is stored', 'late', 1_000, [], $tokens[2]),
        ]));
        self::assertSame(['stays' => 'new', 'stays, too' => 'new', 'is stored' => 'late'], array_map(static fn(Item $item): mixed => $item->value, $store->fetch($keys)->items));
    }
}
