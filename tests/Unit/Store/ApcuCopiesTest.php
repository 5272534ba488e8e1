<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Item;
use Larder\Store\ApcuStore;
use Larder\Token;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Copies of another store's items in APCu. */
#[CoversClass(ApcuStore::class)]
final class ApcuCopiesTest extends TestCase
{
    private ApcuStore $store;

    protected function setUp(): void
    {
        $this->store = new ApcuStore('test-copies');
        $this->store->clear();
    }

    protected function tearDown(): void
    {
        $this->store->clear();
    }

    public function testACopyIsReadAsItWasTold(): void
    {
        foreach (['string' => 'value', 'null' => null, '7' => 7, 'array' => [1, [2]], 'object' => new Token('epoch', 1)] as $key => $value) {
            $this->keep($this->copy((string) $key, $value));
            self::assertEquals($value, $this->store->read((string) $key, 'none'));
            $item = $this->other()->fetchCopies([(string) $key])->items[$key];
            self::assertEquals([(string) $key, $value, []], [$item->key, $item->value, $item->tags]);
            self::assertEqualsWithDelta(time() + 100, $item->expiry, 1);
        }
        $this->keep(Item::found('for ever', 'value', null));
        self::assertNull($this->store->fetch(['for ever'])->items['for ever']->expiry);
    }

    public function testThereIsATokenForEachMissingKeyAndForNoOther(): void
    {
        $this->keep($this->copy('there', 'value'));
        $fetched = $this->store->fetchCopies(['there', 'missing', '7']);
        self::assertSame([['there'], ['missing', 7]], [array_keys($fetched->items), array_keys($fetched->tokens)]);
    }

    /** @param \Closure(ApcuStore): mixed $change */
    #[DataProvider('changes')]
    public function testACopyFromBeforeAChangeIsRefused(\Closure $change, bool $isThere): void
    {
        if ($isThere) {
            $this->store->save([new Item('key', 'there', 100)]);
            $this->store->forget(['key']);
        }
        $token = $this->store->fetchCopies(['key'])->tokens['key'];
        $change($this->other());
        $this->store->keep([$this->copy('key', 'late', ['tag'])], ['key' => $token], time());
        self::assertNotSame('late', $this->store->read('key'));
        self::assertNotSame('late', $this->other()->read('key'));
    }

    /** @return iterable<string, array{\Closure(ApcuStore): mixed, bool}> */
    public static function changes(): iterable
    {
        foreach ([false, true] as $isThere) {
            $when = $isThere ? ', after the key was used' : '';
            yield "forgotten{$when}" => [static fn(ApcuStore $store) => $store->forget(['key']), $isThere];
            yield "deleted{$when}" => [static fn(ApcuStore $store) => $store->delete(['key']), $isThere];
            yield "saved and deleted{$when}" => [static fn(ApcuStore $store) => [$store->save([new Item('key', 'new', 100)]), $store->delete(['key'])], $isThere];
            yield "saved{$when}" => [static fn(ApcuStore $store) => $store->save([new Item('key', 'new', 100)]), $isThere];
            yield "its tag was invalidated{$when}" => [static fn(ApcuStore $store) => $store->invalidateTags(['tag']), $isThere];
            yield "all cleared{$when}" => [static fn(ApcuStore $store) => $store->clear(), $isThere];
            yield "forgotten, and another token taken{$when}" => [static function (ApcuStore $store): void {
                $store->forget(['key']);
                $store->fetchCopies(['key']);
            }, $isThere];
            yield "cleared, and another token taken{$when}" => [static function (ApcuStore $store): void {
                $store->clear();
                $store->fetchCopies(['key']);
                $store->token('key');
            }, $isThere];
        }
    }

    public function testWhatIsLiveStays(): void
    {
        $token = $this->store->fetchCopies(['key'])->tokens['key'];
        $this->store->keep([$this->copy('key', 'first')], ['key' => $token], time());
        $this->store->keep([$this->copy('key', 'second')], ['key' => $token], time());
        self::assertSame('first', $this->store->read('key'));
    }

    public function testWhatIsDeadGivesWay(): void
    {
        $this->keep($this->copy('key', 'dead', ['tag']));
        self::assertSame('dead', $this->store->read('key'));
        $this->store->invalidateTags(['tag']);
        self::assertNull($this->store->read('key'));
        $this->keep($this->copy('key', 'fresh', ['tag']));
        self::assertSame('fresh', $this->store->read('key'));
        $this->store->invalidateTags(['tag']);
        self::assertNull($this->store->read('key'));
    }

    public function testWhatIsDeadGivesWayToNothingThatIsLate(): void
    {
        $this->keep($this->copy('key', 'dead', ['tag']));
        $this->store->invalidateTags(['tag']);
        $token = $this->store->fetchCopies(['key'])->tokens['key'];
        $this->store->invalidateTags(['other']);
        $this->store->keep([$this->copy('key', 'late', ['other'])], ['key' => $token], time());
        self::assertNull($this->store->read('key'));
    }

    public function testACopyLivesAsLongAsWhatItIsOf(): void
    {
        $now = time();
        $token = $this->store->fetchCopies(['key'])->tokens['key'];
        $this->store->keep([Item::found('key', 'value', $now + 1)], ['key' => $token], $now);
        while (time() <= $now) {
            usleep(1_000);
        }
        self::assertNull($this->store->read('key'));
    }

    public function testACopyRefusesNoFill(): void
    {
        $fill = $this->store->token('key');
        $this->keep($this->copy('key', 'copy'));
        self::assertSame([], $this->store->save([new Item('key', 'filled', 100, token: $fill, fill: true)]));
        self::assertSame('filled', $this->store->read('key'));
    }

    public function testNeitherKindOfTokenPassesForTheOther(): void
    {
        $copy = $this->store->fetchCopies(['key'])->tokens['key'];
        $this->other()->delete(['key']);
        $this->other()->token('key');
        self::assertSame(['key'], $this->store->save([new Item('key', 'late', 100, token: $copy, fill: true)]));
        $fill = $this->store->token('other');
        $this->store->keep([$this->copy('other', 'value')], ['other' => $fill], time());
        self::assertNull($this->store->read('other'));
    }

    public function testNothingIsLeftBehindByARefusal(): void
    {
        $token = $this->store->fetchCopies(['key'])->tokens['key'];
        $this->other()->forget(['key']);
        $this->store->keep([$this->copy('key', 'late')], ['key' => $token], time());
        self::assertSame([], [...$this->store->keys()]);
        self::assertFalse(apcu_exists('test-copies:key'));
    }

    private function other(): ApcuStore
    {
        return new ApcuStore('test-copies');
    }

    private function keep(Item $item): void
    {
        $this->store->keep([$item], $this->store->fetchCopies([$item->key])->tokens, time());
    }

    /** @param list<string> $tags */
    private function copy(string $key, mixed $value, array $tags = []): Item
    {
        return Item::found($key, $value, time() + 100, 1, $tags);
    }
}
