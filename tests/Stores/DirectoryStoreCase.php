<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Store\File\DirectoryStore;
use Larder\Store\TagSlot;
use Larder\Tests\Contract\SharedStoreCase;
use Larder\Tests\Scratch;

/** The contract of a store that is a directory. */
abstract class DirectoryStoreCase extends SharedStoreCase
{
    private ?Scratch $scratch = null;

    private ?DirectoryStore $store = null;

    /** Seconds by which the stores' clock is ahead. */
    private int $ahead = 0;

    abstract protected function in(string $directory): DirectoryStore;

    final protected function tearDown(): void
    {
        $this->store = $this->scratch = null;
    }

    final public function store(): Store
    {
        return $this->store ??= $this->reopened();
    }

    final public function reopened(): DirectoryStore
    {
        return $this->in("{$this->scratch()->path}/test");
    }

    final public function neighbour(): Store
    {
        return $this->in("{$this->scratch()->path}/neighbour");
    }

    final public function losses(): iterable
    {
        foreach (['clock', 'tags/*', 'tags/.lock', '*/.lock', 'secret'] as $pattern) {
            yield $pattern => function () use ($pattern): void {
                array_map(unlink(...), glob("{$this->scratch()->path}/test/{$pattern}") ?: []);
            };
        }
    }

    final public function waitFor(float $seconds): void
    {
        $this->ahead += (int) ceil($seconds);
    }

    /** Bytes of all files, the items' or not, but for the locks and the tags' slots, of which a directory comes to have so many. */
    final public function footprint(): int
    {
        $this->store();
        $fixed = 0;
        foreach (['*/??/.lock' => 256, '*/tags/???' => TagSlot::SLOTS] as $pattern => $most) {
            $files = glob("{$this->scratch()->path}/{$pattern}") ?: [];
            self::assertLessThanOrEqual($most, \count($files), $pattern);
            $fixed += array_sum(array_map(filesize(...), $files));
        }

        return (int) ($this->scratch()->bytes() - $fixed);
    }

    final protected function clock(): int
    {
        return time() + $this->ahead;
    }

    private function scratch(): Scratch
    {
        return $this->scratch ??= new Scratch();
    }

    final public function forge(string $key, \Closure $forge): bool
    {
        Forgery::inFiles("{$this->scratch()->path}/test", $forge);

        return true;
    }
}
