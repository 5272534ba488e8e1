<?php

declare(strict_types=1);

namespace Larder\Tests\System\Extension;

use Larder\Bench\Server\FastCgi;
use Larder\Bench\Server\MariaDbServer;
use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Server\RedisServer;
use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * The extension in real PHP-FPM workers, which serve thousands of requests each.
 *
 * LARDER_TEST_REQUESTS makes the long runs longer.
 */
#[CoversNothing]
final class WorkersTest extends WorkersCase
{
    private const SIZE = 16 << 20;

    private string $sum = '';

    private static ?RedisServer $redis = null;

    private static ?MemcachedServer $memcached = null;

    private static ?MariaDbServer $database = null;

    /** Servers that workers have persistent connections to. */
    public static function setUpBeforeClass(): void
    {
        self::need('memcached');
        self::need('mariadbd');
        self::$redis = self::redis();
        self::$memcached = MemcachedServer::onSocket();
        self::$database = MariaDbServer::start();
    }

    public static function tearDownAfterClass(): void
    {
        self::$redis?->stop();
        self::$memcached?->stop();
        self::$database?->stop();
        self::$redis = self::$memcached = self::$database = null;
    }

    /** @return iterable<string, array{array<string, string|int>, string}> */
    public static function modes(): iterable
    {
        $jit = ['opcache.enable' => 1, 'opcache.jit' => 'tracing', 'opcache.jit_buffer_size' => '32M'];
        yield 'without opcache' => [['opcache.enable' => 0], 'zero-copy'];
        yield 'with opcache and its JIT' => [$jit, 'zero-copy'];
        yield 'unpinned segments cannot be read' => [['opcache.enable' => 0, 'larder.protect_unpinned' => 1], 'zero-copy'];
        yield 'unpinned segments cannot be read, with opcache and its JIT' => [[...$jit, 'larder.protect_unpinned' => 1], 'zero-copy'];
        yield 'copying' => [['opcache.enable' => 1, 'larder.zero_copy' => 'off'], 'copy'];
    }

    /** @param array<string, string|int> $ini */
    #[DataProvider('modes')]
    public function testThousandsOfRequestsThatUseValuesEverywhereCrashNoWorker(array $ini, string $mode): void
    {
        $this->start($ini, 3);
        $scripts = ['strings', 'session', 'documents', 'streams', 'objects', 'connections', 'check'];
        $requests = (int) (getenv('LARDER_TEST_REQUESTS') ?: 1500);
        $pending = [];
        for ($i = 0; $i < $requests; $i++) {
            $script = $scripts[random_int(0, \count($scripts) - 1)];
            $pending[] = [$script, $this->begin($script, $mode, ['number' => $i])];
            // A command line works with it meanwhile.
            $this->values()->set('from the command line', range(0, $i % 500));
            if (\count($pending) >= 3 || $i === $requests - 1) {
                foreach ($pending as [$name, $connection]) {
                    self::assertMatchesRegularExpression("/^(\\d+ )?ok {$this->sum}$/", $this->answer($connection), "request {$i}, {$name}");
                }
                $pending = [];
            }
        }
        self::assertSame([], $this->workers?->crashes());
        self::assertCount(3, $this->workers->processIds());
        $statistics = $this->values()->statistics();
        self::assertGreaterThan(0, $statistics['evictions'], 'The pool was full.');
        // The holder of the pool's lock may wait for a processor for longer than others wait for the lock.
        self::assertSame(['full' => 0, 'pinned' => 0, 'large' => 0], array_diff_key($statistics['refused'], ['busy' => 0]));
        self::assertLessThan(20, self::connections(), 'The connections were persistent.');
    }

    public function testTheCommandLineAndWorkersShareAPoolThatOutlivesThem(): void
    {
        $this->start([], 2);
        $this->values()->set('hits', 41);
        self::assertSame("ok {$this->sum}", $this->get('objects', 'zero-copy', ['number' => 5]));
        self::assertSame(42, $this->values()->get('hits'), 'What a worker counted.');
        self::assertSame(5, $this->values()->get('count'), 'What a worker stored.');
        self::assertSame($this->sum, md5(serialize($this->values()->get('scratch 5'))));
        $id = $this->values()->statistics()['id'];
        self::assertGreaterThan(1, $this->values()->statistics()['processes']);
        $this->workers?->stop();
        self::assertSame(42, $this->values()->get('hits'), 'It is still there when the workers are gone.');
        self::assertSame(1, $this->values()->statistics()['processes']);
        $this->workers = new Workers([], 1);
        self::assertStringEndsWith("ok {$this->sum}", $this->get('check', 'zero-copy'), 'And new workers find it.');
        self::assertSame($id, $this->values()->statistics()['id']);
    }

    public function testWhatARequestReadStaysAsItIsWhileOthersWriteAndEvict(): void
    {
        $this->start(['larder.protect_unpinned' => 1], 4);
        for ($round = 0; $round < 3; $round++) {
            $this->store(); // the writing may have evicted it
            $holders = $this->hold(4, 700);
            for ($i = 0; $i < 3000; $i++) {
                $this->values()->set('churn ' . random_int(0, 5000), str_repeat('c', random_int(10, 6000)));
            }
            foreach ($holders as $holder) {
                self::assertSame("ok {$this->sum}", $this->answer($holder));
            }
        }
        self::assertSame([], $this->workers?->crashes());
    }

