<?php

declare(strict_types=1);

namespace Larder\Tests\System\Extension;

use Larder\SharedMemory;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\TestCase;

/** The extension is upgraded to a version that lays out pools differently while processes with the old one run. */
#[CoversNothing]
final class UpgradeTest extends TestCase
{
    private const SIZE = 16 << 20;
    private const ITEMS = 200;
    private const OLD_FORMAT = 1;

    private static ?Scratch $built = null;

    private string $pool = '';

    private ?Scratch $scratch = null;

    private ?Workers $old = null;

    private ?Workers $new = null;

    public static function setUpBeforeClass(): void
    {
        self::assertTrue(\extension_loaded('larder'), 'The extension is not loaded; run this suite by `make test SUITES=system`.');
        self::$built = new Scratch();
        self::build(self::$built->path, self::OLD_FORMAT);
    }

    public static function tearDownAfterClass(): void
    {
        self::$built = null;
    }

    protected function setUp(): void
    {
        $this->pool = 'upgrade-' . bin2hex(random_bytes(4));
        $this->scratch = new Scratch();
        copy(__DIR__ . '/scripts/life.inc', $this->scratch->path . '/life.php');
        $this->old = $this->boot(self::$built?->path . '/larder.so');
        self::assertSame('stored', $this->ask($this->old, 'store'));
    }

    protected function tearDown(): void
    {
        $this->old?->stop();
        $this->new?->stop();
        SharedMemory::remove($this->pool);
    }

    public function testOldAndNewWorkersKeepTheirPoolsAndTheOldOneGoesWithTheLastOfItsWorkers(): void
    {
        $this->new = $this->boot(Workers::extension());
        self::assertSame('0', $this->ask($this->new, 'count'));
        self::assertSame('stored', $this->ask($this->new, 'store'));
        for ($i = 0; $i < 3; $i++) {
            self::assertSame((string) self::ITEMS, $this->ask($this->old, 'count'), 'What the old ones stored is theirs.');
            self::assertSame((string) self::ITEMS, $this->ask($this->new, 'count'), 'What the new ones stored is theirs.');
        }
        self::assertSame([$this->pool], array_values(array_intersect(SharedMemory::names(), [$this->pool])));
        self::assertCount(2, $this->files());
        $this->old?->stop();
        $this->expect("echo Larder\\SharedMemory::open('{$this->pool}', " . self::SIZE . ")->statistics()['items'];", (string) self::ITEMS);
        self::assertCount(1, $this->files(), 'No process holds the old one.');
        self::assertSame((string) self::ITEMS, $this->ask($this->new, 'count'));
    }

    public function testTheCommandLineThatIsNewAlreadyFlushesThePoolOfOldWorkers(): void
    {
        exec($this->php() . ' bin/larder flush --force ' . escapeshellarg("shm:{$this->pool}") . ' 2>&1', $said, $status);
        self::assertSame(0, $status, implode("\n", $said));
        self::assertSame('0', $this->ask($this->old, 'count'));
        self::assertSame('stored', $this->ask($this->old, 'store'));
        self::assertSame((string) self::ITEMS, $this->ask($this->old, 'count'));
    }

    public function testAPoolOfAnotherVersionIsNotSavedAndNotHarmed(): void
    {
        exec($this->php() . ' bin/larder save ' . escapeshellarg($this->pool) . ' 2>&1', $said, $status);
        self::assertSame(1, $status);
        self::assertStringContainsString("another version's of the extension", implode("\n", $said));
        self::assertSame((string) self::ITEMS, $this->ask($this->old, 'count'));
    }

    /** The extension of that format, by the compiler alone: phpize would take ten times as long. */
    private static function build(string $to, int $format): void
    {
        $root = \dirname(__DIR__, 3) . '/ext';
        preg_match_all('~[a-z_]+(?:/[a-z_]+)?\.c\b~', (string) file_get_contents("{$root}/config.m4"), $sources);
        $flags = '-std=gnu11 -O0 -w -fPIC -fvisibility=hidden -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 -DCOMPILE_DL_LARDER -DLARDER_FORMAT=' . $format . 'u';
        $makefile = "SOURCES = " . implode(' ', $sources[0]) . "\n"
            . "larder.so: \$(SOURCES:%.c={$to}/%.o)\n\tcc -shared -o \$@ \$^\n"
            . "{$to}/%.o: {$root}/%.c\n\t@mkdir -p \$(@D)\n\tcc {$flags} -I{$root} \$(INCLUDES) -c \$< -o \$@\n";
        file_put_contents("{$to}/Makefile", $makefile);
        $config = 'php-config' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        exec('make -s -j2 -C ' . escapeshellarg($to) . " INCLUDES=\"\$({$config} --includes 2>/dev/null || php-config --includes)\" 2>&1", $said, $status);
        self::assertSame(0, $status, implode("\n", $said));
    }

    private function boot(string $extension): Workers
    {
        return new Workers(['extension' => $extension, 'larder.size' => self::SIZE, 'larder.snapshot' => (string) $this->scratch?->path], 1);
    }

    private function ask(?Workers $workers, string $do): ?string
    {
        return $workers?->client->get($this->scratch?->path . '/life.php', ['pool' => $this->pool, 'do' => $do, 'items' => self::ITEMS]);
    }

    /** @return list<string> */
    private function files(): array
    {
        return glob('/dev/shm/larder-' . posix_geteuid() . "/{$this->pool}@*") ?: [];
    }

    private function expect(string $code, string $expected): void
    {
        exec($this->php() . ' -r ' . escapeshellarg($code) . ' 2>&1', $said);
        self::assertSame($expected, implode("\n", $said));
    }

    private function php(): string
    {
        return 'cd ' . escapeshellarg(\dirname(__DIR__, 3)) . ' && ' . escapeshellarg(PHP_BINARY)
            . ' -d extension=' . escapeshellarg(Workers::extension()) . ' -d larder.size=' . self::SIZE
            . ' -d larder.snapshot=' . escapeshellarg((string) $this->scratch?->path);
    }
}
