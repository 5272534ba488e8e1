<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Server;

use Larder\Bench\Server\CpuTime;
use Larder\Bench\Server\MariaDbServer;
use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Bench\Server\Program;
use Larder\Bench\Server\RedisClusterServer;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Server\ServerProcess;
use Larder\Tests\Wait;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class ServerTest extends TestCase
{
    private const FLAVOURS = ['redis-server', 'valkey-server'];

    /** @return iterable<string, array{list<string>, \Closure(): Server}> the programs it needs, and how to start it */
    public static function servers(): iterable
    {
        // A release of Debian need not have both; what is not there cannot be tested, but one of them must be.
        foreach (self::installedFlavours() ?: [RedisFlavour::Redis] as $flavour) {
            yield $flavour->value => [self::FLAVOURS, static fn(): Server => RedisServer::start($flavour)];
            yield "{$flavour->value}, a cluster" => [self::FLAVOURS, static fn(): Server => RedisClusterServer::start($flavour, 64)];
        }
        yield 'memcached on a socket' => [['memcached'], MemcachedServer::onSocket(...)];
        yield 'memcached on a port' => [['memcached'], MemcachedServer::onPort(...)];
        yield 'mariadb' => [['mariadbd'], static fn(): Server => MariaDbServer::start()];
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

    public function testAServerRunsInADirectoryOfItsOwn(): void
    {
        $directory = ServerProcess::directory();
        $file = "{$directory}/where";
        $process = ServerProcess::start(
            'A shell',
            $directory,
            ['/bin/sh', '-c', 'pwd -P >"$0" && exec sleep 1000', $file],
            static fn(): bool => (string) @file_get_contents($file) !== '',
        );

        self::assertSame(realpath($directory) . "\n", file_get_contents($file));

        $process->stop();
    }

    public function testThePublishedCommandDoesNotSayWhereTheCheckoutLies(): void
    {
        self::need('php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, 'php-fpm');
        $root = dirname(__DIR__, 3);
        $server = PhpFpmServer::start(['include_path' => "{$root}/src"], 1);
        try {
            self::assertStringEndsWith(' -d include_path=src', $server->description()['command']);
        } finally {
            $server->stop();
        }
    }

    public function testAServerEndsWithTheProcessThatStartedItEvenWhenThatIsKilled(): void
    {
        self::need(...self::FLAVOURS);
        $flavour = self::installedFlavours()[0]->name;
        $script = 'require ' . var_export(dirname(__DIR__, 3) . '/vendor/autoload.php', true) . ';'
            . "\$server = Larder\\Bench\\Server\\RedisServer::start(Larder\\Bench\\Server\\RedisFlavour::{$flavour});"
            . 'echo json_encode([dirname($server->socket), ...$server->processIds()]), "\n"; sleep(60);';
        $starter = proc_open([PHP_BINARY, '-r', $script], [['file', '/dev/null', 'r'], ['pipe', 'w']], $pipes);
        self::assertIsResource($starter);
        Wait::until('a starter of a server says which it started', static function () use ($pipes): bool {
            [$readable, $none] = [[$pipes[1]], null];

            return stream_select($readable, $none, $none, 0) === 1;
        });
        $answer = json_decode((string) fgets($pipes[1]), true);
        self::assertIsArray($answer);
        $directory = array_shift($answer);
        self::assertIsString($directory);
        self::assertDirectoryExists($directory);

        proc_terminate($starter, SIGKILL);
        proc_close($starter);

        $processes = array_filter($answer, is_int(...));
        self::assertNotSame([], $processes);
        Wait::until('the server of a killed process has ended', static fn(): bool => array_filter($processes, CpuTime::isAlive(...)) === []);
        Wait::until('its directory is gone', static fn(): bool => !is_dir($directory));
    }

    public function testAServerThatDoesNotStartShowsTheLastLinesOfItsLog(): void
    {
        self::need(...self::FLAVOURS);
        $option = 'no-such-option-' . bin2hex(random_bytes(6));
        try {
            RedisServer::start(self::installedFlavours()[0], options: ["--{$option}", 'x']);
            self::fail('A server with an option that does not exist has started.');
        } catch (ServerFailed $failure) {
            self::assertStringContainsString('did not start because it ended at once; the last lines of its log are:', $failure->getMessage());
            self::assertStringContainsString($option, $failure->getMessage());
        }
        // Others may start servers meanwhile.
        $logs = array_map(static fn(string $directory): string => (string) @file_get_contents("{$directory}/log"), self::directories());
        self::assertSame([], array_filter($logs, static fn(string $log): bool => str_contains($log, $option)));
    }

    public function testAPortThatIsInUseIsSaidByTheServersLog(): void
    {
        self::need(...self::FLAVOURS);
        $holder = stream_socket_server('tcp://127.0.0.1:0');
        self::assertIsResource($holder);
        try {
            RedisServer::start(self::installedFlavours()[0], options: ['--port', substr((string) strrchr((string) stream_socket_get_name($holder, false), ':'), 1)]);
            self::fail('A server has started at a port that another has.');
        } catch (ServerFailed $failure) {
            self::assertStringContainsString('did not start because it ended at once', $failure->getMessage());
            self::assertStringContainsString('Address already in use', $failure->getMessage());
        }
    }

    public function testWhereTheWatchdogCannotRunNothingIsLeft(): void
    {
        $path = (string) getenv('PATH');
        $directory = ServerProcess::directory();
        putenv('PATH=/nowhere');
        try {
            ServerProcess::start('A shell', $directory, ['/bin/sh'], static fn(): bool => true);
            self::fail('A server has started without its watchdog.');
        } catch (ServerFailed $failure) {
            self::assertStringContainsString('install the package util-linux', $failure->getMessage());
        } finally {
            putenv("PATH={$path}");
        }
        self::assertDirectoryDoesNotExist($directory);
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
            Wait::until('another process has used 0.2 s of processor time', static fn(): bool => CpuTime::of([$process]) > 200_000_000);
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

    /** @return list<RedisFlavour> */
    private static function installedFlavours(): array
    {
        return array_values(array_filter(
            RedisFlavour::cases(),
            static fn(RedisFlavour $flavour): bool => Program::find($flavour->program()) !== null,
        ));
    }

    private static function need(string ...$programs): void
    {
        if (Program::find(...$programs) !== null) {
            return;
        }
        $lack = 'None of these is on the PATH: ' . implode(', ', $programs) . '; `tools/packages servers` installs one.';
        if (getenv('CI') === 'true') {
            self::fail($lack);
        }
        self::markTestSkipped($lack);
    }

    /** @return list<string> */
    private static function directories(): array
    {
        return glob(sys_get_temp_dir() . '/larder-bench-*') ?: [];
    }
}
