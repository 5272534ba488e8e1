<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Capability;
use Larder\Console\Commands;
use Larder\Console\DeleteCommand;
use Larder\Console\DoctorCommand;
use Larder\Console\FlushCommand;
use Larder\Console\GetCommand;
use Larder\Console\KeysCommand;
use Larder\Console\MetricsCommand;
use Larder\Console\PoolNames;
use Larder\Console\PruneCommand;
use Larder\Console\SetCommand;
use Larder\Console\SizeCommand;
use Larder\Console\StatsCommand;
use Larder\Console\TagsCommand;
use Larder\Console\TopCommand;
use Larder\Console\TraceCommand;
use Larder\Exception\InvalidDsn;
use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;
use Larder\Store\SharedMemoryStore;
use Larder\Tests\CommandLine;
use Larder\Tests\Scratch;
use Larder\Tests\System\Extension\Workers;
use Larder\Trace\RecordingStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** Every command on every kind of store. */
#[CoversClass(Commands::class)]
#[CoversClass(GetCommand::class)]
#[CoversClass(SetCommand::class)]
#[CoversClass(DeleteCommand::class)]
#[CoversClass(KeysCommand::class)]
#[CoversClass(TagsCommand::class)]
#[CoversClass(FlushCommand::class)]
#[CoversClass(PruneCommand::class)]
#[CoversClass(StatsCommand::class)]
#[CoversClass(TopCommand::class)]
#[CoversClass(MetricsCommand::class)]
#[CoversClass(DoctorCommand::class)]
#[CoversClass(SizeCommand::class)]
#[CoversClass(TraceCommand::class)]
final class CommandsTest extends TestCase
{
    private CommandLine $larder;

    protected function setUp(): void
    {
        $this->larder = CommandLine::onAMachineInOrder();
    }

    /** @return iterable<string, array{string}> all but APCu, which the command line has one of its own of */
    public static function reachable(): iterable
    {
        foreach (Place::everywhere() as $name => $kind) {
            if ($name !== 'APCu') {
                yield $name => $kind;
            }
        }
    }

    #[DataProvider('reachable')]
    public function testEveryCommandDoesOnEveryStoreWhatItSays(string $kind): void
    {
        $place = new Place($kind);
        $this->everyCommand($place->dsn);
    }

    public function testTheNameOfAMisspeltPoolIsSuggested(): void
    {
        $name = 'test-' . bin2hex(random_bytes(6));
        Cache::open("shm:{$name}")->set('k', 1);
        try {
            self::assertSame([1, ''], $this->larder->run('get', ['dsn' => 'shm:' . substr($name, 0, -1) . '-', 'key' => 'k']));
            self::assertStringContainsString("of this user; did you mean \"{$name}\"? The pools are: ", $this->larder->errors);
            self::assertSame([1, ''], $this->larder->run('get', ['dsn' => 'shm:of-another-kind-altogether', 'key' => 'k']));
            self::assertStringContainsString('of this user; the pools are: ', $this->larder->errors);
        } finally {
            SharedMemoryStore::remove($name);
        }
    }

    public function testAMisspeltPoolIsNotMade(): void
    {
        $name = 'test-typo-' . bin2hex(random_bytes(4));
        foreach (['get' => ['key' => 'k'], 'stats' => [], 'flush' => ['--force' => true], 'top' => ['--times' => '1'], 'latency' => []] as $command => $input) {
            self::assertSame([1, ''], $this->larder->run($command, ['dsn' => "shm:{$name}", ...$input]));
            self::assertStringContainsString("There is no pool \"{$name}\" of this user", $this->larder->errors);
        }
        self::assertStringContainsString('It is not there yet', $this->larder->run('doctor', ['dsn' => ["shm:{$name}"]])[1]);
        self::assertStringContainsString('larder_up{store="shm:' . $name . '"} 0', $this->larder->run('metrics', ['dsn' => ["shm:{$name}"]])[1]);
        self::assertNotContains($name, SharedMemory::names());
    }

    public function testACommandThatIsRefusedMakesNoPool(): void
    {
        $name = 'test-refused-' . bin2hex(random_bytes(4));
        foreach (['trace' => ['trace' => __FILE__], 'set' => ['key' => 'k', 'value' => 'v', '--ttl' => 'soon']] as $command => $input) {
            self::assertSame([2, ''], $this->larder->run($command, ['dsn' => "shm:{$name}", ...$input]));
            self::assertNotContains($name, SharedMemory::names());
        }
    }

