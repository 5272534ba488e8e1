<?php

declare(strict_types=1);

namespace Larder\Tools\Tests;

use Larder\Tools\Arrows;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(Arrows::class)]
final class ArrowsTest extends TestCase
{
    private string $root;

    protected function setUp(): void
    {
        $this->root = sys_get_temp_dir() . '/larder-arrows-' . bin2hex(random_bytes(6));
        mkdir($this->root);
    }

    protected function tearDown(): void
    {
        exec('rm -rf ' . escapeshellarg($this->root));
    }

    /**
     * @return iterable<string, array{string, string, string}>
     */
    public static function wrongArrows(): iterable
    {
        yield 'the library imports the benchmark' => [
            'src/Cache.php', 'namespace Larder; use Larder\Bench\Timer;', 'src may not use Larder\Bench (Larder\Bench\Timer)',
        ];
        yield 'the library imports it in a group' => [
            'src/Cache.php', 'namespace Larder; use Larder\{Item, Bench\Timer};', 'src may not use Larder\Bench (Larder\Bench\Timer)',
        ];
        yield 'the library names it from its own namespace' => [
            'src/Cache.php', 'namespace Larder; new Bench\Timer();', 'src may not use Larder\Bench (Larder\Bench\Timer)',
        ];
        yield 'the library names it relative to its namespace' => [
            'src/Cache.php', 'namespace Larder; new namespace\Bench\Timer();', 'src may not use Larder\Bench (Larder\Bench\Timer)',
        ];
        yield 'the library names it through an alias' => [
            'src/Cache.php', 'namespace Larder\Store; use Larder as L; new L\Bench\Timer();', 'src may not use Larder\Bench (Larder\Bench\Timer)',
        ];
        yield 'the library names it in a string' => [
            'src/Cache.php', 'namespace Larder; $class = "\\\\Larder\\\\Bench\\\\Timer";', 'src may not use Larder\Bench (Larder\Bench\Timer)',
        ];
        yield 'the library is in the namespace of the benchmark' => [
            'src/Cache.php', 'namespace Larder\Bench;', 'src may not use Larder\Bench (Larder\Bench)',
        ];
        yield 'names differ in case' => [
            'src/Cache.php', 'namespace Larder; use larder\bench\Timer;', 'src may not use Larder\Bench (larder\bench\Timer)',
        ];
        yield 'the library needs Symfony outside the command line' => [
            'src/Cache.php', 'namespace Larder; use Symfony\Component\Console\Command;', 'src may not use Symfony',
        ];
        yield 'the benchmark needs the tests' => [
            'bench/Timer.php', 'namespace Larder\Bench; use Larder\Tests\Unit\FakeClock;', 'bench may not use Larder\Tests',
        ];
        yield 'the shipped contract needs what is not shipped' => [
            'tests/Contract/StoreContract.php', 'namespace Larder\Tests\Contract; use Larder\Tests\Unit\FakeClock;', 'tests/Contract/StoreContract.php may not use Larder\Tests\Unit',
        ];
    }

