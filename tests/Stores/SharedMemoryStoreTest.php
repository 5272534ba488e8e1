<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Cache;
use Larder\Numbers;
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

    public function testACounterOfANamespaceIsCountedUnderConditionsAndKeepsItsTags(): void
    {
        $cache = new Cache($this->store(), strict: true);
        foreach ([$cache->namespace('a'), $cache->namespace('a')->namespace('b')] as $part) {
            self::assertFalse($part->increment('n', create: false));
            self::assertSame(0, $part->decrement('n', 5, 1, 1_000, min: 0));
            self::assertSame(3, $part->increment('n', 3, create: false));
            $part->set('tagged', 9, 1_000, ['x']);
            self::assertSame(0, $part->decrement('tagged', 10, min: 0));
            $cache->invalidateTags(['x']);
            self::assertFalse($part->has('tagged'));
            self::assertSame(3, $part->get('n'));
            $part->set('text', '5');
            self::assertSame(6, $part->increment('text', numbers: Numbers::Numeric));
            $part->clear();
            self::assertSame([], $part->getMany(['n', 'text']));
        }
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
