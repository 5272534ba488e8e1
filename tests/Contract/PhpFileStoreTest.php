<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;
use Larder\Store\PhpFileStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(PhpFileStore::class)]
final class PhpFileStoreTest extends SharedStoreContract
{
    private ?Scratch $scratch = null;

    private ?PhpFileStore $store = null;

    protected function tearDown(): void
    {
        $this->store = $this->scratch = null;
    }

    protected function store(): Store
    {
        return $this->store ??= $this->in('test');
    }

    protected function reopened(): Store
    {
        return $this->in('test');
    }

    protected function neighbour(): Store
    {
        return $this->in('neighbour');
    }

    protected function losses(): iterable
    {
        yield from FileStoreTest::lossesIn("{$this->scratch?->path}/test");
    }

    private function in(string $directory): PhpFileStore
    {
        $this->scratch ??= new Scratch();

        return new PhpFileStore("{$this->scratch->path}/{$directory}", timeout: 30.0);
    }

    protected function footprint(): int
    {
        $this->store();

        return FileStoreTest::footprintOf($this->scratch);
    }
}
