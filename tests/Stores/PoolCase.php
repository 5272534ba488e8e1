<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Store\SharedMemoryStore;
use Larder\Tests\Contract\SharedStoreCase;

/** A pool of shared memory, or a part of one. */
abstract class PoolCase extends SharedStoreCase
{
    private readonly Pools $pools;

    private ?Store $store = null;

    /** What is under test of a pool. */
    abstract protected function of(SharedMemoryStore $pool): Store;

    protected function setUp(): void
    {
        $this->pools = new Pools(32 << 20);
    }

    protected function tearDown(): void
    {
        $this->pools->remove();
    }

    public function store(): Store
    {
        return $this->store ??= $this->reopened();
    }

    public function reopened(): Store
    {
        return $this->of($this->pools->open('store'));
    }

    /** The engine does not hold against a request what it did itself. */
    public function elsewhere(\Closure $work): void
    {
        $ends = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0);
        self::assertIsArray($ends);
        $process = pcntl_fork();
        if ($process === 0) {
            try {
                $work($this->reopened());
                fwrite($ends[1], 'done');
            } catch (\Throwable $failure) {
                fwrite($ends[1], (string) $failure);
            }
            posix_kill((int) getmypid(), \SIGKILL);
        }
        fclose($ends[1]);
        $said = stream_get_contents($ends[0]);
        pcntl_waitpid($process, $status);
        self::assertSame('done', $said, 'It ended by signal ' . (\is_int($status) ? pcntl_wtermsig($status) : 0) . '.');
    }

    public function hasAClock(): bool
    {
        return true;
    }

    /** The engine keeps their hashes. */
    public function tellsTags(): bool
    {
        return false;
    }

    public function neighbour(): Store
    {
        return $this->of($this->pools->open('neighbour'));
    }

    /** A write moves its key version before its word is placed, and a plain one does not look back. */
    public function overtakesPlainWrites(): bool
    {
        return true;
    }

    /** A counter moves the key version of its bucket. */
    public function countsMoveKeyVersions(): bool
    {
        return true;
    }
}
