<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Server;

use Larder\Bench\Server\CpuTime;
use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Bench\Server\Program;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Server\ServerProcess;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class ServerTest extends TestCase
{
    /** @return iterable<string, array{list<string>, \Closure(): Server}> the programs it needs, and how to start it */
    public static function servers(): iterable
    {
        foreach (RedisFlavour::cases() as $flavour) {
            yield $flavour->value => [[$flavour->program()], static fn(): Server => RedisServer::start($flavour)];
        }
        yield 'memcached on a socket' => [['memcached'], MemcachedServer::onSocket(...)];
        yield 'memcached on a port' => [['memcached'], MemcachedServer::onPort(...)];
        yield 'php-fpm' => [['php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, 'php-fpm'], static fn(): Server => PhpFpmServer::start([], 2)];
        yield 'nginx' => [['nginx'], static fn(): Server => NginxServer::start('/', '/nowhere', 1)];
    }

    /**
     * @param list<string> $programs any of them will do
     * @param \Closure(): Server $start
     */
    #[DataProvider('servers')]
    public function testAStoppedServerLeavesNothingBehind(array $programs, \Closure $start): void
    {
        self::need(...$programs);
        $server = $start();
        $processes = $server->processIds();
        $directories = self::directories();
        self::assertNotSame([], array_filter($processes, CpuTime::isAlive(...)));
        self::assertNotSame('unknown', $server->description()['version']);

        $server->stop();

        self::assertSame([], array_filter($processes, CpuTime::isAlive(...)));
        self::assertNotEquals($directories, self::directories());
    }

    public function testAServerEndsWithTheProcessThatStartedItEvenWhenThatIsKilled(): void
    {
        self::need('redis-server', 'valkey-server');
        $flavour = Program::find('redis-server') === null ? 'Valkey' : 'Redis';
        $script = 'require ' . var_export(dirname(__DIR__, 3) . '/vendor/autoload.php', true) . ';'
            . "\$server = Larder\\Bench\\Server\\RedisServer::start(Larder\\Bench\\Server\\RedisFlavour::{$flavour});"
            . 'echo json_encode([dirname($server->socket), ...$server->processIds()]), "\n"; sleep(60);';
        $starter = proc_open([PHP_BINARY, '-r', $script], [['file', '/dev/null', 'r'], ['pipe', 'w']], $pipes);
        self::assertIsResource($starter);
        $answer = json_decode((string) fgets($pipes[1]), true);
        self::assertIsArray($answer);
        $directory = array_shift($answer);
        self::assertIsString($directory);
        self::assertDirectoryExists($directory);

        proc_terminate($starter, SIGKILL);
        proc_close($starter);

        $processes = array_filter($answer, is_int(...));
        self::assertNotSame([], $processes);
        self::assertTrue(self::eventually(static fn(): bool => array_filter($processes, CpuTime::isAlive(...)) === [] && !is_dir($directory)));
    }

    public function testAServerThatDoesNotStartShowsTheLastLinesOfItsLog(): void
    {
        self::need('redis-server', 'valkey-server');
        $before = self::directories();
        try {
            RedisServer::start(Program::find('redis-server') === null ? RedisFlavour::Valkey : RedisFlavour::Redis, options: ['--no-such-option', 'x']);
            self::fail('A server with an option that does not exist has started.');
        } catch (ServerFailed $failure) {
            self::assertStringContainsString('did not start because it ended at once; the last lines of its log are:', $failure->getMessage());
            self::assertStringContainsString('no-such-option', $failure->getMessage());
        }
        self::assertSame($before, self::directories());
    }

    public function testOnlyTheLastLinesOfALongLogAreShown(): void
    {
        $message = ServerFailed::toStart('Some server', 'it ended at once', implode("\n", range(1, 100)))->getMessage();

        self::assertStringContainsString("\n    91\n", $message);
        self::assertStringNotContainsString("\n    90\n", $message);
    }

    public function testAMissingProgramIsNamedWithThePackageThatHasIt(): void
    {
        self::assertStringContainsString('install the package nginx-light', ServerFailed::isNotInstalled('nginx', 'nginx', 'nginx-light')->getMessage());
        self::assertNull(Program::find('a-program-that-is-nowhere'));
    }

    public function testProcessorTimeOfAnotherProcessIsSeen(): void
    {
        $busy = proc_open([PHP_BINARY, '-r', 'while (true) {}'], [], $pipes);
        self::assertIsResource($busy);
        $process = proc_get_status($busy)['pid'];
        try {
            self::assertTrue(self::eventually(static fn(): bool => CpuTime::of([$process]) > 200_000_000));
            self::assertContains($process, CpuTime::family((int) getmypid()));
        } finally {
            proc_terminate($busy, SIGKILL);
            proc_close($busy);
        }
        self::assertFalse(CpuTime::isAlive($process));
    }

    public function testAFreePortIsFree(): void
    {
        $port = ServerProcess::freePort();

        self::assertGreaterThan(1023, $port);
        self::assertFalse(ServerProcess::replies("tcp://127.0.0.1:{$port}", 'x', ''));
    }

    private static function need(string ...$programs): void
    {
        if (Program::find(...$programs) !== null) {
            return;
        }
        // Debian has either Redis or Valkey; the one that a release lacks cannot be tested there.
        $isOther = $programs === ['valkey-server'] || $programs === ['redis-server'];
        if (getenv('CI') === 'true' && !($isOther && Program::find('redis-server', 'valkey-server') !== null)) {
            self::fail("None of the programs {$programs[0]} is on the PATH, and in CI a missing server is a failure.");
        }
        self::markTestSkipped("The program {$programs[0]} is not on the PATH.");
    }

    /** @return list<string> */
    private static function directories(): array
    {
        return glob(sys_get_temp_dir() . '/larder-bench-*') ?: [];
    }

    /** @param \Closure(): bool $happens */
    private static function eventually(\Closure $happens): bool
    {
        for ($try = 0; $try < 600; $try++) {
            clearstatcache();
            if ($happens()) {
                return true;
            }
            usleep(50_000);
        }

        return false;
    }
}
