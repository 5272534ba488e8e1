<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store\PhpFileStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(PhpFileStore::class)]
final class PhpFileStoreTest extends DirectoryStoreContract
{
    protected function in(string $directory): PhpFileStore
    {
        return new PhpFileStore($directory, timeout: 30.0);
    }
}
