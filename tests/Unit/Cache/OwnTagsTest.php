<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\OwnTags;
use Larder\Store\ArrayStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(OwnTags::class)]
final class OwnTagsTest extends TestCase
{
    public function testATagIsOnesOwnAfterTheMomentsBeforeItsInvalidation(): void
    {
        $own = new OwnTags();
        self::assertFalse($own->areSince(0, ['7', 'tag']));
        $own->note(['7']);
        $own->note(['other']);
        self::assertTrue($own->areSince(0, ['tag', '7']));
        self::assertFalse($own->areSince(1, ['tag', '7']));
        self::assertFalse($own->areSince(0, ['tag']));
        self::assertFalse($own->areSince(0, []));
    }

    public function testAfterManyInvalidationsEarlierMissesJudgeNothingAndLaterOnesDo(): void
    {
        $cache = new Cache($store = new ArrayStore());
        self::assertNull($cache->get('early'));
        for ($i = 0; $i < 11; $i++) {
            $cache->invalidateTags(array_map(static fn(int $number): string => "{$i}: {$number}", range(0, 999)));
        }
        self::assertNull($cache->get('late'));
        $store->delete(['early', 'late']);
        self::assertTrue($cache->set('early', 'value', tags: ['0: 0']));
        self::assertFalse($cache->set('late', 'value', tags: ['0: 0']));
    }

    public function testOfMoreMissesThanAreRememberedWithTheirMomentNoneIsHeldAgainstTheProcess(): void
    {
        $cache = new Cache(new ArrayStore());
        $cache->invalidateTags(['tag']);
        for ($i = 0; $i < 70; $i++) {
            $cache->getMany(array_map(static fn(int $number): string => "{$i}: {$number}", range(0, 999)));
        }
        $cache->invalidateTags(['mine']);
        self::assertTrue($cache->set('69: 999', 'value', tags: ['mine']));
    }
}