    public function testTopDoesNotCountWhatItReadsItself(): void
    {
        $place = new Place('shared memory');
        $cache = Cache::open($place->dsn);
        $cache->setMany(['page:1' => 'x', 'page:2' => 'x']);
        $cache->get('page:1');
        $cache->get('absent');
        [$code, $printed] = $this->larder->run('top', ['dsn' => $place->dsn, '--times' => '12', '--interval' => '0.1', '--json' => true]);
        $looks = array_map(static fn(string $line): mixed => json_decode($line, true), explode("\n", trim($printed)));
        self::assertSame([0, 12], [$code, \count($looks)]);
        foreach ($looks as $i => $look) {
            self::assertIsArray($look);
            self::assertSame([1, 1], [$look['hits'], $look['misses']], "look {$i}");
            self::assertContains($look['hits_per_second'], $i === 0 ? [null] : [0, 0.0]);
        }
    }

    public function testPoolsListsThoseOfThisUser(): void
    {
        $place = new Place('shared memory that does not evict');
        Cache::open($place->dsn)->set('a', 1);
        $name = substr($place->dsn, 4, (int) strpos($place->dsn, '?') - 4);
        // Another test's pool may be damaged just now.
        $answer = $this->larder->json('pools', [])[1];
        $pool = array_column((array) $answer['pools'], null, 'name')[$name] ?? null;
        self::assertIsArray($pool);
        self::assertSame([16 << 20, 1, false], [$pool['size'], $pool['items'], $pool['evicts']]);
        self::assertMatchesRegularExpression("/^{$name} +16\.0 MiB .* does not evict$/m", $this->larder->run('pools', [])[1]);
    }

    public function testPoolsThatNoProcessUsesAnyMoreAreNamedAndRemoved(): void
    {
        [$left, $held] = $names = array_map(static fn(string $name): string => "test-{$name}-" . bin2hex(random_bytes(4)), ['left', 'held']);
        foreach ($names as $name) {
            self::assertSame(0, self::larder(['set', "shm:{$name}?size=4M", 'key', 'value'], [])->run());
        }
        $holder = new Process([\PHP_BINARY, '-d', 'extension=' . Workers::extension(), '-r', 'larder\SharedMemory::open($argv[1]); echo "open"; sleep(10000);', $held], timeout: null);
        $holder->start();
        try {
            $holder->waitUntil(static fn(string $type, string $text): bool => $text === 'open');
            foreach (self::listed('pools', 'name') as $name => $pool) {
                \in_array($name, $names, true) && touch(\is_string($pool['path'] ?? null) ? $pool['path'] : '', time() - 3 * 86_400);
            }
            // A look is no use.
            for ($look = 0; $look < 2; $look++) {
                $pools = self::listed('pools', 'name');
                self::assertSame([0, 1], [$pools[$left]['processes'] ?? null, $pools[$held]['processes'] ?? null]);
                self::assertEqualsWithDelta([3 * 86_400, 0], [$pools[$left]['unused_seconds'] ?? null, $pools[$held]['unused_seconds'] ?? null], 43_200);
            }
            self::assertMatchesRegularExpression("/^{$left} .* 0 +3 days$/m", self::larder(['pools'], [])->mustRun()->getOutput());
            $found = json_encode(self::listed('doctor', 'what')['pools'] ?? [], \JSON_THROW_ON_ERROR);
            self::assertMatchesRegularExpression("/No process has used [^\"]* for a day or longer: [^\"]*{$left}.*larder remove [^\"]*{$left}/", $found);
            self::assertStringNotContainsString($held, $found);

            $refused = self::larder(['remove', $held, $left, 'no/name', "{$left}s"], []);
            self::assertSame(2, $refused->run());
            self::assertSame("{$left}: It is removed, and 4.0 MiB are free again.\n", $refused->getOutput());
            self::assertStringContainsString("One process has the pool \"{$held}\" open; stop php-fpm and what else uses it, or give --force.\n\"no/name\" is no name", $refused->getErrorOutput());
            self::assertStringContainsString("There is no pool \"{$left}s\"", $refused->getErrorOutput());
            self::assertSame([false, true], array_map(static fn(string $name): bool => isset(self::listed('pools', 'name')[$name]), $names));
            $forced = self::larder(['remove', '--force', '--json', $held], []);
            self::assertSame([0, ['removed' => [['name' => $held, 'size' => 4 << 20]]]], [$forced->run(), json_decode($forced->getOutput(), true)]);
        } finally {
            $holder->stop(0);
            array_map(SharedMemory::remove(...), $names);
        }
        self::assertSame(1, self::larder(['remove', $left], [])->run());
    }

