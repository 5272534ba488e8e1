<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Console;

use Larder\Cache;
use Larder\Cache\Undelivered;
use Larder\Console\Doctor\JournalChecks;
use Larder\Console\DoctorCommand;
use Larder\Console\Journals;
use Larder\Console\MetricsCommand;
use Larder\Console\StatsCommand;
use Larder\Console\TopCommand;
use Larder\Store\ChaosStore;
use Larder\Tests\CommandLine;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What doctor, stats, top and metrics tell of what a store has missed. */
#[CoversClass(Journals::class)]
#[CoversClass(JournalChecks::class)]
#[CoversClass(Undelivered::class)]
#[CoversClass(DoctorCommand::class)]
#[CoversClass(StatsCommand::class)]
#[CoversClass(TopCommand::class)]
#[CoversClass(MetricsCommand::class)]
final class JournalsTest extends TestCase
{
    private Scratch $scratch;

    private string $path;

    private string $errors = '';

    private CommandLine $line;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->path = "{$this->scratch->path}/store.journal";
        $this->line = CommandLine::onAMachineInOrder();
    }

    /** @return iterable<string, array{\Closure(Cache): mixed, string, array{int, int, bool}}> what is lost, in words and in numbers */
    public static function losses(): iterable
    {
        yield 'a key' => [static fn(Cache $cache): bool => $cache->delete('key'), '1 key', [1, 0, false]];
        yield 'keys' => [static fn(Cache $cache): bool => $cache->delete('key') || $cache->set('other', 1), '2 keys', [2, 0, false]];
        yield 'a tag' => [static fn(Cache $cache): bool => $cache->invalidateTags(['tag']), '1 tag', [0, 1, false]];
        yield 'both, some twice' => [
            static fn(Cache $cache): bool => $cache->deleteMany(['a', 'b']) || $cache->delete('a') || $cache->invalidateTags(['tag', 'other']), '2 keys and 2 tags', [2, 2, false],
        ];
        yield 'everything' => [static fn(Cache $cache): bool => $cache->delete('key') || $cache->clear(), 'a clear', [0, 0, true]];
    }

    /**
     * @param \Closure(Cache): mixed $lose
     * @param array{int, int, bool}  $numbers
     */
    #[DataProvider('losses')]
    public function testWhatAStoreHasMissedIsShownByAllFourAndStaysThere(\Closure $lose, string $words, array $numbers): void
    {
        $lose($this->cache());
        $bytes = file_get_contents($this->path);
        $held = array_combine(['keys', 'tags', 'clears'], $numbers);

        [$code, $printed] = $this->larder('stats');
        self::assertSame(0, $code);
        self::assertMatchesRegularExpression("~^undelivered +{$words} \\({$this->path}\\)$~m", $printed);
        self::assertSame([$this->path => $held], $this->json('stats')['undelivered'] ?? null);

        [$code, $printed] = $this->larder('top', ['--times' => '1']);
        self::assertSame(0, $code);
        self::assertMatchesRegularExpression("~^undelivered  {$words} \\(/~m", $printed);
        self::assertSame([$this->path => $held], $this->json('top', ['--times' => '1'])['undelivered'] ?? null);

        [$code, $printed] = $this->larder('metrics');
        self::assertSame(0, $code);
        self::assertStringContainsString("larder_health_flag{journal=\"{$this->path}\"} 1\n", $printed);
        self::assertStringContainsString("larder_undelivered_keys{journal=\"{$this->path}\"} {$numbers[0]}\n", $printed);
        self::assertStringContainsString("larder_undelivered_tags{journal=\"{$this->path}\"} {$numbers[1]}\n", $printed);
        self::assertStringContainsString("larder_undelivered_clear{journal=\"{$this->path}\"} " . (int) $numbers[2] . "\n# EOF\n", $printed);

        [$code, $printed] = $this->larder('doctor');
        self::assertSame(1, $code, 'It is a problem.');
        self::assertStringContainsString("problem journal {$this->path}: The store has missed {$words}: its items may be stale.\n        change: see that", $printed);
        self::assertContains(
            ['severity' => 'problem', 'what' => "journal {$this->path}", 'says' => "The store has missed {$words}: its items may be stale.", 'change' => 'see that the store answers; the next process that opens a cache with this journal delivers it'],
            (array) ($this->json('doctor')['findings'] ?? null),
        );
        self::assertSame($bytes, file_get_contents($this->path), 'It was only looked at.');
    }

    public function testWhenItIsDeliveredThereIsNothing(): void
    {
        foreach (['There is none yet.' => static fn(): int => 0, 'It was delivered.' => function (): void {
            $this->cache()->delete('key');
            $cache = Cache::open('array:', journal: $this->path);
            $cache->get('key');
            self::assertFalse($cache->health()->isFlagged());
        }] as $when => $do) {
            $do();
            self::assertMatchesRegularExpression('/^undelivered +nothing$/m', $this->larder('stats')[1], $when);
            self::assertStringContainsString("larder_health_flag{journal=\"{$this->path}\"} 0\n", $this->larder('metrics')[1], $when);
            [$code, $printed] = $this->larder('doctor');
            self::assertSame(0, $code, $when);
            self::assertStringContainsString("ok      journal {$this->path}: The store has missed nothing.\n", $printed, $when);
        }
    }

    public function testWithoutTheOptionNothingIsSaidOfJournals(): void
    {
        foreach (['stats', 'top', 'metrics', 'doctor'] as $command) {
            $input = ['--journal' => []] + ($command === 'top' ? ['--times' => '1'] : []);
            self::assertDoesNotMatchRegularExpression('/journal|undelivered/', $this->larder($command, $input)[1]);
        }
    }

    public function testANamespaceHasAJournalOfItsOwnThatNoOtherShares(): void
    {
        $chaos = new ChaosStore();
        $cache = new Cache($chaos, journal: $this->path);
        $chaos->isDown = true;
        $cache->namespace('a')->namespace('b')->delete('nested');
        $cache->namespace('a.b')->deleteMany(['x', 'y']);
        $found = Journals::at($this->path);
        self::assertSame(
            [$this->path => 0, "{$this->path}+a+b" => 1, "{$this->path}+a.b" => 2],
            array_map(static fn(?Undelivered $held): ?int => $held?->keys, $found),
        );
        self::assertStringContainsString("1 key ({$this->path}+a+b), 2 keys ({$this->path}+a.b)", $this->larder('stats')[1]);
        self::assertSame(["{$this->path}+a.b"], array_keys((array) ($this->json('stats', ['--namespace' => 'a.b'])['undelivered'] ?? null)));
        self::assertSame(1, $this->larder('doctor')[0]);
        $chaos->isDown = false;
        $cache->namespace('a')->namespace('b')->get('nested');
        self::assertSame([0, 0, 2], array_column(Journals::at($this->path), 'keys'));
    }

    public function testWhatAStoreHasMissedIsAlsoShownWhileItIsDown(): void
    {
        $this->cache()->delete('key');
        $down = ['dsn' => 'redis://127.0.0.1:1?retry_after=0'];
        [$code, $printed] = $this->larder('stats', $down);
        self::assertSame([1, "undelivered  1 key ({$this->path})\n"], [$code, $printed]);
        self::assertStringContainsString('is unavailable', $this->errors);
        [$code, $printed] = $this->larder('stats', [...$down, '--json' => true]);
        self::assertSame([1, ['undelivered' => [$this->path => ['keys' => 1, 'tags' => 0, 'clears' => false]]]], [$code, json_decode($printed, true)]);
        [$code, $printed] = $this->larder('top', [...$down, '--times' => '1']);
        self::assertStringContainsString('is unavailable', $printed);
        self::assertStringContainsString("undelivered  1 key ({$this->path})", $printed);
        [$code, $printed] = $this->larder('metrics', $down);
        self::assertSame(1, $code);
        self::assertStringContainsString("larder_health_flag{journal=\"{$this->path}\"} 1\n", $printed);
    }

    public function testAJournalThatIsDamagedStandsForAClear(): void
    {
        file_put_contents($this->path, "nonsense\n");
        self::assertMatchesRegularExpression('/^undelivered +a clear /m', $this->larder('stats')[1]);
        self::assertSame("nonsense\n", file_get_contents($this->path));
    }

    /** As a process holds it that does not let go. */
    public function testAJournalThatCannotBeReadIsNotTakenForAnEmptyOne(): void
    {
        $this->cache()->delete('key');
        $other = fopen($this->path, 'r+');
        self::assertNotFalse($other);
        self::assertTrue(flock($other, \LOCK_EX));
        self::assertMatchesRegularExpression('/^undelivered +unknown, as it cannot be read /m', $this->larder('stats')[1]);
        $metrics = $this->larder('metrics')[1];
        self::assertStringContainsString("larder_health_flag{journal=\"{$this->path}\"} 1\n", $metrics);
        self::assertStringNotContainsString('larder_undelivered', $metrics);
        [$code, $printed] = $this->larder('doctor');
        self::assertSame(1, $code);
        self::assertStringContainsString('It cannot be read.', $printed);
    }

    public function testAPlaceThatIsNoneIsAnError(): void
    {
        $nowhere = ['--journal' => ["{$this->scratch->path}/absent/journal"]];
        foreach (['stats', 'top', 'metrics'] as $command) {
            self::assertSame([2, ''], $this->larder($command, $nowhere), $command);
            self::assertStringContainsString('does not exist', $this->errors);
        }
        [$code, $printed] = $this->larder('doctor', $nowhere);
        self::assertSame(1, $code);
        self::assertStringContainsString('does not exist', $printed);
    }

    public function testADirectoryThatAllUsersMayWriteIntoIsAProblem(): void
    {
        $this->cache()->delete('key');
        chmod($this->scratch->path, 0o707);
        [$code, $printed] = $this->larder('doctor');
        self::assertSame(1, $code);
        self::assertStringContainsString("It cannot be used: \"{$this->scratch->path}\" may be written to by everyone.\n        change: chmod o-w {$this->scratch->path}\n", $printed);
    }

    /** A cache whose store is down, and whose journal is the one that is looked at. */
    private function cache(): Cache
    {
        $chaos = new ChaosStore();
        $chaos->isDown = true;

        return new Cache($chaos, journal: $this->path);
    }

    /**
     * @param array<string, mixed> $input
     *
     * @return array{int, string} the exit code and what was printed
     */
    private function larder(string $command, array $input = []): array
    {
        $answer = $this->line->run($command, $this->input($command, $input));
        $this->errors = $this->line->errors;

        return $answer;
    }

    /**
     * @param array<string, mixed> $input
     *
     * @return array<mixed>
     */
    private function json(string $command, array $input = []): array
    {
        return $this->line->json($command, $this->input($command, $input))[1];
    }

    /**
     * @param array<string, mixed> $input
     *
     * @return array<string, mixed>
     */
    private function input(string $command, array $input): array
    {
        $dsn = $input['dsn'] ?? 'array:';

        return ['--journal' => [$this->path], ...$input, 'dsn' => match ($command) {
            'doctor' => [],
            'metrics' => [$dsn],
            default => $dsn,
        }];
    }
}
