<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Item;
use Larder\SaveMode;
use Larder\Store\ArrayStore;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** A database with a log says by the log's head whether anything was written since a request began. */
#[CoversClass(SqliteStore::class)]
final class SqliteRequestTokenTest extends TestCase
{
    private string $path = '';

    private ?Scratch $scratch = null;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->path = "{$this->scratch->path}/cache.db";
        $this->tier()->save([new Item('there', 1)]);
    }

    public function testToNoteThatARequestBeginsOpensNoDatabaseThatHasALog(): void
    {
        $store = new SqliteStore($this->path);
        $store->noteRequest();
        $before = $this->isOpen();
        $token = $store->requestToken('key');

        self::assertFalse($before);
        self::assertTrue($this->isOpen());
        self::assertNotNull($token);
    }

    public function testAnAdditionIsStoredIfNothingWasWrittenSinceTheRequestBegan(): void
    {
        $tier = $this->tier();
        $tier->noteRequest();

        self::assertTrue($this->adds($tier, 'key'));
    }

    public function testAnAdditionIsRefusedIfAnotherProcessHasDeletedItsKeySinceTheRequestBegan(): void
    {
        $tier = $this->tier();
        $tier->noteRequest();
        $this->tier()->delete(['key']);

        self::assertFalse($this->adds($tier, 'key'));
    }

    public function testAnAdditionIsRefusedIfAnotherProcessHasDeletedItsKeyBetweenTheFirstReadAndTheAddition(): void
    {
        $tier = $this->tier();
        $tier->noteRequest();
        $tier->fetch(['there']);
        $this->tier()->delete(['key']);

        self::assertFalse($this->adds($tier, 'key'));
    }

    public function testWhatTheRequestItselfHasWrittenRefusesNoAdditionOfAnotherKey(): void
    {
        $tier = $this->tier();
        $tier->noteRequest();
        $tier->save([new Item('other', 1)]);

        self::assertTrue($this->adds($tier, 'key'));
    }

    public function testAnotherRequestIsJudgedByItsOwnBeginning(): void
    {
        $tier = $this->tier();
        $tier->noteRequest();
        $this->tier()->delete(['key']);
        $tier->noteRequest(true);

        self::assertTrue($this->adds($tier, 'key'));
    }

    private function tier(): TieredStore
    {
        $far = new SqliteStore($this->path);

        return new TieredStore(new ArrayStore(), $far, $far->log());
    }

    private function adds(TieredStore $tier, string $key): bool
    {
        return $tier->save([new Item($key, 'row', token: $tier->requestToken($key), fill: true)], SaveMode::Add) === [];
    }

    private function isOpen(): bool
    {
        foreach (glob('/proc/self/fd/*') ?: [] as $file) {
            if (@readlink($file) === $this->path) {
                return true;
            }
        }

        return false;
    }
}
