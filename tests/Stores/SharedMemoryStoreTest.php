<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Store\SharedMemoryStore;
use Larder\Tests\Contract\SharedStoreCase;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(SharedMemoryStore::class)]
final class SharedMemoryStoreTest extends SharedStoreCase
{
    private readonly Pools $pools;

    private ?SharedMemoryStore $store = null;

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

    public function reopened(): SharedMemoryStore
    {
        return $this->pools->open('store');
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
        self::assertSame('done', stream_get_contents($ends[0]));
        pcntl_waitpid($process, $status);
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
        return $this->pools->open('neighbour');
    }

    /** A write moves its guard before its word is placed, and a plain one does not look back. */
    public function overtakesPlainWrites(): bool
    {
        return true;
    }

    /** A counter moves the guard of its bucket. */
    public function countsMoveGuards(): bool
    {
        return true;
    }
}
