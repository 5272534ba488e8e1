<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Console;

use Larder\Cache;
use Larder\Console\Commands;
use Larder\Console\DeleteCommand;
use Larder\Console\FlushCommand;
use Larder\Console\GetCommand;
use Larder\Console\KeysCommand;
use Larder\Console\MetricsCommand;
use Larder\Console\Printed;
use Larder\Console\PruneCommand;
use Larder\Console\SetCommand;
use Larder\Console\StatsCommand;
use Larder\Console\StoreCommand;
use Larder\Console\StoreName;
use Larder\Console\TagsCommand;
use Larder\Tests\CommandLine;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Tester\CommandCompletionTester;

#[CoversClass(Commands::class)]
#[CoversClass(StoreCommand::class)]
#[CoversClass(GetCommand::class)]
#[CoversClass(SetCommand::class)]
#[CoversClass(DeleteCommand::class)]
#[CoversClass(KeysCommand::class)]
#[CoversClass(TagsCommand::class)]
#[CoversClass(FlushCommand::class)]
#[CoversClass(PruneCommand::class)]
#[CoversClass(StatsCommand::class)]
#[CoversClass(MetricsCommand::class)]
#[CoversClass(Printed::class)]
#[CoversClass(StoreName::class)]
final class CommandsTest extends TestCase
{
    private Scratch $scratch;

    private Cache $cache;

