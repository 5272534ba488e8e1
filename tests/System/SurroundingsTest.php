<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Store\CircuitBreaker;
use Larder\Store\FileStore;
use Larder\Store\PhpFileStore;
use Larder\Store\SqliteStore;
use Larder\System\FileLock;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** What becomes of a cache whose PHP or file system lacks something: an extension, locks, the right to look elsewhere. */
#[CoversClass(Cache::class)]
#[CoversClass(CircuitBreaker::class)]
#[CoversClass(FileLock::class)]
#[CoversClass(FileStore::class)]
#[CoversClass(PhpFileStore::class)]
#[CoversClass(SqliteStore::class)]
final class SurroundingsTest extends TestCase
{
    /** As on NFS whose server locks nothing: no process waits there for another to let go. */
    public function testAFileSystemWithoutLocksIsSaidToBeOne(): void
    {
        $scratch = new Scratch();
        $code = <<<'PHP'
            require $argv[1];
            foreach (["file:{$argv[2]}/cache?timeout=20", "array: > sqlite:{$argv[2]}/cache.db?timeout=20"] as $dsn) {
                try {
                    Larder\Cache::open($dsn, strict: true)->set('key', 1);
                    echo 'It was stored.';
                } catch (Larder\Exception\StoreUnavailable $failure) {
                    echo str_contains($failure->getMessage(), 'its file system has no locks') ? 'no locks ' : $failure->getMessage();
                }
            }
            PHP;
        $process = new Process(['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=flock', '-e', 'inject=flock:error=ENOLCK', \PHP_BINARY, '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', $scratch->path], timeout: null);
        self::assertSame('no locks no locks ', $process->mustRun()->getOutput());
    }

    /** @return iterable<string, array{string, string}> */
    public static function extensions(): iterable
    {
        yield 'larder' => ['shm:', 'larder'];
        yield 'apcu' => ['apcu:', 'apcu'];
        yield 'redis' => ['redis://localhost?client=phpredis', 'redis'];
        yield 'memcached' => ['memcached://localhost', 'memcached'];
        yield 'igbinary' => ['file:/tmp/never-made?serializer=igbinary', 'igbinary'];
        yield 'sqlite3' => ['sqlite:/tmp/never-made.db', 'sqlite3'];
    }

    #[DataProvider('extensions')]
    public function testAMissingExtensionIsOneClearError(string $dsn, string $extension): void
    {
        $code = <<<'PHP'
            require $argv[1];
            if (extension_loaded($argv[3])) {
                // Built into this PHP: it cannot be missing.
                echo "Larder\Exception\ExtensionMissing: needs the PHP extension \"{$argv[3]}\", which is not loaded";
                exit;
            }
            try {
                Larder\Cache::open($argv[2]);
            } catch (Larder\Exception $mistake) {
                echo get_class($mistake), ': ', $mistake->getMessage();
            }
            PHP;
        $process = new Process([\PHP_BINARY, '-n', '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', $dsn, $extension], timeout: null);
        $process->run();
        $said = $process->getOutput();
        self::assertStringStartsWith('Larder\Exception\ExtensionMissing: ', $said);
        self::assertStringContainsString("needs the PHP extension \"{$extension}\", which is not loaded", $said);
    }

    /** @return iterable<string, array{string}> */
    public static function confined(): iterable
    {
        yield 'SQLite' => ['sqlite:DIRECTORY/cache.db'];
        yield 'files' => ['file:DIRECTORY/cache'];
        yield 'PHP files' => ['php:DIRECTORY/cache'];
        yield 'two tiers' => ['array: > sqlite:DIRECTORY/cache.db'];
        yield 'files that are not there' => ['file:DIRECTORY/not/there?size=8M'];
        yield 'a server, whose breaker lies elsewhere' => ['redis://127.0.0.1:1?client=predis'];
    }

    /** Many hosts let PHP open files below one directory only. */
    #[DataProvider('confined')]
    public function testWithinOpenBasedirNothingIsSaidOfWhatLiesOutside(string $dsn): void
    {
        $scratch = new Scratch();
        $code = <<<'PHP'
            require $argv[1];
            set_error_handler(static fn(int $level, string $said): bool => (error_reporting() & $level) === 0 || throw new ErrorException($said));
            $cache = Larder\Cache::open($argv[2], journal: "{$argv[3]}/journal");
            $done = [$cache->delete('absent'), $cache->clear(), $cache->get('absent'), $cache->set('key', 1), $cache->invalidateTags(['tag']), $cache->delete('key'), $cache->get('key')];
            try {
                while ($cache->store->prune() > 0);
            } catch (Larder\Exception\StoreUnavailable) {
            }
            echo json_encode($done);
            PHP;
        $process = new Process([\PHP_BINARY, '-d', 'open_basedir=' . \dirname(__DIR__, 2) . ":{$scratch->path}", '-d', 'apc.enable_cli=1', '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', str_replace('DIRECTORY', $scratch->path, $dsn), $scratch->path], timeout: null);
        $process->run();
        $said = $process->getOutput();
        self::assertSame(str_contains($dsn, 'redis') ? '[false,false,null,false,false,false,null]' : '[true,true,null,true,true,true,null]', $said);
    }

    public function testAnApcuThatIsSwitchedOffIsOneClearError(): void
    {
        $code = 'require $argv[1]; try { Larder\Cache::open("apcu:"); } catch (Larder\Exception\InvalidOption $mistake) { echo $mistake->getMessage(); }';
        $process = new Process([\PHP_BINARY, '-d', 'apc.enable_cli=0', '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php'], timeout: null);
        $process->run();
        $said = $process->getOutput();
        self::assertSame('ApcuStore cannot work while APCu is disabled; set apc.enabled=1 and apc.enable_cli=1.', $said);
    }
}