    public function testWorkersThatAreKilledLeaveAPoolThatTheOthersGoOnUsing(): void
    {
        $this->start([], 4);
        for ($round = 0; $round < 15; $round++) {
            $this->store();
            $holders = [];
            for ($i = 0; $i < 3; $i++) {
                $holders[] = $this->begin('hold', 'zero-copy', ['milliseconds' => 300]);
            }
            usleep(random_int(5_000, 100_000));
            $victims = $this->workers?->processIds() ?? [];
            shuffle($victims);
            foreach (\array_slice($victims, 0, 2) as $victim) {
                posix_kill($victim, SIGKILL);
            }
            foreach ($holders as $holder) {
                $answer = FastCgi::answer($holder);
                self::assertTrue($answer === null || $answer === "ok {$this->sum}", (string) $answer);
            }
            self::assertStringEndsWith("ok {$this->sum}", $this->get('check', 'zero-copy'));
            $this->set('alive', $round);
            self::assertSame($round, $this->values()->get('alive'));
        }
        foreach ($this->workers?->crashes() ?? [] as $line) {
            self::assertStringContainsString('exited on signal 9', $line);
        }
    }

    /** @return iterable<string, array{string, string}> */
    public static function failures(): iterable
    {
        foreach (['unserialize', 'serialize', 'output', 'autoload'] as $where) {
            foreach (['exit', 'memory', 'undefined', 'exception', 'recursion', 'time', 'trigger'] as $how) {
                yield "{$how} in {$where}" => [$how, $where];
            }
        }
    }

    public function testARequestThatEndsInTheMiddleOfUsingThePoolLeavesAWorkerThatGoesOn(): void
    {
        foreach ([['memory_limit' => '64M'], ['memory_limit' => '64M', 'larder.protect_unpinned' => 1]] as $ini) {
            $this->start($ini, 1);
            $worker = null;
            foreach (self::failures() as $name => [$how, $where]) {
                self::assertSame("ok {$this->sum}", $this->get('unknown', 'zero-copy'));
                $answer = $this->get('failure', 'zero-copy', ['how' => $how, 'where' => $where]);
                // What ends inside a handler of output takes the output with it; what is thrown while one is read is a miss.
                $isMiss = \in_array($where, ['unserialize', 'autoload'], true) && \in_array($how, ['undefined', 'exception'], true) && str_contains($answer, 'went on');
                self::assertTrue($isMiss || preg_match('/gone|Fatal error/', $answer) === 1 || ($where === 'output' && $answer === ''), "{$name}: {$answer}");
                $answer = $this->get('check', 'zero-copy');
                self::assertStringEndsWith("ok {$this->sum}", $answer, $name);
                $worker ??= (int) $answer;
                self::assertSame($worker, (int) $answer, "{$name}: the same worker");
            }
            self::assertSame([], $this->workers?->crashes());
            self::assertGreaterThan(0, $this->values()->statistics()['processes']);
            $this->workers->stop();
        }
    }

    public function testAPoolThatIsRemovedOrReplacedUnderWorkersIsFoundByTheirNextRequest(): void
    {
        $this->start([], 2);
        for ($round = 0; $round < 10; $round++) {
            self::assertStringEndsWith("ok {$this->sum}", $this->get('check', 'zero-copy'));
            [$holder] = $this->hold(1, 200);
            SharedMemory::remove($this->pool);
            $this->store();
            self::assertSame("ok {$this->sum}", $this->answer($holder), 'A reader of it goes on.');
            self::assertStringEndsWith("ok {$this->sum}", $this->get('check', 'zero-copy'));
            self::assertStringEndsWith("ok {$this->sum}", $this->get('objects', 'zero-copy'));
        }
        self::assertSame([], $this->workers?->crashes());
    }

    /** @param array<string, string|int> $ini */
    private function start(array $ini, int $count): void
    {
        $this->store();
        // The process that makes the pool anew after a removal is to make it of the same size.
        $this->workers = new Workers(['larder.size' => self::SIZE, ...$ini], $count);
    }

    private function values(): SharedMemory
    {
        return SharedMemory::open($this->pool, self::SIZE);
    }