    public function testAPoolOfLocksIsCalledThat(): void
    {
        $place = new Place('shared memory that does not evict');
        Cache::open($place->dsn)->lock('order', 1_000.0)->acquire();
        $name = substr($place->dsn, 4, (int) strpos($place->dsn, '?') - 4);
        $locks = SharedMemoryStore::leasesOf($name);
        $pools = array_column((array) $this->larder->json('pools', [])[1]['pools'], 'locks_of', 'name');
        self::assertSame([null, $name], [$pools[$name], $pools[$locks]]);
        self::assertMatchesRegularExpression("/^{$locks} +4\.0 MiB .* locks of {$name}$/m", $this->larder->run('pools', [])[1]);
        self::assertStringContainsString("Its locks are in the pool \"{$locks}\"", $this->larder->run('doctor', ['dsn' => [$place->dsn]])[1]);
        self::assertStringContainsString("It holds the locks of the pool \"{$name}\"", $this->larder->run('doctor', ['dsn' => ["shm:{$locks}?evict=no"]])[1]);
        self::assertSame([$name], array_values(array_intersect(PoolNames::ofItems(), [$name, $locks])), 'what larder save takes');
        self::assertSame(0, $this->larder->run('flush', ['dsn' => $place->dsn, '--force' => true])[0]);
        self::assertFalse(Cache::open($place->dsn)->lock('order')->acquire(), 'a flush leaves locks');
    }

    public function testTheStatisticsOfAServerAreATable(): void
    {
        foreach (['phpredis' => '/^when full +noeviction$/m', 'Memcached' => '/^memory limit +64\.0 MiB$/m'] as $kind => $row) {
            $place = new Place($kind);
            [$code, $printed] = $this->larder->run('stats', ['dsn' => $place->dsn]);
            self::assertSame(0, $code);
            self::assertMatchesRegularExpression($row, $printed);
            self::assertLessThan(30, substr_count($printed, "\n"));
        }
        $cluster = new RedisCluster();
        try {
            [$code, $printed] = $this->larder->run('stats', ['dsn' => $cluster->dsn('client=predis&timeout=10&read_timeout=10')]);
            self::assertSame(0, $code);
            self::assertMatchesRegularExpression('/^server +127\.0\.0\.1:\d+  127\.0\.0\.1:\d+/m', $printed);
            self::assertMatchesRegularExpression('/^role +master +master/m', $printed);
        } finally {
            $cluster->stop();
        }
    }

    public function testEveryCommandDoesWhatItSaysInACluster(): void
    {
        $cluster = new RedisCluster();
        try {
            $this->everyCommand($cluster->dsn('client=predis&timeout=10&read_timeout=10'));
        } finally {
            $cluster->stop();
        }
    }

