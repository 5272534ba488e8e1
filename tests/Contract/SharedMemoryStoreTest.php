<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;
use Larder\Store\SharedMemoryStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(SharedMemoryStore::class)]
final class SharedMemoryStoreTest extends SharedStoreContract
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

    protected function store(): Store
    {
        return $this->store ??= $this->reopened();
    }

    protected function reopened(): SharedMemoryStore
    {
        return $this->pools->open('store');
    }

    /** The engine does not hold against a request what it did itself. */
    protected function elsewhere(\Closure $work): void
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

    /** The pool has a clock of its own. */
    protected function lapse(float $seconds): void
    {
        usleep((int) ($seconds * 1e6));
    }

    /** The engine keeps their hashes. */
    protected function tellsTags(): bool
    {
        return false;
    }

    protected function neighbour(): Store
    {
        return $this->pools->open('neighbour');
    }

    /** A counter moves the guard of its bucket. */
    protected function countsMoveGuards(): bool
    {
        return true;
    }
}
