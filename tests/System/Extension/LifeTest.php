<?php

declare(strict_types=1);

namespace Larder\Tests\System\Extension;

use PHPUnit\Framework\Attributes\CoversNothing;

/** A pool lives longer than PHP-FPM, and with a snapshot longer than the machine's memory. */
#[CoversNothing]
final class LifeTest extends WorkersCase
{
    private const SIZE = 16 << 20;
    private const ITEMS = 2000;

    /** More than fit. */
    private const MANY = 16000;

    public function testEveryItemIsThereAfterPhpFpmIsRestarted(): void
    {
        $this->boot();
        self::assertSame('stored', $this->ask('store'));
        for ($i = 0; $i < 3; $i++) {
            $this->workers?->stop();
            $this->boot();
            self::assertSame((string) self::ITEMS, $this->ask('count'));
        }
    }

    public function testEveryItemIsThereAfterASaveAndTheLossOfTheMemory(): void
    {
        $this->boot();
        self::assertSame('stored', $this->ask('store'));
        for ($i = 0; $i < 2; $i++) {
            $this->workers?->stop();
            $saved = $this->save();
            self::assertSame(self::ITEMS, $saved['items']);
            self::assertFileExists($saved['path']);
            self::assertSame([], self::files($this->pool));
            $this->boot();
            self::assertSame((string) self::ITEMS, $this->ask('count'));
            self::assertFileDoesNotExist($saved['path']);
        }
    }

    public function testWhatAFullPoolHoldsIsThereAfterPhpFpmIsRestarted(): void
    {
        $this->fillUp();
        $before = $this->fillAgain();
        for ($i = 0; $i < 3; $i++) {
            $this->boot();
            self::assertSame($before, $this->listed());
            $this->workers?->stop();
            $before = $this->keys(); // a worker may have made room after its response
        }
    }

    public function testWhatAFullPoolHoldsIsThereAfterASaveAndTheLossOfTheMemoryAndNothingThatHadExpired(): void
    {
        $before = $this->fillUp();
        $this->saveAll($before);
        self::assertSame($before, $this->listed());
        $this->workers?->stop();

        $before = $this->fillAgain();
        $this->saveAll($before);
        $after = $this->listed();
        self::assertSame([], array_diff($after, $before));
        self::assertGreaterThanOrEqual(0.98 * \count($before), \count($after), 'Two in a hundred may be evicted while they are loaded into a pool that is full.');
    }

    public function testWorkersGoOnWithWhatWasSavedWhenAPoolIsSavedUnderThem(): void
    {
        $this->boot();
        self::assertSame('stored', $this->ask('store'));
        $this->save();
        self::assertSame((string) self::ITEMS, $this->ask('count'));
        self::assertSame([], $this->workers?->crashes());
    }

    public function testNothingComesBackAfterEverythingIsKilledEvenIfTheOldSnapshotDoes(): void
    {
        $this->boot();
        self::assertSame('stored', $this->ask('store'));
        $this->workers?->stop();
        $path = $this->save()['path'];
        copy($path, $this->scratch->path . '/backup');
        $this->boot();
        self::assertSame((string) self::ITEMS, $this->ask('count'));
        $this->values('$pool->invalidateTags(["tag 3"]); $pool->delete("item 0");');
        foreach ($this->workers?->processIds() ?? [] as $worker) {
            posix_kill($worker, SIGKILL);
        }
        $this->workers?->stop();
        array_map(unlink(...), self::files($this->pool));
        rename($this->scratch->path . '/backup', $path);
        chmod($path, 0600);
        $this->boot();
        self::assertSame('0', $this->ask('count'), 'Nothing of an old life.');
        self::assertStringContainsString('backup', $this->values('echo $pool->statistics()["snapshot"]["reason"];'));
        self::assertFileDoesNotExist($path);
    }

    public function testTheCommandSaysWhatItCannotSave(): void
    {
        self::assertStringContainsString("There is no pool \"{$this->pool}\"", $this->runPhp('bin/larder save ' . $this->pool, 1));
        self::assertStringContainsString('is no name', $this->runPhp('bin/larder save ../x', 2));
        $this->values('$pool->set("k", 1);');
        self::assertStringContainsString("{$this->pool}: 1 items", $this->runPhp("bin/larder save {$this->pool}", 0));
    }

