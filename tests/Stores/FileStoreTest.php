<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store\FileStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(FileStore::class)]
final class FileStoreTest extends DirectoryStoreCase
{
    protected function in(string $directory): FileStore
    {
        return new FileStore($directory, timeout: 30.0, clock: $this->clock(...));
    }
}
