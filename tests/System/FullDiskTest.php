<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Cache\Journal;
use Larder\Item;
use Larder\Store\File\Lock;
use Larder\Store\File\Usage;
use Larder\Store\FileStore;
use Larder\Store\PhpFileStore;
use Larder\Store\SqliteStore;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** A process that may not write files is refused as by a full disk: with another error, but at the same places. */
#[CoversClass(Journal::class)]
#[CoversClass(Lock::class)]
#[CoversClass(Usage::class)]
#[CoversClass(SqliteStore::class)]
#[CoversClass(FileStore::class)]
#[CoversClass(PhpFileStore::class)]
final class FullDiskTest extends TestCase
{
    /** @return iterable<string, array{string}> */
    public static function stores(): iterable
    {
        yield 'SQLite' => ['sqlite:DIRECTORY/cache.db'];
        yield 'a tier' => ['array: > sqlite:DIRECTORY/cache.db'];
        yield 'files' => ['file:DIRECTORY/cache'];
        yield 'files within bounds' => ['file:DIRECTORY/cache?size=8M'];
        yield 'PHP files' => ['php:DIRECTORY/cache'];
    }

    #[DataProvider('stores')]
    public function testAFullDiskIsMissesAndFalseAndNeverANotice(string $dsn): void
    {
        $scratch = new Scratch();
        $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $scratch->path, $dsn), logger: new MemoryLogger(), journal: "{$scratch->path}/journal");
        $open()->set('there', 1);
        $report = $this->onAFullDisk(static function () use ($open): array {
            $cache = $open();
            $wrong = [];
            for ($i = 0; $i < 50; $i++) {
                if ($cache->get("missing {$i}") !== null || $cache->set("new {$i}", 1)) {
                    $wrong[] = $i;
                }
            }
            $cache->increment('counter');
            $cache->touch('there', 10);
            $cache->invalidateTags(['tag']);
            $cache->clear();

            return $wrong;
        });
        self::assertSame([], $report);
    }

    #[DataProvider('stores')]
    public function testWhatIsDeletedOnAFullDiskIsGoneOrMissedByTheProcessThatDeletedIt(string $dsn): void
    {
        $scratch = new Scratch();
        $open = static fn(): Cache => Cache::open(str_replace('DIRECTORY', $scratch->path, $dsn), logger: new MemoryLogger());
        $open()->setMany(['a' => 1, 'b' => 1]);
        $report = $this->onAFullDisk(static function () use ($open): array {
            $cache = $open();
            $delivered = $cache->delete('a') && !$cache->set('b', 2);

            return [$delivered || $cache->health()->isFlagged(), $cache->get('a'), $cache->get('b')];
        });
        self::assertSame([true, null, null], $report);
    }

    public function testAFullDiskDoesNotKeepADirectoryFromForgettingNorLetWhatIsForgottenComeBack(): void
    {
        $scratch = new Scratch();
        $store = new FileStore("{$scratch->path}/cache");
        $store->save([new Item('deleted', 1), new Item('cleared', 1)]);
        $deleted = new Item('deleted', 'late', token: $store->token('deleted'), fill: true);
        $cleared = new Item('cleared', 'late', token: $store->token('cleared'), fill: true);
        self::assertSame([['deleted'], []], $this->onAFullDisk(static fn(): array => [$store->delete(['deleted']), $store->fetch(['deleted'])->items]));
        self::assertSame(['deleted'], $store->save([$deleted]));
        self::assertSame([], $this->onAFullDisk(static function () use ($store): array {
            $store->clear();

            return $store->fetch(['cleared'])->items;
        }));
        self::assertSame(['cleared'], $store->save([$cleared]));
        self::assertSame([], $store->fetch(['deleted', 'cleared'])->items);
    }

    /**
     * @param \Closure(): array<mixed> $work
     *
     * @return mixed what it returns; a string: what was thrown, or the notice that the application would have got
     */
    private function onAFullDisk(\Closure $work): mixed
    {
        $ends = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0);
        self::assertIsArray($ends);
        $child = pcntl_fork();
        if ($child === 0) {
            pcntl_signal(\SIGXFSZ, \SIG_IGN);
            posix_setrlimit(\POSIX_RLIMIT_FSIZE, 0, 0);
            error_reporting(\E_ALL);
            set_error_handler(static function (int $level, string $message): bool {
                // What is silenced comes here, too.
                return (error_reporting() & $level) === 0 ? true : throw new \ErrorException($message);
            });
            try {
                $report = $work();
            } catch (\Throwable $failure) {
                $report = (string) $failure;
            }
            fwrite($ends[1], serialize($report));
            posix_kill((int) getmypid(), \SIGKILL);
        }
        fclose($ends[1]);
        $report = unserialize((string) stream_get_contents($ends[0]));
        pcntl_waitpid($child, $status);

        return $report;
    }
}