    public function testAPoolThatTheCommandResizesKeepsWhatItHasWhileWorkersUseIt(): void
    {
        self::assertStringContainsString("There is no pool \"{$this->pool}\"", $this->runPhp("bin/larder resize {$this->pool} 8M", 1));
        self::assertStringContainsString('give the name of a pool alone', $this->runPhp("bin/larder resize shm:{$this->pool} 8M", 2));
        $this->boot();
        self::assertSame('stored', $this->ask('store'));
        self::assertStringContainsString('write it as 256M', $this->runPhp("bin/larder resize {$this->pool} large", 2));
        self::assertStringContainsString('give a size', $this->runPhp("bin/larder resize {$this->pool} 1M", 2));
        self::assertStringContainsString('cannot get', $this->runPhp("bin/larder resize {$this->pool} 1000G", 1));
        foreach ([96 << 20, 128 << 20] as $size) {
            $answer = json_decode($this->runPhp("bin/larder resize --json {$this->pool} {$size}", 0), true, flags: JSON_THROW_ON_ERROR);
            self::assertIsArray($answer);
            self::assertIsArray($answer['resized'] ?? null);
            self::assertSame([$this->pool, $size, self::ITEMS, 0], [$answer['resized']['name'] ?? null, $answer['resized']['size'] ?? null, $answer['resized']['loaded'] ?? null, $answer['resized']['dropped'] ?? null]);
            self::assertSame((string) self::ITEMS, $this->ask('count'), 'The workers go on with it.');
        }
        self::assertStringContainsString('has 128.0 MiB already', $this->runPhp("bin/larder resize {$this->pool} 128M", 0));
        self::assertStringContainsString('had 128.0 MiB, and has 112.0 MiB now', $this->runPhp("bin/larder resize {$this->pool} 112M", 0));
        self::assertSame([], $this->workers?->crashes());
    }

    /** @return list<string> */
    private static function files(string $pool): array
    {
        return glob('/dev/shm/larder-' . posix_geteuid() . "/{$pool}@*") ?: [];
    }

    private function boot(): void
    {
        $this->workers = new Workers(['larder.size' => self::SIZE, 'larder.snapshot' => $this->scratch->path], 2);
    }

    private function ask(string $do, int $items = self::ITEMS): ?string
    {
        return $this->workers?->client->get($this->scratch->path . '/life.php', ['pool' => $this->pool, 'do' => $do, 'items' => $items]);
    }

    /**
     * Has workers store more than fits, with and without expiries, and waits until the shortest are over.
     *
     * @return list<string> the keys that are there when they have ended
     */
    private function fillUp(): array
    {
        $this->boot();
        self::assertSame('stored', $this->ask('fill', self::MANY));
        $this->workers?->stop();
        for ($deadline = microtime(true) + 60; preg_grep('/[16]$/', $before = $this->keys()) !== []; usleep(50_000)) {
            self::assertLessThan($deadline, microtime(true), 'Items that live for a second are there after a minute.');
        }

        return $before;
    }

    /** @return list<string> the same with as many others, which do not expire */
    private function fillAgain(): array
    {
        $this->boot();
        self::assertSame('stored', $this->ask('refill', self::MANY));
        $this->workers?->stop();
        self::assertGreaterThan(self::MANY / 10, (int) $this->values('echo $pool->statistics()["evictions"];'));

        return $this->keys();
    }

    /** @return list<string> */
    private function keys(): array
    {
        return explode("\n", $this->values('$keys = $pool->keys("item "); sort($keys); echo implode("\n", $keys);'));
    }

    /** @return list<string> what workers find, who look at the values, too */
    private function listed(): array
    {
        return explode("\n", (string) $this->ask('keys'));
    }

    /** @param list<string> $keys */
    private function saveAll(array $keys): void
    {
        self::assertSame(\count($keys), $this->save()['items']);
        self::assertSame([], self::files($this->pool));
        $this->boot();
    }

    /** @return array{name: string, path: string, items: int, bytes: int} */
    private function save(): array
    {
        $answer = json_decode($this->runPhp("bin/larder save --json {$this->pool}", 0), true, flags: JSON_THROW_ON_ERROR);
        self::assertIsArray($answer);
        self::assertIsArray($answer['saved'] ?? null);
        /** @var array{name: string, path: string, items: int, bytes: int} */
        return $answer['saved'][0];
    }

    /** Runs code on the command line, which shares the workers' pool. */
    private function values(string $code): string
    {
        return $this->runPhp('-r ' . escapeshellarg('$pool = Larder\SharedMemory::open("' . $this->pool . '", ' . self::SIZE . '); ' . $code), 0);
    }

    private function runPhp(string $arguments, int $expected): string
    {
        $settings = ['extension' => Workers::extension(), 'larder.snapshot' => $this->scratch->path];
        $command = 'cd ' . escapeshellarg(\dirname(__DIR__, 3)) . ' && ' . escapeshellarg(PHP_BINARY);
        foreach ($settings as $name => $value) {
            $command .= ' -d ' . escapeshellarg("{$name}={$value}");
        }
        exec("{$command} {$arguments} 2>&1", $output, $status);
        self::assertSame($expected, $status, implode("\n", $output));

        return implode("\n", $output);
    }
}
