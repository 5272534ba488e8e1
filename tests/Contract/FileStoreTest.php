<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;
use Larder\Store\FileStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(FileStore::class)]
final class FileStoreTest extends SharedStoreContract
{
    private ?Scratch $scratch = null;

    private ?FileStore $store = null;

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
        yield from self::lossesIn("{$this->scratch?->path}/test");
    }

    /** @return iterable<string, \Closure(): void> */
    public static function lossesIn(string $directory): iterable
    {
        foreach (['clock', 'tags/*', 'tags/.lock', '*/.lock', 'secret'] as $pattern) {
            yield $pattern => static function () use ($directory, $pattern): void {
                array_map(unlink(...), glob("{$directory}/{$pattern}") ?: []);
            };
        }
    }

    private function in(string $directory): FileStore
    {
        $this->scratch ??= new Scratch();

        return new FileStore("{$this->scratch->path}/{$directory}", timeout: 30.0);
    }

    protected function footprint(): int
    {
        $this->store();

        return self::footprintOf($this->scratch);
    }

    /** Bytes of all files, the items' or not, but for the locks and the tags' slots that a directory comes to have, of which there are 256 each. */
    public static function footprintOf(?Scratch $scratch): int
    {
        $fixed = 0;
        foreach (['*/??/.lock', '*/tags/??'] as $pattern) {
            $files = glob("{$scratch?->path}/{$pattern}") ?: [];
            self::assertLessThanOrEqual(256, count($files), $pattern);
            $fixed += array_sum(array_map(filesize(...), $files));
        }

        return (int) $scratch?->bytes() - (int) $fixed;
    }
}
