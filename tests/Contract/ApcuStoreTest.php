<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Item;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Tests\Contract\Value\Meddler;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(ApcuStore::class)]
final class ApcuStoreTest extends SharedStoreContract
{
    private ?ApcuStore $store = null;

    protected function setUp(): void
    {
        $this->store()->clear();
    }

    protected function store(): Store
    {
        return $this->store ??= new ApcuStore('test');
    }

    protected function reopened(): Store
    {
        return new ApcuStore('test');
    }

    protected function neighbour(): Store
    {
        return new ApcuStore('tes');
    }

    /** APCu asks the value for its form between the judging and the storing. */
    public function testAFillThatIsOvertakenWhileItIsStoredIsAMiss(): void
    {
        $token = $this->store()->fetch(['key'])->tokens['key'];
        $late = new Meddler(fn(): mixed => $this->reopened()->delete(['key']));
        $this->store()->save([new Item('key', $late, 100, token: $token, fill: true)]);
        self::assertFalse($this->has('key'));
        $token = $this->store()->fetch(['key'])->tokens['key'];
        self::assertSame([], $this->store()->save([new Item('key', 'fresh', 100, token: $token, fill: true)]));
        self::assertSame('fresh', $this->value('key'));
    }

    public function testWhatIsReadIsFetchedToTheEndOfItsLife(): void
    {
        $this->store()->save([new Item('key', 'value', 2)]);
        while (isset($this->store()->fetch(['key'])->items['key'])) {
            usleep(1_000);
        }
        self::assertNull((new ApcuStore('test'))->read('key'), 'It is not read any more, either.');
    }

    public function testWhatIsFilledAgainOutlivesTheFirstFill(): void
    {
        foreach ([1, 100] as $ttl) {
            $token = $this->store()->token('key');
            self::assertSame([], $this->store()->save([new Item('key', $ttl, $ttl, token: $token, fill: true)]));
        }
        $this->store()->save([new Item('other', 'value', 3)]);
        while ($this->has('other')) {
            usleep(1_000);
        }
        self::assertSame(100, $this->value('key'));
    }

    protected function losses(): iterable
    {
        foreach (['clock', 'g', 'k', 'i', 't'] as $kind) {
            yield $kind => static function () use ($kind): void {
                apcu_delete(new \APCUIterator("/^test!{$kind}/", \APC_ITER_KEY));
            };
        }
    }

    protected function isBlockedByTheDead(): bool
    {
        return true;
    }
}
