<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Cache;
use Larder\Capability;
use Larder\Draft;
use Larder\Item;
use Larder\OnConflict;
use Larder\Store;

/** What every store promises through a cache of writes that say what they were made from. */
final class CacheWritesContract extends Suite
{
    public function testASetUnderATokenIsRefusedOnceAnotherProcessHasChangedTheKey(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $overwrite = static function (Store $store): void {
            $store->save([new Item('key', 'new', 1_000), new Item('7', 'new', 1_000)]);
        };
        self::assertTrue($cache->set('key', 'old', token: $cache->token('key')));
        foreach ([[OnConflict::Leave, 'new'], [OnConflict::Remove, null]] as [$onConflict, $left]) {
            $tokens = ['key' => $cache->token('key'), '7' => $cache->token('7')];
            $this->of->elsewhere($overwrite);
            self::assertFalse($cache->replace('key', 'late', token: $tokens['key'], onConflict: OnConflict::Leave));
            self::assertSame('new', $cache->get('key'));
            self::assertFalse($cache->set('key', 'late', token: $tokens['key'], onConflict: $onConflict));
            self::assertSame($left, $cache->get('key'));
            self::assertFalse($cache->setMany(['7' => 'late', 'free' => 'stored'], tokens: $tokens, onConflict: $onConflict));
            self::assertSame($left, $cache->get('7'));
            self::assertSame('stored', $cache->get('free'));
        }
        $token = $cache->token('added');
        $this->of->elsewhere(static function (Store $store): void {
            $store->delete(['added']);
        });
        self::assertFalse($cache->add('added', 'late', token: $token));
        self::assertTrue($cache->add('added', 'in time', token: $cache->token('added')));
        self::assertTrue($cache->replace('added', 'in time, too', token: $cache->token('added')));
        self::assertSame('in time, too', $cache->get('added'));
    }

    public function testADeleteTellsWhatExistedAndJudgesNothingThatFollows(): void
    {
        $cache = new Cache($this->store(), strict: true);
        self::assertTrue($cache->setMany(['key' => 'value', '7' => null, 'other' => 0]));
        self::assertTrue($cache->delete('key', $existed));
        self::assertTrue($existed);
        self::assertTrue($cache->delete('key', $existed));
        self::assertFalse($existed);
        self::assertTrue($cache->deleteMany(['absent', '7', 'key', 'other', '7'], $among));
        self::assertSame(['7', 'other'], $among);
        self::assertTrue($cache->deleteMany([], $among));
        self::assertSame([], $among);
        // What was missed before a delete of one's own is no older than that.
        self::assertNull($cache->get('key'));
        $this->elsewhere(static function (Store $store): void {
            $store->save([new Item('key', 'theirs', 1_000)]);
        });
        self::assertTrue($cache->delete('key', $existed));
        self::assertTrue($existed);
        self::assertTrue($cache->set('key', 'new truth'));
        self::assertSame('new truth', $cache->get('key'));
    }

    public function testAnUpdateBeginsAnewWithWhatAnotherProcessHasStoredMeanwhile(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $overtaken = $this->overtakenBefore(['save'], static fn(Store $store): array => $store->save([new Item('list', ['theirs'], 1_000)]));
        $seen = [];
        $isStored = (new Cache($overtaken, strict: true))->update('list', static function (mixed $list) use (&$seen): array {
            $seen[] = $list;
            self::assertIsArray($list);

            return [...$list, 'ours'];
        }, default: []);
        self::assertTrue($isStored);
        self::assertSame([[], ['theirs']], $seen);
        self::assertSame(['theirs', 'ours'], $this->value('list'));
    }

    public function testAnUpdateIsAWriteWithTheTtlAndTheTagsOfItsDraft(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $canTag = $this->can(Capability::Tags);
        $before = time();
        self::assertTrue($cache->update('key', static function (mixed $value, Draft $draft) use ($canTag): array {
            self::assertSame('none', $value);
            $draft->expireAfter(1_000);
            $canTag && $draft->tag('x');

            return ['a'];
        }, 5, default: 'none'));
        self::assertEqualsWithDelta($before + 1_000, $this->store()->fetch(['key'])->items['key']->expiry ?? 0, 10);
        self::assertTrue($cache->update('key', static fn(mixed $value): mixed => \is_array($value) ? [...$value, 'b'] : null, 1_000, $canTag ? ['x'] : []));
        self::assertSame(['a', 'b'], $cache->get('key'));
        self::assertFalse($cache->update('key', static function (mixed $value, Draft $draft): mixed {
            $draft->doNotStore();

            return 'not stored';
        }));
        self::assertSame(['a', 'b'], $cache->get('key'));
        if ($canTag) {
            $cache->invalidateTags(['x']);
            self::assertNull($cache->get('key'));
        }
        $older = $cache->token('key');
        $this->of->elsewhere(static function (Store $store): void {
            self::assertTrue((new Cache($store, strict: true))->update('key', static fn(): string => 'new truth'));
        });
        self::assertSame(['key'], $this->store()->save([new Item('key', 'late', 100, [], $older, true)]));
        self::assertSame('new truth', $cache->get('key'));
        // What remember() has stored is read without what it needs to know besides.
        self::assertSame(['computed'], $cache->remember('remembered', static fn(): array => ['computed'], 1_000, grace: 10));
        self::assertTrue($cache->update('remembered', static fn(mixed $value): mixed => \is_array($value) ? [...$value, 'updated'] : null));
        self::assertSame(['computed', 'updated'], $cache->get('remembered'));
        self::assertTrue($cache->update('remembered', static function (mixed $value, Draft $draft): mixed {
            $draft->expireAfter(0);

            return $value;
        }));
        self::assertNull($cache->get('remembered'));
        try {
            $cache->update('key', static fn(): never => throw new \DomainException('no change'));
            self::fail('What the change throws is thrown.');
        } catch (\DomainException $failure) {
            self::assertSame('no change', $failure->getMessage());
        }
    }
}
