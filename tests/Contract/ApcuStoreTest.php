<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;
use Larder\Store\ApcuStore;
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

    protected function isBlockedByTheDead(): bool
    {
        return true;
    }
}