    private string $errors = '';

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->cache = Cache::open($this->dsn());
    }

    public function testGetPrintsAStringAsItIsAndAnythingElseSoThatItCanBeSeen(): void
    {
        $shown = [
            "hello\nworld" => "hello\nworld\n", '' => "\n", '0' => "0\n",
        ];
        foreach ($shown as $value => $printed) {
            $this->cache->set('key', (string) $value);
            self::assertSame([0, $printed], $this->larder('get', ['key' => 'key']));
        }
        foreach (['null' => null, 'true' => true, '1.0' => 1.0, '7' => 7] as $printed => $value) {
            $this->cache->set('key', $value);
            self::assertSame([0, strtolower((string) $printed) . "\n"], array_map(static fn(mixed $part): mixed => \is_string($part) ? strtolower($part) : $part, $this->larder('get', ['key' => 'key'])));
        }
        $this->cache->set('key', ['a' => [1, 'ü/', 2.0]]);
        [$code, $printed] = $this->larder('get', ['key' => 'key']);
        self::assertSame([0, ['a' => [1, 'ü/', 2.0]]], [$code, json_decode($printed, true)]);
        $this->cache->set('key', [new \ArrayObject(['in' => 'side'])]);
        self::assertStringContainsString('[in] => side', $this->larder('get', ['key' => 'key'])[1]);
    }

    public function testGetTellsAboutAnItem(): void
    {
        $this->cache->set('key', 'value', 100, ['one', "t\nwo"]);
        [$code, $printed] = $this->larder('get', ['key' => 'key', '--about' => true]);
        self::assertSame(0, $code);
        self::assertMatchesRegularExpression('/^value\n\ntype     string\nexpires  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\ntags     one t\\\\nwo\n$/', $printed);
        $answer = $this->json('get', ['key' => 'key']);
        self::assertSame(['key', true, 'string', 'value', ['one', "t\nwo"]], [$answer['key'], $answer['found'], $answer['type'], $answer['value'], $answer['tags']]);
        $this->cache->set('key', 'value', \Larder\Ttl::Forever);
        self::assertStringContainsString('expires  never', $this->larder('get', ['key' => 'key', '--about' => true])[1]);
    }

    public function testAKeyThatIsNotThereIsExitCodeOne(): void
    {
        $this->cache->set('other', 1);
        self::assertSame([1, ''], $this->larder('get', ['key' => "no\nkey"]));
        self::assertSame("There is no such key: no\\nkey\n", $this->errors);
        self::assertSame([1, ['key' => 'absent', 'found' => false]], [...$this->jsonWithCode('get', ['key' => 'absent'])]);
    }

    /** @return iterable<string, array{string, array<string, mixed>}> */
    public static function questions(): iterable
    {
        foreach ([
            'get' => ['key' => 'k'], 'delete' => ['key' => ['k']], 'keys' => [], 'tags' => ['tag' => ['t']], 'flush' => ['--force' => true], 'prune' => [], 'stats' => [],
            'top' => ['--times' => '1'], 'largest' => [], 'latency' => ['--times' => '1'],
        ] as $command => $input) {
            yield $command => [$command, $input];
        }
    }

    /** @param array<string, mixed> $input */
    #[DataProvider('questions')]
    public function testAMisspeltNameMakesNothingAndIsExitCodeOne(string $command, array $input): void
    {
        $cache = "{$this->scratch->path}/typo";
        foreach (["sqlite:{$cache}.db" => 'database', "array: > sqlite:{$cache}.db" => 'database', "file:{$cache}" => 'directory', "php:{$cache}" => 'directory'] as $dsn => $what) {
            self::assertSame([1, ''], $this->execute(['command' => $command, 'dsn' => $dsn, ...$input]), $dsn);
            self::assertStringContainsString("There is no {$what} \"{$cache}", $this->errors);
            self::assertSame([], array_diff(scandir($this->scratch->path) ?: [], ['.', '..']), $dsn);
        }
    }

    public function testADatabaseOfAnotherApplicationIsRefusedAndLeftAsItIs(): void
    {
        $path = "{$this->scratch->path}/orders.db";
        $database = new \SQLite3($path);
        $database->exec('CREATE TABLE orders (id INTEGER)');
        $database->close();
        $before = hash_file('xxh128', $path);
        foreach ([['command' => 'get', 'key' => 'k'], ['command' => 'set', 'key' => 'k', 'value' => 'v'], ['command' => 'flush', '--force' => true]] as $input) {
            self::assertSame([1, ''], $this->execute(['dsn' => "sqlite:{$path}", ...$input]));
            self::assertStringContainsString('another application\'s, with the table "orders"; give the cache a file of its own', $this->errors);
        }
        self::assertSame($before, hash_file('xxh128', $path));
    }

    public function testANamespaceWithNothingInItIsExitCodeOne(): void
    {
        $this->cache->namespace('menus')->set('a', 1);
        self::assertSame([1, ''], $this->larder('flush', ['--force' => true, '--namespace' => 'menu']));
        self::assertSame("There was nothing in the namespace \"menu\".\n", $this->errors);
        self::assertSame([1, ['flushed' => false]], $this->jsonWithCode('flush', ['--force' => true, '--namespace' => 'menu']));
        self::assertSame(0, $this->larder('flush', ['--force' => true, '--namespace' => 'menus'])[0]);
    }

    public function testTheApcuOfTheCommandLineIsOfNoUseAndRefused(): void
    {
        foreach ([['get', ['key' => 'k']], ['set', ['key' => 'k', 'value' => 'v']], ['flush', ['--force' => true]], ['stats', []]] as [$command, $input]) {
            self::assertSame([1, ''], $this->execute(['command' => $command, 'dsn' => 'apcu:', ...$input]));
            self::assertStringContainsString('that of PHP-FPM cannot be reached from here', $this->errors);
        }
        self::assertSame(0, $this->execute(['command' => 'latency', 'dsn' => 'apcu:', '--times' => '1'])[0]);
    }

    public function testLatencyTellsHowTheTimesAreDistributed(): void
    {
        $this->cache->set('a', 1);
        [$code, $answer] = $this->jsonWithCode('latency', ['--times' => '50']);
        self::assertSame([0, 50], [$code, $answer['times']]);
        self::assertIsArray($answer['microseconds']);
        self::assertSame(['save', 'read', 'miss', 'delete'], array_keys($answer['microseconds']));
        foreach ($answer['microseconds'] as $row) {
            self::assertIsArray($row);
            $sorted = $row;
            sort($sorted);
            self::assertSame($sorted, array_values($row));
            self::assertGreaterThan(0.0, $row['least']);
        }
        self::assertSame(['a'], [...$this->cache->store->keys()], 'Nothing is left behind.');
        [$code, $printed] = $this->larder('latency', ['--times' => '5']);
        self::assertSame([0, 6], [$code, substr_count($printed, "\n")]);
        self::assertSame(2, $this->larder('latency', ['--times' => '0'])[0]);
        self::assertSame(2, $this->larder('latency', ['--bytes' => 'x'])[0]);
    }

    public function testLargestListsTheLargestItemsFirst(): void
    {
        for ($i = 1; $i <= 120; $i++) {
            $this->cache->set("page:{$i}", str_repeat('x', 10 * $i));
        }
        $this->cache->set('array', range(1, 1_000));
        [$code, $answer] = $this->jsonWithCode('largest', ['prefix' => 'page:', '--limit' => '2']);
        self::assertSame([0, 120, [['key' => 'page:120', 'bytes' => 1_208, 'type' => 'string'], ['key' => 'page:119', 'bytes' => 1_198, 'type' => 'string']]], [$code, $answer['items'], $answer['largest']]);
        [$code, $printed] = $this->larder('largest', ['--limit' => '1']);
        self::assertSame(0, $code);
        self::assertMatchesRegularExpression('/^ +[\d.]+ KiB  array +array\n +[\d.]+ KiB  in all 121 items\n$/', $printed);
        self::assertSame(2, $this->larder('largest', ['--limit' => '0'])[0]);
    }

    /** @return iterable<string, array{string, array<string, mixed>}> */
    public static function changes(): iterable
    {
        yield 'set' => ['set', ['key' => 'key', 'value' => 'new']];
        yield 'delete' => ['delete', ['key' => ['key']]];
        yield 'tags' => ['tags', ['tag' => ['tag']]];
        yield 'flush' => ['flush', ['--force' => true]];
    }

    /** @param array<string, mixed> $arguments */
    #[DataProvider('changes')]
    public function testWhatIsChangedInADatabaseReachesTheNearStoresInFrontOfIt(string $command, array $arguments): void
    {
        $worker = Cache::open("array: > {$this->dsn()}");
        $worker->set('key', 'old', tags: ['tag']);
        self::assertSame('old', $worker->get('key'));
        self::assertSame(0, $this->larder($command, $arguments)[0]);
        $worker->refresh();
        self::assertSame($command === 'set' ? 'new' : null, $worker->get('key'));
    }

    public function testSetStoresWhatTheTypeSays(): void
    {
        self::assertSame([0, ''], $this->larder('set', ['key' => 's', 'value' => '42']));
        self::assertSame([0, ''], $this->larder('set', ['key' => 'i', 'value' => '42', '--type' => 'int']));
        self::assertSame([0, ''], $this->larder('set', ['key' => 'j', 'value' => '{"a":[1,null]}', '--type' => 'json', '--tag' => ['x', 'y'], '--ttl' => '100']));
        self::assertSame(['s' => '42', 'i' => 42, 'j' => ['a' => [1, null]]], $this->cache->getMany(['s', 'i', 'j']));
        $item = $this->cache->store->fetch(['j'])->items['j'];
        self::assertSame(['x', 'y'], $item->tags);
        self::assertNotNull($item->expiry);
        self::assertLessThanOrEqual(time() + 101, $item->expiry);
        $this->larder('set', ['key' => 's', 'value' => 'x', '--ttl' => 'forever']);
        self::assertNull($this->cache->store->fetch(['s'])->items['s']->expiry);
        self::assertSame(['key' => 's', 'stored' => true], $this->json('set', ['key' => 's', 'value' => 'x']));
        self::assertSame(2, $this->larder('set', ['key' => 's', 'value' => 'y', '--ttl' => '0'])[0]);
        self::assertSame('x', $this->cache->get('s'), 'What is refused removes nothing.');
    }

    public function testDeleteTellsWhatWasThere(): void
    {
        $this->cache->setMany(['a' => 1, '7' => 2]);
        self::assertSame(['deleted' => ['a', '7']], $this->json('delete', ['key' => ['a', 'absent', '7']]));
        self::assertSame([1, "0 of 1 keys were there and are deleted.\n"], $this->larder('delete', ['key' => ['a']]));
        self::assertSame([], $this->cache->getMany(['a', '7']));
    }

    public function testKeysListsWhatWasStoredAndNotWhatTheCacheKeepsForItself(): void
    {
        $this->cache->setMany(["page:\e[1m" => 1, 'page:ü' => 1, 'other' => 1]);
        $this->cache->lock('name')->acquire();
        $this->cache->namespace('shop')->set('inside', 1);
        [$code, $printed] = $this->larder('keys');
        $lines = explode("\n", trim($printed));
        sort($lines);
        self::assertSame([0, ['other', 'page:\\033[1m', 'page:ü']], [$code, $lines]);
        self::assertSame([0, "page:ü\n"], $this->larder('keys', ['prefix' => 'page:ü']));
        self::assertSame([0, "inside\n"], $this->larder('keys', ['--namespace' => 'shop']));
        $answer = $this->json('keys', ['--limit' => '2']);
        self::assertFalse($answer['complete']);
        self::assertCount(2, (array) $answer['keys']);
        self::assertTrue($this->json('keys', ['--limit' => '3'])['complete']);
        $this->larder('keys', ['--limit' => '2']);
        self::assertStringContainsString('raise --limit', $this->errors);
    }

    public function testTagsInvalidates(): void
    {
        $this->cache->set('a', 1, tags: ['x']);
        $this->cache->set('b', 1, tags: ['y']);
        $this->cache->set('c', 1);
        self::assertSame([0, "2 tags are invalidated.\n"], $this->larder('tags', ['tag' => ['x', 'unknown']]));
        self::assertSame(['b' => 1, 'c' => 1], $this->cache->getMany(['a', 'b', 'c']));
        self::assertSame(['invalidated' => ['y']], $this->json('tags', ['tag' => ['y'], '--stale' => '60']));
        self::assertFalse($this->cache->has('b'));
    }

    public function testFlushAsksUnlessItIsForced(): void
    {
        $this->cache->set('key', 1);
        self::assertSame(2, $this->larder('flush')[0]);
        self::assertStringContainsString('give --force', $this->errors);
        self::assertTrue($this->cache->has('key'));
        self::assertSame(1, $this->larder('flush', [], ['no'])[0]);
        self::assertTrue($this->cache->has('key'));
        self::assertSame(0, $this->larder('flush', [], ['yes'])[0]);
        self::assertFalse($this->cache->has('key'));
        $this->cache->set('key', 1);
        $this->cache->namespace('shop')->set('key', 1);
        self::assertSame(['flushed' => true], $this->json('flush', ['--force' => true, '--namespace' => 'shop']));
        self::assertTrue($this->cache->has('key'));
        self::assertFalse($this->cache->namespace('shop')->has('key'));
    }

    public function testPruneRemovesAllThatIsDead(): void
    {
        for ($i = 0; $i < 50; $i++) {
            $this->cache->set("key {$i}", $i, tags: ['tag']);
        }
        $this->cache->set('alive', 1);
        $this->cache->invalidateTags(['tag']);
        $removed = $this->json('prune')['removed'];
        self::assertSame(50, $removed);
        self::assertSame([0, "0 items were removed.\n"], $this->larder('prune'));
        self::assertTrue($this->cache->has('alive'));
    }

    public function testStatsShowsWhatTheStoreKnows(): void
    {
        $this->cache->setMany(['a' => 1, 'b' => 2]);
        [$code, $printed] = $this->larder('stats');
        self::assertSame(0, $code);
        self::assertMatchesRegularExpression('/^items +2$/m', $printed);
        self::assertMatchesRegularExpression('/^memory +[\d.]+ KiB/m', $printed);
        self::assertSame(2, $this->json('stats')['items']);
    }

    public function testMetricsAreOpenMetrics(): void
    {
        $this->cache->setMany(['a' => 1, 'b' => 2]);
        [$code, $printed] = $this->execute(['command' => 'metrics', 'dsn' => [$this->dsn() . '?timeout=2', 'array:', 'redis://user:hunter2@127.0.0.1:1/?retry_after=0']]);
        self::assertSame(1, $code, 'One of them does not answer.');
        self::assertStringEndsWith("# EOF\n", $printed);
        self::assertStringNotContainsString('hunter2', $printed);
        self::assertStringContainsString("larder_up{store=\"{$this->dsn()}\"} 1\nlarder_up{store=\"array:\"} 1\nlarder_up{store=\"redis://127.0.0.1:1/\"} 0\n", $printed);
        self::assertStringContainsString("larder_items{store=\"{$this->dsn()}\"} 2\n", $printed);
        $family = null;
        foreach (explode("\n", substr($printed, 0, -6)) as $line) {
            if (preg_match('/^# TYPE (\w+) (gauge|counter)$/', $line, $match) === 1) {
                $family = $match[1] . ($match[2] === 'counter' ? '_total' : '');
            } elseif ($line !== '' && $line[0] !== '#') {
                self::assertMatchesRegularExpression('/^' . $family . '\{store="[^"]+"\} \d+$/', $line);
            }
        }
        self::assertSame(0, $this->execute(['command' => 'metrics', 'dsn' => ['array:']])[0]);
        self::assertStringNotContainsString('larder_near', $printed);
        [$code, $printed] = $this->execute(['command' => 'metrics', 'dsn' => ["array: > {$this->dsn()}"]]);
        self::assertSame(0, $code);
        foreach (['items' => 0, 'hits_total' => 0, 'misses_total' => '\d+', 'events_total' => 0, 'beginnings_total' => 0, 'bypasses_total' => 0] as $metric => $value) {
            self::assertMatchesRegularExpression("~^larder_near_{$metric}\{store=\"array: > {$this->dsn()}\"\} {$value}\$~m", $printed);
        }
        self::assertSame(2, $this->execute(['command' => 'metrics', 'dsn' => ['nonsense']])[0]);
        [$code, $printed] = $this->execute(['command' => 'metrics', 'dsn' => ['redis://user:hunter2@127.0.0.1:1?prefix=one', 'redis://user:hunter2@127.0.0.1:1?prefix=two']]);
        self::assertSame(1, $code);
        self::assertStringContainsString("larder_up{store=\"redis://127.0.0.1:1?prefix=one\"} 0\nlarder_up{store=\"redis://127.0.0.1:1?prefix=two\"} 0\n", $printed);
    }

    /** @return iterable<string, array{array<string, mixed>, int, string}> */
    public static function mistakes(): iterable
    {
        yield 'no DSN' => [['command' => 'stats', 'dsn' => 'nonsense'], 2, 'has no scheme'];
        yield 'an unknown scheme' => [['command' => 'stats', 'dsn' => 'rediss:'], 2, 'names no server'];
        yield 'an unknown option' => [['command' => 'stats', 'dsn' => 'array:?itmes=5'], 2, 'did you mean "items"?'];
        yield 'a store that is down' => [['command' => 'stats', 'dsn' => 'redis://user:hunter2@127.0.0.1:1'], 1, 'is unavailable'];
        yield 'an empty key' => [['command' => 'get', 'dsn' => 'array:', 'key' => ''], 2, 'The key is empty'];
        yield 'a key that is too long' => [['command' => 'delete', 'dsn' => 'array:', 'key' => [str_repeat('k', 65_536)]], 2, '65536 bytes'];
        yield 'an empty tag' => [['command' => 'tags', 'dsn' => 'array:', 'tag' => ['']], 2, 'The tag is empty'];
        yield 'a wrong namespace' => [['command' => 'keys', 'dsn' => 'array:', '--namespace' => 'a b'], 2, 'The namespace "a b"'];
        yield 'a TTL that is no number' => [['command' => 'set', 'dsn' => 'array:', 'key' => 'k', 'value' => 'v', '--ttl' => 'soon'], 2, 'no number of seconds'];
        yield 'a TTL that ends at once' => [['command' => 'set', 'dsn' => 'array:', 'key' => 'k', 'value' => 'v', '--ttl' => '0'], 2, 'no number of seconds above 0: give one, or "forever"'];
        yield 'an unknown type' => [['command' => 'set', 'dsn' => 'array:', 'key' => 'k', 'value' => 'v', '--type' => 'xml'], 2, 'The value is no xml'];
        yield 'no int' => [['command' => 'set', 'dsn' => 'array:', 'key' => 'k', 'value' => '1.5', '--type' => 'int'], 2, 'The value is no int'];
        yield 'no JSON' => [['command' => 'set', 'dsn' => 'array:', 'key' => 'k', 'value' => '{', '--type' => 'json'], 2, 'The value is no json'];
        yield 'a limit of nothing' => [['command' => 'keys', 'dsn' => 'array:', '--limit' => '0'], 2, 'no number above 0'];
        yield 'a stale time that is none' => [['command' => 'tags', 'dsn' => 'array:', 'tag' => ['t'], '--stale' => 'x'], 2, 'no number of seconds'];
        yield 'a negative stale time' => [['command' => 'tags', 'dsn' => 'array:', 'tag' => ['t'], '--stale' => '-1'], 2, 'must be 0 seconds or more'];
        yield 'keys of a store that cannot list them' => [['command' => 'keys', 'dsn' => 'memcached://127.0.0.1:1'], 2, 'cannot list its keys'];
    }

    /** @param array<string, mixed> $input */
    #[DataProvider('mistakes')]
    public function testAMistakeIsOneSentenceOnTheStandardErrorAndAnExitCode(array $input, int $code, string $says): void
    {
        self::assertSame([$code, ''], $this->execute($input));
        self::assertStringContainsString($says, $this->errors);
        self::assertStringNotContainsString('hunter2', $this->errors);
        self::assertSame(1, substr_count(trim($this->errors), "\n") + 1);
    }

    public function testEveryCommandHasExamplesAndExitCodesInItsHelp(): void
    {
        foreach (Commands::all() as $command) {
            self::assertNotSame('', $command->getDescription());
            self::assertStringContainsString('<info>%command.full_name%', $command->getHelp(), (string) $command->getName());
            self::assertStringContainsString('Exit codes: 0', $command->getHelp(), (string) $command->getName());
            self::assertTrue($command->getName() === 'metrics' || $command->getDefinition()->hasOption('json'), (string) $command->getName());
        }
    }

    public function testAShellCompletesCommandsAndDsns(): void
    {
        foreach (Commands::all() as $command) {
            if ($command->getDefinition()->hasArgument('dsn')) {
                self::assertContains('redis://127.0.0.1', (new CommandCompletionTester($command))->complete(['']));
            }
        }
    }

    private function dsn(): string
    {
        return "sqlite:{$this->scratch->path}/cache.db";
    }

    /**
     * @param array<string, mixed> $input
     * @param list<string>         $answers
     *
     * @return array{int, string} the exit code and what was printed
     */
    private function larder(string $command, array $input = [], array $answers = []): array
    {
        return $this->execute(['command' => $command, 'dsn' => $this->dsn(), ...$input], $answers);
    }

    /**
     * @param array<string, mixed> $input
     *
     * @return array<mixed>
     */
    private function json(string $command, array $input = []): array
    {
        return $this->jsonWithCode($command, $input)[1];
    }

    /**
     * @param array<string, mixed> $input
     *
     * @return array{int, array<mixed>}
     */
    private function jsonWithCode(string $command, array $input): array
    {
        $larder = new CommandLine();
        try {
            return $larder->json($command, ['dsn' => $this->dsn(), ...$input]);
        } finally {
            $this->errors = $larder->errors;
        }
    }

    /**
     * @param array<string, mixed> $input
     * @param list<string>         $answers
     *
     * @return array{int, string}
     */
    private function execute(array $input, array $answers = []): array
    {
        $larder = new CommandLine();
        $command = $input['command'];
        self::assertIsString($command);
        $answer = $larder->run($command, $input, $answers);
        $this->errors = $larder->errors;

        return $answer;
    }
}
