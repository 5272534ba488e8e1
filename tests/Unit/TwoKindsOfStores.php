<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\FileStore;
use Larder\Tests\Scratch;

/** What a cache promises over a store that it reads directly, and over one that it fetches from. */
trait TwoKindsOfStores
{
    private ?Scratch $scratch = null;

    protected function tearDown(): void
    {
        $this->scratch = null;
    }

    /** @return iterable<string, array{bool}> */
    public static function stores(): iterable
    {
        yield 'one with direct reads' => [true];
        yield 'one without' => [false];
    }

    private function store(bool $isDirect): Store
    {
        $this->scratch = new Scratch();

        return $isDirect ? new ArrayStore() : new FileStore($this->scratch->path);
    }
}
