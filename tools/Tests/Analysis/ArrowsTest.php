<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Analysis;

use Larder\Tests\Scratch;
use Larder\Tools\Analysis\Arrows;
use Larder\Tools\Analysis\Names;
use PHPStan\Testing\RuleTestCase;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;

/** @extends RuleTestCase<Arrows> */
#[CoversClass(Arrows::class)]
#[CoversClass(Names::class)]
final class ArrowsTest extends RuleTestCase
{
    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    protected function getRule(): Arrows
    {
        return new Arrows($this->scratch->path);
    }

    protected function getCollectors(): array
    {
        return [new Names()];
    }

    /** @return iterable<string, array{string, string, string}> */
    public static function wrongArrows(): iterable
    {
        yield 'the library imports the benchmark' => ['src/Cache.php', 'namespace Larder; use Larder\Bench\Timer;', 'src may not use Larder\Bench (Larder\Bench\Timer).'];
        yield 'the library imports it in a group' => ['src/Cache.php', 'namespace Larder; use Larder\{Item, Bench\Timer};', 'src may not use Larder\Bench (Larder\Bench\Timer).'];
        yield 'the library names it from its own namespace' => ['src/Cache.php', 'namespace Larder; new Bench\Timer();', 'src may not use Larder\Bench (Larder\Bench\Timer).'];
        yield 'the library names it relative to its namespace' => ['src/Cache.php', 'namespace Larder; new namespace\Bench\Timer();', 'src may not use Larder\Bench (Larder\Bench\Timer).'];
        yield 'the library names it through an alias' => ['src/Cache.php', 'namespace Larder\Store; use Larder as L; new L\Bench\Timer();', 'src may not use Larder\Bench (Larder\Bench\Timer).'];
        yield 'the library names it in a string' => ['src/Cache.php', 'namespace Larder; $class = "\\\\Larder\\\\Bench\\\\Timer";', 'src may not use Larder\Bench (Larder\Bench\Timer).'];
        yield 'names differ in case' => ['src/Cache.php', 'namespace Larder; use larder\bench\Timer;', 'src may not use Larder\Bench (larder\bench\Timer).'];
        yield 'the library needs Symfony outside the command line' => ['src/Cache.php', 'namespace Larder; use Symfony\Component\Console\Command;', 'src may not use Symfony (Symfony\Component\Console\Command).'];
        yield 'the benchmark needs the tests' => ['bench/Timer.php', 'namespace Larder\Bench; use Larder\Tests\Unit\FakeClock;', 'bench may not use Larder\Tests (Larder\Tests\Unit\FakeClock).'];
        yield 'the shipped contract needs what is not shipped' => ['tests/Contract/StoreContract.php', 'namespace Larder\Tests\Contract; use Larder\Tests\Unit\FakeClock;', 'tests/Contract may not use Larder\Tests\Unit (Larder\Tests\Unit\FakeClock).'];
    }

    #[DataProvider('wrongArrows')]
    public function testAnArrowThatPointsTheWrongWayIsFound(string $file, string $code, string $sentence): void
    {
        $this->analyse([$this->write($file, $code)], [[$sentence, 1]]);
    }

    public function testArrowsThatPointTheRightWayAreNotReported(): void
    {
        $this->analyse([
            $this->write('src/Cache.php', 'namespace Larder; use Larder\Store; use Psr\Log\LoggerInterface; // Larder\Bench\Timer'),
            $this->write('src/Console/Get.php', 'namespace Larder\Console; use Symfony\Component\Console\Command\Command; use Larder\Cache;'),
            $this->write('bench/Timer.php', 'namespace Larder\Bench; use Larder\Cache; use Larder\BenchmarkThatIsNone; function () use ($x) {};'),
            $this->write('tests/Unit/CacheTest.php', 'namespace Larder\Tests\Unit; use Larder\Bench\Timer;'),
        ], []);
    }

    private function write(string $file, string $code): string
    {
        $path = "{$this->scratch->path}/{$file}";
        is_dir(\dirname($path)) || mkdir(\dirname($path), recursive: true);
        file_put_contents($path, "<?php {$code}");

        return $path;
    }
}
