<?php

declare(strict_types=1);

namespace Larder\Tools\Tests;

use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** Which C file may include which: the linter "arrows". */
#[CoversNothing]
final class IncludesTest extends TestCase
{
    /** @return iterable<string, array{array<string, string>, string}> files, and what is said of them */
    public static function wrongIncludes(): iterable
    {
        yield 'the engine includes PHP' => [['ext/engine/pool.c' => '#include "php.h"'], 'php.h: No such file'];
        yield 'the engine includes the images' => [
            ['ext/engine/pool.c' => '#include "../image/image.h"', 'ext/image/image.h' => ''], 'ext/engine/pool.c may not include ext/image/image.h',
        ];
        yield 'the engine includes the images by way of a search folder' => [
            ['ext/engine/pool.c' => '#include <image/image.h>', 'ext/image/image.h' => ''], 'ext/engine/pool.c may not include ext/image/image.h',
        ];
        yield 'the images include the engine' => [
            ['ext/image/write.c' => '#include "engine/pool.h"', 'ext/engine/pool.h' => ''], 'ext/image/write.c may not include ext/engine/pool.h',
        ];
        yield "the engine's tests include PHP" => [['ext/engine-tests/pool.c' => '#include <php.h>'], 'php.h: No such file'];
        yield 'the tests of the images include the engine' => [
            ['ext/engine-tests/image/tests.c' => '#include "engine/pool.h"', 'ext/engine/pool.h' => ''], 'ext/engine-tests/image/tests.c may not include ext/engine/pool.h',
        ];
        yield 'parts of the engine are in a circle' => [
            ['ext/engine/pin.c' => '#include "pin.h"', 'ext/engine/pin.h' => '#include "slot.h"', 'ext/engine/slot.c' => '#include "pin.h"', 'ext/engine/slot.h' => ''],
            'parts of ext/engine include each other in a circle',
        ];
        yield 'the extension includes an inner part of the engine' => [
            ['ext/storing.c' => '#include "engine/pool.h"', 'ext/engine/pool.h' => ''], 'ext/storing.c may not include engine/pool.h',
        ];
        yield 'parts of the images are in a circle' => [
            ['ext/image/ask.c' => '#include "survey.h"', 'ext/image/ask.h' => '', 'ext/image/survey.c' => '', 'ext/image/survey.h' => '#include "ask.h"'],
            'parts of ext/image include each other in a circle',
        ];
    }

    /** @param array<string, string> $files */
    #[DataProvider('wrongIncludes')]
    public function testAnIncludeOfTheWrongRoomIsFound(array $files, string $sentence): void
    {
        $lint = self::lint($files);

        self::assertSame(1, $lint->getExitCode());
        self::assertStringContainsString($sentence, $lint->getOutput() . $lint->getErrorOutput());
    }

    public function testIncludesOfTheRightRoomAreNotReported(): void
    {
        $lint = self::lint([
            'ext/engine/pool.c' => "#include \"pool.h\"\n#include <stdint.h>\n#include \"engine/clock.h\"\n/* php.h */",
            'ext/engine/pool.h' => '',
            'ext/engine/clock.h' => '',
            'ext/image/image.h' => "#include \"php.h\"\n#include <zend_smart_str.h>",
            'ext/shared_memory.c' => "#include \"php.h\"\n#include \"engine/larder.h\"\n#include \"engine/get.h\"\n#include \"image/image.h\"",
            'ext/engine/larder.h' => '',
            'ext/engine/get.h' => '',
            'ext/engine-tests/image/tests.c' => "#include \"php.h\"\n#include \"image/image.h\"",
            'ext/engine-tests/pool.c' => '#include "../engine/pool.h"',
        ]);

        self::assertSame([0, "== arrows\n", ''], [$lint->getExitCode(), $lint->getOutput(), $lint->getErrorOutput()]);
    }

    /** @param array<string, string> $files */
    private static function lint(array $files): Process
    {
        $scratch = new Scratch();
        foreach ([...$files, 'tools/lint' => (string) file_get_contents(__DIR__ . '/../lint')] as $file => $code) {
            is_dir(\dirname("{$scratch->path}/{$file}")) || mkdir(\dirname("{$scratch->path}/{$file}"), recursive: true);
            file_put_contents("{$scratch->path}/{$file}", "{$code}\n");
        }
        (new Process(['git', 'init', '--quiet'], $scratch->path))->mustRun();
        $lint = new Process(['bash', 'tools/lint', 'arrows'], $scratch->path);
        $lint->run();

        return $lint;
    }
}
