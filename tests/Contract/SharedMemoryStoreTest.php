<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\SharedMemory;
use Larder\Store;
use Larder\Store\SharedMemoryStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(SharedMemoryStore::class)]
final class SharedMemoryStoreTest extends SharedStoreContract
{
    private const SIZE = 32 << 20;

    private string $pool = '';

    private ?SharedMemoryStore $store = null;

    protected function setUp(): void
    {
        $this->pool = 'test-' . bin2hex(random_bytes(4));
    }

    protected function tearDown(): void
    {
        if (\extension_loaded('larder')) {
            self::remove($this->pool);
            self::remove("{$this->pool}-neighbour");
        }
    }

    /**
     * A process that had a pool open keeps it mapped until its request ends, which in these tests is after the last one: its
     * memory would pile up. Nothing here uses a value of it any more, so that all but its header can be given back.
     */
    private static function remove(string $pool): void
    {
        foreach (glob('/dev/shm/larder-' . posix_geteuid() . "/{$pool}@*") ?: [] as $path) {
            exec(\sprintf('fallocate --punch-hole --offset 4096 --length %d %s', self::SIZE, escapeshellarg($path)), $output, $status);
            self::assertSame(0, $status);
        }
        SharedMemory::remove($pool);
    }

    protected function store(): Store
    {
        return $this->store ??= $this->reopened();
    }

    protected function reopened(): SharedMemoryStore
    {
        return SharedMemoryStore::open($this->pool, self::SIZE);
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

    /** They change nothing. */
    protected function refusedFillsLeaveNothing(): bool
    {
        return false;
    }

    /** The engine keeps their hashes. */
    protected function tellsTags(): bool
    {
        return false;
    }

    protected function neighbour(): Store
    {
        return SharedMemoryStore::open("{$this->pool}-neighbour", self::SIZE);
    }
}