    /**
     * @return iterable<string, array{array<string, string>, string}>
     */
    public static function wrongIncludes(): iterable
    {
        yield 'the engine includes PHP' => [
            ['ext/engine/pool.c' => '#include "php.h"'], 'ext/engine/pool.c:1: ext/engine may not include a header of PHP (php.h)',
        ];
        yield 'the engine includes Zend, with blanks' => [
            ['ext/engine/pool.c' => "\n #  include  <Zend/zend_types.h>"], 'ext/engine/pool.c:2: ext/engine may not include a header of PHP',
        ];
        yield 'the engine includes the images' => [
            ['ext/engine/pool.c' => '#include "../image/image.h"', 'ext/image/image.h' => ''], 'ext/engine may include nothing outside itself (../image/image.h)',
        ];
        yield 'the engine includes the images by way of a search folder' => [
            ['ext/engine/pool.c' => '#include <image/image.h>', 'ext/image/image.h' => ''], 'ext/engine may include nothing outside itself (image/image.h)',
        ];
        yield 'the images include the engine' => [
            ['ext/image/write.c' => '#include "engine/pool.h"', 'ext/engine/pool.h' => ''], 'ext/image may include nothing but PHP and itself (engine/pool.h)',
        ];
        yield "the engine's tests include PHP" => [
            ['ext/engine-tests/pool.c' => '#include <php.h>'], 'ext/engine-tests may know nothing but ext/engine (php.h)',
        ];
        yield 'the tests of the images include the engine' => [
            ['ext/engine-tests/image/tests.c' => '#include "engine/pool.h"', 'ext/engine/pool.h' => ''], 'the tests of the images may know nothing but PHP and ext/image (engine/pool.h)',
        ];
        yield 'a third file knows both' => [
            ['ext/other.c' => "#include \"engine/pool.h\"\n#include \"image/image.h\"", 'ext/engine/pool.h' => '', 'ext/image/image.h' => ''],
            'ext/other.c:2: only ext/larder.c and ext/shared_memory.c and ',
        ];
    }

    #[DataProvider('wrongArrows')]
    public function testAnArrowThatPointsTheWrongWayIsFound(string $file, string $code, string $sentence): void
    {
        $this->write($file, "<?php\n" . $code);

        $violations = (new Arrows($this->root))->violations();

        self::assertCount(1, $violations, implode("\n", $violations));
        self::assertStringContainsString($sentence, $violations[0]);
    }

    /**
     * @param array<string, string> $files
     */
    #[DataProvider('wrongIncludes')]
    public function testAnIncludeOfTheWrongRoomIsFound(array $files, string $sentence): void
    {
        foreach ($files as $file => $code) {
            $this->write($file, $code);
        }

        $violations = (new Arrows($this->root))->violations();

        self::assertCount(1, $violations, implode("\n", $violations));
        self::assertStringContainsString($sentence, $violations[0]);
    }

    public function testArrowsThatPointTheRightWayAreNotReported(): void
    {
        $this->write('src/Cache.php', '<?php namespace Larder; use Larder\Store; use Psr\Log\LoggerInterface; // Larder\Bench\Timer');
        $this->write('src/Console/Get.php', '<?php namespace Larder\Console; use Symfony\Component\Console\Command\Command; use Larder\Cache;');
        $this->write('bench/Timer.php', '<?php namespace Larder\Bench; use Larder\Cache; use Larder\BenchmarkThatIsNone; function () use ($x) {};');
        $this->write('tests/Unit/CacheTest.php', '<?php namespace Larder\Tests\Unit; use Larder\Bench\Timer;');
        $this->write('ext/engine/pool.c', "#include \"pool.h\"\n#include <stdint.h>\n#include \"engine/clock.h\"\n/* php.h */");
        $this->write('ext/engine/pool.h', '');
        $this->write('ext/engine/clock.h', '');
        $this->write('ext/image/image.h', "#include \"php.h\"\n#include <zend_smart_str.h>");
        $this->write('ext/shared_memory.c', "#include \"php.h\"\n#include \"engine/pool.h\"\n#include \"image/image.h\"");
        $this->write('ext/engine-tests/image/tests.c', "#include \"php.h\"\n#include \"image/image.h\"");
        $this->write('ext/engine-tests/pool.c', '#include "../engine/pool.h"');

        self::assertSame([], (new Arrows($this->root))->violations());
    }

    public function testTheHouseItselfHasNoArrowThatPointsTheWrongWay(): void
    {
        self::assertSame([], (new Arrows(dirname(__DIR__, 2)))->violations());
    }

    private function write(string $file, string $code): void
    {
        $path = $this->root . '/' . $file;
        if (!is_dir(dirname($path))) {
            mkdir(dirname($path), recursive: true);
        }
        file_put_contents($path, $code);
    }
}