    private function everyCommand(string $dsn): void
    {
        $on = ['dsn' => $dsn];
        $cache = Cache::open($dsn, strict: true);
        $tellsTags = !$cache->store instanceof SharedMemoryStore;
        $listsKeys = \in_array(Capability::Keys, $cache->store->capabilities(), true);

        self::assertSame([0, ''], $this->larder->run('set', [...$on, 'key' => 'page:1', 'value' => 'hello', '--tag' => ['red'], '--ttl' => '1000']));
        self::assertSame([0, ['key' => 'page:2', 'stored' => true]], $this->larder->json('set', [...$on, 'key' => 'page:2', 'value' => '{"a":[1,null]}', '--type' => 'json']));
        self::assertSame([0, ''], $this->larder->run('set', [...$on, 'key' => 'inside', 'value' => '7', '--type' => 'int', '--namespace' => 'part']));

        $hits = $cache->statistics()->hits ?? 0;
        self::assertSame([0, "hello\n"], $this->larder->run('get', [...$on, 'key' => 'page:1']));
        if ($cache->store instanceof SharedMemoryStore) {
            self::assertSame($hits + 1, $cache->statistics()?->hits, 'It asks the store once.');
        }
        [$code, $item] = $this->larder->json('get', [...$on, 'key' => 'page:1']);
        self::assertSame([0, true, 'string', 'hello'], [$code, $item['found'], $item['type'], $item['value']]);
        self::assertMatchesRegularExpression('/^\d{4}-\d\d-\d\dT/', \is_string($item['expires']) ? $item['expires'] : '');
        self::assertContains($item['tags'], $tellsTags ? [['red']] : [[]]);
        self::assertSame([0, ['a' => [1, null]]], [...array_map(static fn(mixed $part): mixed => \is_array($part) ? $part['value'] : $part, $this->larder->json('get', [...$on, 'key' => 'page:2']))]);
        self::assertSame([0, "7\n"], $this->larder->run('get', [...$on, 'key' => 'inside', '--namespace' => 'part']));
        self::assertSame([1, ''], $this->larder->run('get', [...$on, 'key' => 'inside']));
        self::assertSame([1, ['key' => 'absent', 'found' => false]], $this->larder->json('get', [...$on, 'key' => 'absent']));

        if ($listsKeys) {
            [$code, $printed] = $this->larder->run('keys', $on);
            self::assertSame([0, ['page:1', 'page:2']], [$code, self::sorted(explode("\n", trim($printed)))]);
            [$code, $answer] = $this->larder->json('keys', [...$on, 'prefix' => 'page:']);
            self::assertSame([0, ['page:1', 'page:2'], true], [$code, self::sorted((array) $answer['keys']), $answer['complete']]);
            self::assertSame([0, ['keys' => ['inside'], 'complete' => true]], $this->larder->json('keys', [...$on, '--namespace' => 'part']));
        } else {
            self::assertSame([2, ''], $this->larder->run('keys', $on));
            self::assertStringContainsString('cannot list its keys', $this->larder->errors);
        }

        [$code, $printed] = $this->larder->run('stats', $on);
        self::assertSame(0, $code);
        foreach (['items', 'memory', 'hits', 'misses', 'evictions', 'expired'] as $row) {
            self::assertMatchesRegularExpression("/^{$row} +\\S/m", $printed);
        }
        [$code, $known] = $this->larder->json('stats', $on);
        self::assertSame(0, $code);
        self::assertGreaterThanOrEqual(3, $known['items']);

        [$code, $printed] = $this->larder->run('top', [...$on, '--times' => '1']);
        self::assertSame(0, $code);
        self::assertStringContainsString('hit ratio', $printed);
        self::assertMatchesRegularExpression($listsKeys ? '/^page +2 /m' : '/cannot list its keys/', $printed);
        [$code, $look] = $this->larder->json('top', [...$on, '--times' => '1']);
        self::assertSame([0, $known['items']], [$code, $look['items']]);

        [$code, $printed] = $this->larder->run('metrics', ['dsn' => [$dsn]]);
        self::assertSame(0, $code);
        self::assertMatchesRegularExpression('/^larder_up\{store="[^"]+"\} 1\n.*^larder_items\{store="[^"]+"\} \d+\n.*# EOF\n$/sm', $printed);

        [$code, $answer] = $this->larder->json('doctor', ['dsn' => [$dsn]]);
        self::assertSame(0, $code, (string) json_encode($answer));
        self::assertStringContainsString('A look-up takes', $this->larder->run('doctor', ['dsn' => [$dsn]])[1]);

        self::assertSame([0, ['invalidated' => ['red']]], $this->larder->json('tags', [...$on, 'tag' => ['red']]));
        self::assertSame([0, "2 tags are invalidated.\n"], $this->larder->run('tags', [...$on, 'tag' => ['red', 'blue']]));
        self::assertSame(1, $this->larder->run('get', [...$on, 'key' => 'page:1'])[0]);

        self::assertSame([0, ['deleted' => ['page:2']]], $this->larder->json('delete', [...$on, 'key' => ['page:1', 'page:2', 'absent']]));
        self::assertSame([1, "0 of 1 keys were there and are deleted.\n"], $this->larder->run('delete', [...$on, 'key' => ['page:2']]));
        self::assertSame(1, $this->larder->run('get', [...$on, 'key' => 'page:2'])[0]);

        [$code, $pruned] = $this->larder->json('prune', $on);
        self::assertSame(0, $code);
        self::assertIsInt($pruned['removed']);
        self::assertSame([0, "0 items were removed.\n"], $this->larder->run('prune', $on));

        $this->traces($dsn);

        self::assertSame([2, ''], $this->larder->run('flush', $on), 'There was no terminal to ask at.');
        self::assertSame(0, $this->larder->run('get', [...$on, 'key' => 'inside', '--namespace' => 'part'])[0]);
        self::assertSame([0, ['flushed' => true]], $this->larder->json('flush', [...$on, '--force' => true, '--namespace' => 'part']));
        self::assertSame(1, $this->larder->run('get', [...$on, 'key' => 'inside', '--namespace' => 'part'])[0]);
        $this->larder->run('set', [...$on, 'key' => 'page:3', 'value' => 'hello']);
        self::assertSame([0, "Everything is deleted.\n"], $this->larder->run('flush', [...$on, '--force' => true]));
        self::assertSame(1, $this->larder->run('get', [...$on, 'key' => 'page:3'])[0]);
    }

