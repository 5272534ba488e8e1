<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\LeftBehind;
use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\SharedMemory;
use PHPUnit\Framework\TestCase;

final class LeftBehindTest extends TestCase
{
    public function testAPoolGoesWhenItsDirectoryIsNotHeld(): void
    {
        $directory = TemporaryDirectory::make(FileSystem::inMemory());
        $pools = ["{$directory->name()}-0", "{$directory->name()}-many", "web-{$directory->name()}"];
        try {
            foreach ($pools as $pool) {
                SharedMemory::open($pool, 8 << 20)->set('key', 'value');
            }
            (new LeftBehind())->run(new Fields([], 'arguments'));
            self::assertSame($pools, array_values(array_intersect($pools, SharedMemory::names())));

            $directory->remove();
            (new LeftBehind())->run(new Fields([], 'arguments'));
            self::assertSame([$pools[2]], array_values(array_intersect($pools, SharedMemory::names())), 'what is not named after such a directory stays');
        } finally {
            array_map(SharedMemory::remove(...), $pools);
        }
    }
}
