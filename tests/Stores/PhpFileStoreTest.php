<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store\PhpFileStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(PhpFileStore::class)]
final class PhpFileStoreTest extends DirectoryStoreCase
{
    protected function in(string $directory): PhpFileStore
    {
        return new PhpFileStore($directory, timeout: 30.0, clock: $this->clock(...));
    }
}