    /** What is recorded on a store can be sized, and replayed on it; nothing of that is left behind. */
    private function traces(string $dsn): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/trace";
        $recording = new Cache(new RecordingStore(Cache::open($dsn)->store, $path, 1.0));
        for ($i = 0; $i < 60; $i++) {
            $key = 'traced ' . $i % 20;
            $recording->get($key) ?? $recording->set($key, str_repeat('x', 100));
        }
        $recording->deleteMany(array_map(static fn(int $i): string => "traced {$i}", range(0, 19)));
        unset($recording);

        [$code, $answer] = $this->larder->json('size', ['trace' => $path]);
        self::assertSame([0, 60, 20], [$code, $answer['reads'], $answer['items']]);
        self::assertMatchesRegularExpression('/ are enough: /', $this->larder->run('size', ['trace' => $path])[1]);
        [$code, $answer] = $this->larder->json('trace', ['dsn' => $dsn, 'trace' => $path]);
        self::assertSame([0, 60, 0], [$code, $answer['reads'], $answer['refused']]);
        [$code, $printed] = $this->larder->run('trace', ['dsn' => $dsn, 'trace' => $path]);
        self::assertSame(0, $code);
        self::assertMatchesRegularExpression('/^reads    60, of which 66\.7 % hit\n/', $printed);
        [$code, $printed] = $this->larder->run('keys', ['dsn' => $dsn, 'prefix' => 'trace']);
        self::assertContains([$code, $printed], [[0, ''], [0, "\n"], [2, '']]);
    }

    /** Each begins with an empty store. */
    public function testOnAnArrayEveryCommandWorksAndNothingStays(): void
    {
        $on = ['dsn' => 'array:'];
        self::assertSame([0, ['key' => 'key', 'stored' => true]], $this->larder->json('set', [...$on, 'key' => 'key', 'value' => 'x', '--tag' => ['t']]));
        self::assertSame(1, $this->larder->run('get', [...$on, 'key' => 'key'])[0]);
        self::assertSame([0, ['keys' => [], 'complete' => true]], $this->larder->json('keys', $on));
        self::assertSame([1, ['deleted' => []]], $this->larder->json('delete', [...$on, 'key' => ['key']]));
        self::assertSame([0, ['invalidated' => ['t']]], $this->larder->json('tags', [...$on, 'tag' => ['t']]));
        self::assertSame([0, ['removed' => 0]], $this->larder->json('prune', $on));
        self::assertSame([0, ['flushed' => true]], $this->larder->json('flush', [...$on, '--force' => true]));
        self::assertSame(0, $this->larder->json('stats', $on)[0]);
        self::assertSame(0, $this->larder->json('top', [...$on, '--times' => '1'])[0]);
        self::assertSame(0, $this->larder->run('metrics', ['dsn' => ['array:']])[0]);
        self::assertSame(0, $this->larder->json('doctor', ['dsn' => ['array:']])[0]);
        $this->traces('array:');
    }

    /** @return iterable<string, array{string}> */
    public static function absent(): iterable
    {
        yield 'Redis by phpredis' => ['redis+unix:/absent/socket?client=phpredis'];
        yield 'Redis by Predis' => ['redis+unix:/absent/socket?client=predis'];
        yield 'Redis behind sentinels' => ['redis+sentinel://127.0.0.1:1?service=shop&timeout=1'];
        yield 'a cluster' => ['redis+cluster://127.0.0.1:1?timeout=1'];
        yield 'Memcached' => ['memcached+unix:/absent/socket'];
        yield 'several Memcacheds' => ['memcached+unix:/absent/one,/absent/two'];
    }

    #[DataProvider('absent')]
    public function testEveryCommandOnAServerThatIsNotThereSaysSoInOneSentence(string $dsn): void
    {
        $scratch = new Scratch();
        $trace = "{$scratch->path}/trace";
        (new Cache(new RecordingStore(Cache::open('array:')->store, $trace, 1.0)))->get('key');
        $commands = [
            'get' => ['key' => 'k'], 'set' => ['key' => 'k', 'value' => 'v'], 'delete' => ['key' => ['k']], 'tags' => ['tag' => ['t']], 'flush' => ['--force' => true],
            'stats' => [], 'trace' => ['trace' => $trace],
        ] + (str_starts_with($dsn, 'memcached') ? [] : ['keys' => [], 'prune' => []]);
        foreach ($commands as $command => $input) {
            self::assertSame([1, ''], $this->larder->run($command, ['dsn' => $dsn, ...$input]), $command);
            self::assertMatchesRegularExpression('/^[^\n]+ is unavailable: [^\n]+\.\n$/', $this->larder->errors, $command);
        }
        [$code, $printed] = $this->larder->run('metrics', ['dsn' => [$dsn]]);
        self::assertSame(1, $code);
        self::assertMatchesRegularExpression('/^larder_up\{store="[^"]+"\} 0$/m', $printed);
        [$code, $printed] = $this->larder->run('doctor', ['dsn' => [$dsn]]);
        self::assertSame(1, $code);
        self::assertStringContainsString('is unavailable', $printed);
        [$code, $printed] = $this->larder->run('top', ['dsn' => $dsn, '--times' => '1']);
        self::assertSame(1, $code);
        self::assertStringContainsString('is unavailable', $printed);
    }

    public function testPoolsThatCannotBeReachedEndEveryCommandAsAStoreThatFailed(): void
    {
        // No other user has a pool of that name, of which a command would warn.
        $pool = 'test-' . bin2hex(random_bytes(6));
        $settings = ['larder.group' => 'no-such-group-' . bin2hex(random_bytes(4))];
        $commands = [
            ['get', "shm:{$pool}", 'k'], ['set', "shm:{$pool}", 'k', 'v'], ['delete', "shm:{$pool}", 'k'], ['tags', "shm:{$pool}", 't'], ['flush', "shm:{$pool}", '--force'], ['keys', "shm:{$pool}"], ['prune', "shm:{$pool}"],
            ['stats', "shm:{$pool}"], ['largest', "shm:{$pool}"], ['latency', "shm:{$pool}"], ['top', "shm:{$pool}", '--times=1'], ['pools'], ['save'], ['resize', $pool, '8M'], ['remove', $pool],
        ];
        foreach ($commands as $command) {
            $process = self::larder($command, $settings);
            self::assertSame([1, ''], [$process->run(), $process->getOutput()], implode(' ', $command) . $process->getErrorOutput());
            self::assertMatchesRegularExpression("/^[^\n]*{$settings['larder.group']}[^\n]*\n$/", $process->getErrorOutput(), implode(' ', $command));
        }
        $process = self::larder(['metrics', "shm:{$pool}"], $settings);
        self::assertSame(1, $process->run(), $process->getErrorOutput());
        self::assertStringContainsString('larder_up{store="shm:' . $pool . '"} 0', $process->getOutput());
        $process = self::larder(['doctor', "shm:{$pool}"], $settings);
        self::assertSame(1, $process->run(), $process->getErrorOutput());
        self::assertStringContainsString($settings['larder.group'], $process->getOutput());
    }

    public function testANameThatNoPoolCanHaveEndsEveryCommandAsOneThatCannotBeUnderstood(): void
    {
        $commands = [['get', 'shm:no/name', 'k'], ['set', 'shm:no/name', 'k', 'v'], ['stats', 'shm:no name'], ['top', 'shm:.', '--times=1'], ['metrics', 'shm:no/name'], ['save', 'no/name'], ['save', ''], ['save', 'no/name', 'test-absent'], ['resize', 'no/name', '8M'], ['remove', 'no/name']];
        foreach ($commands as $command) {
            $process = self::larder($command, []);
            self::assertSame([2, ''], [$process->run(), $process->getOutput()], implode(' ', $command) . $process->getErrorOutput());
        }
        foreach ([['save', 'shm:shop'], ['resize', 'shm:shop', '8M'], ['remove', 'shm:shop']] as $command) {
            $process = self::larder($command, []);
            self::assertSame([2, "\"shm:shop\" is a DSN; give the name of a pool alone, such as shop.\n"], [$process->run(), $process->getErrorOutput()]);
        }
        $process = self::larder(['doctor', 'shm:no/name'], []);
        self::assertSame(1, $process->run(), $process->getErrorOutput());
        self::assertStringContainsString('The DSN "shm:no/name" names no pool', $process->getOutput());
    }

    #[TestWith(['1'])]
    #[TestWith(['4194303'])]
    #[TestWith(['1025G'])]
    #[TestWith(['999999999999G'])]
    public function testADsnIsToldWhichSizesAPoolCanHaveAsResizeTellsThem(string $size): void
    {
        foreach (['shm:test-size', 'shm:test-size?evict=no&'] as $dsn) {
            try {
                Cache::open($dsn . (str_ends_with($dsn, '&') ? '' : '?') . "size={$size}");
                self::fail('A pool has a size that none can have.');
            } catch (InvalidDsn $refusal) {
                self::assertSame("The DSN option \"size\" is \"{$size}\"; give a size from 4M to 1024G.", $refusal->getMessage());
            }
        }
        self::assertNotContains('test-size', SharedMemory::names());
    }

    /** As the extension judges it: what is said of a name is one rule, known in two places. */
    #[TestWith([true, 'shop', '_', '0.a-b'])]
    #[TestWith([false, '', '.', '..', '-x', '.x', 'a/b', 'a b', "a\n", 'ü'])]
    public function testCommandsAndTheExtensionTakeTheSameNames(bool $isOne, string ...$names): void
    {
        foreach ($isOne ? [...$names, str_repeat('n', 64)] : [...$names, str_repeat('n', 65)] as $name) {
            self::assertSame($isOne, PoolNames::mistake($name) === null, $name);
            if (!$isOne) {
                // Without a name, a DSN means the pool "default".
                foreach ($name === '' ? [] : ['shm:', 'array: > shm:'] as $scheme) {
                    try {
                        Cache::open($scheme . rawurlencode($name));
                        self::fail("A DSN takes {$name}.");
                    } catch (InvalidDsn $refusal) {
                        self::assertStringContainsString('names no pool', $refusal->getMessage());
                    }
                }

                try {
                    SharedMemory::open($name, 4 << 20);
                    self::fail("The extension takes {$name}.");
                } catch (PoolUnusable $refusal) {
                    self::assertStringContainsString('is no name for a pool', $refusal->getMessage());
                }
            }
        }
    }

    public function testAStoreWhoseExtensionIsNotLoadedEndsACommandAsAStoreThatFailed(): void
    {
        foreach ([['get', 'shm:x', 'k'], ['stats', 'redis://127.0.0.1?client=phpredis'], ['pools'], ['save', 'x'], ['remove', 'x']] as $command) {
            $process = self::larder($command, null);
            self::assertSame([1, ''], [$process->run(), $process->getOutput()], implode(' ', $command) . $process->getErrorOutput());
            self::assertStringContainsString('not loaded', $process->getErrorOutput());
        }
    }

    /**
     * In a process of its own.
     *
     * @param list<string>           $command
     * @param ?array<string, string> $settings of php.ini; null: no extension of PHP's is loaded that can be left out
     */
    private static function larder(array $command, ?array $settings): Process
    {
        $php = [\PHP_BINARY, ...($settings === null ? ['-n'] : ['-d', 'extension=' . Workers::extension()])];
        foreach ($settings ?? [] as $name => $value) {
            array_push($php, '-d', "{$name}={$value}");
        }

        return new Process([...$php, \dirname(__DIR__, 2) . '/bin/larder', ...$command], timeout: null);
    }

    /** @return array<array<mixed>> what that command lists, by a field of each */
    private static function listed(string $command, string $field): array
    {
        $process = self::larder([$command, '--json'], []);
        $process->run();
        $listed = [];
        foreach ((array) json_decode($process->getOutput(), true) as $rows) {
            foreach (array_filter((array) $rows, is_array(...)) as $row) {
                $name = $row[$field] ?? null;
                $listed[\is_string($name) ? $name : ''] = $row;
            }
        }

        return $listed;
    }

    /**
     * @param array<mixed> $keys
     *
     * @return list<mixed>
     */
    private static function sorted(array $keys): array
    {
        sort($keys);

        return $keys;
    }
}