    private function store(): void
    {
        $values = [
            'list' => range(1, 500),
            'map' => array_combine(array_map(static fn(int $i): string => "key {$i}", range(1, 200)), array_fill(0, 200, 'element')),
            'names' => [
                'word' => 'larderword', 'pattern' => '/(?<digits>\d+)/u', 'encoding' => 'UTF-8', 'locale' => 'en_US', 'digits' => '14',
                'timezone' => 'Europe/Berlin', 'environment' => 'LARDER_NAME=value', 'header' => 'X-Larder-Name: value',
                'constant' => 'LARDER_CONSTANT', 'class' => 'LarderAlias', 'function' => 'strlen', 'code' => 'return 42;',
                'format' => '%d %s', 'json' => '{"a":[1]}', 'hash' => 'md5', 'operator' => '>', 'date' => 'Y-m-d',
                'dsn' => 'sqlite::memory:', 'file' => $this->scratch->path . '/included.php', 'wrapper' => 'larderwrapper',
                'filter' => 'larder.filter', 'filterclass' => 'Filter', 'directory' => $this->scratch->path, 'extension' => '.php',
                'autoloaded' => 'LarderAutoloaded', 'included' => 'included.php',
                'redis' => self::$redis?->socket, 'unix' => 'unix://' . self::$redis?->socket, 'memcached' => self::$memcached?->socket,
                'mysql' => 'mysql:unix_socket=' . self::$database?->socket, 'mysqlsocket' => self::$database?->socket, 'host' => 'p:localhost',
                'user' => 'root', 'charset' => 'latin1', 'sql' => 'SET @larder = 14',
            ],
            'deep' => [[[['deeper' => ['deepest' => str_repeat('text in the depth ', 100)]]]]],
        ];
        $this->sum = md5(serialize($values));
        $this->set('values', $values);
        $this->set('text', str_repeat('long wörds ', 2000));
        $this->storeObjects();
    }

    /**
     * Where a worker is making the pool anew, no other waits for it for longer than 20 ms, and where one has the pool's lock, a store is
     * refused after 10 ms. On a busy machine either may need more.
     */
    private function set(string $key, mixed $value): void
    {
        $failure = null;
        for ($deadline = hrtime(true) + 60_000_000_000; ; usleep(10_000)) {
            try {
                if ($this->values()->set($key, $value)) {
                    return;
                }
            } catch (PoolUnusable $failure) {
            }
            if (hrtime(true) > $deadline) {
                throw $failure ?? new \RuntimeException("{$key} is always refused.");
            }
        }
    }

    /** Objects of the scripts' class, which this process has no use for. */
    private function storeObjects(): void
    {
        $code = <<<'PHP'
            class Row
            {
                public ?Row $next = null;

                public function __construct(public int $id, protected string $text, private array $list) {}
            }
            $row = new Row(1, str_repeat('text', 2000), range(1, 300));
            $row->next = new Row(2, 'second', []);
            $object = new stdClass();
            $values = ['row' => $row, 'mixed' => ['a' => $object, 'b' => $object, 'row' => new Row(7, '', []), 'list' => range(1, 300)]];
            $failure = null;
            for ($deadline = hrtime(true) + 60_000_000_000; ; usleep(10_000)) {
                try {
                    if (Larder\SharedMemory::open($argv[1])->setMany($values) === []) {
                        break;
                    }
                } catch (Larder\Exception\PoolUnusable $failure) {
                }
                if (hrtime(true) > $deadline) {
                    throw $failure ?? new RuntimeException('The objects are always refused.');
                }
            }
            PHP;
        $command = [PHP_BINARY, '-d', 'extension=' . Workers::extension(), '-r', $code, $this->pool];
        exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1', $output, $status);
        self::assertSame(0, $status, implode("\n", $output));
    }

    /** How many connections Redis has taken since the last time that it was asked. */
    private static function connections(): int
    {
        $redis = new \Redis();
        $redis->connect(self::$redis->socket ?? '');
        $stats = $redis->info('stats');
        $redis->rawCommand('CONFIG', 'RESETSTAT');

        return \is_array($stats) && is_numeric($stats['total_connections_received'] ?? null) ? (int) $stats['total_connections_received'] : 0;
    }

    /**
     * @param array<string, string|int> $query
     * @return resource
     */
    private function begin(string $script, string $mode, array $query = []): mixed
    {
        $workers = $this->workers ?? throw new \LogicException('The workers were not started.');

        return $workers->client->begin(
            "{$this->scratch->path}/{$script}.php",
            ['pool' => $this->pool, 'mode' => $mode, 'sum' => $this->sum, ...$query],
        );
    }

    /**
     * Requests that keep for a while what they have read, which they have when this returns.
     *
     * @param positive-int $count
     * @return non-empty-list<resource>
     */
    private function hold(int $count, int $milliseconds): array
    {
        $holders = $begun = [];
        do {
            $begun[] = $file = "{$this->scratch->path}/begun-" . bin2hex(random_bytes(4));
            $holders[] = $this->begin('hold', 'zero-copy', ['milliseconds' => $milliseconds, 'begun' => $file]);
        } while (\count($holders) < $count);
        for ($deadline = hrtime(true) + 60_000_000_000; array_filter($begun, file_exists(...)) !== $begun; usleep(1_000)) {
            self::assertLessThan($deadline, hrtime(true), 'No worker has read anything.');
        }

        return $holders;
    }

    /** @param resource $connection */
    private function answer(mixed $connection): string
    {
        $answer = FastCgi::answer($connection);
        // Until then the worker takes no other request.
        fclose($connection);

        return $answer ?? self::fail("A worker died:\n" . $this->workers?->log());
    }

    /** @param array<string, string|int> $query */
    private function get(string $script, string $mode, array $query = []): string
    {
        return $this->answer($this->begin($script, $mode, $query));
    }
}
