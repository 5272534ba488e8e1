<?php

declare(strict_types=1);

namespace Larder\Tools\Tests;

use Larder\Tests\Scratch;
use Larder\Tools\Circles;
use Larder\Tools\Files;
use Larder\Tools\PhpNames;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(Circles::class)]
#[CoversClass(Files::class)]
#[CoversClass(PhpNames::class)]
final class CirclesTest extends TestCase
{
    /** @return iterable<string, array{array<string, string>, list<string>}> code by class, and the circles */
    public static function houses(): iterable
    {
        yield 'two by name and by import' => [
            ['Store' => 'use Larder\Store\Redis; new Redis();', 'Store\Redis' => 'function f(\Larder\Store $s) {}', 'Key' => 'new Store();'],
            ['src/Store.php → src/Store/Redis.php → src/Store.php'],
        ];
        yield 'three of one namespace' => [
            ['Store\A' => '/* */ class A extends B {}', 'Store\B' => 'new C();', 'Store\C' => 'A::f();'],
            ['src/Store/A.php → src/Store/B.php → src/Store/C.php → src/Store/A.php'],
        ];
        yield 'two circles' => [
            ['A' => 'new B();', 'B' => 'new A(); new C();', 'C' => 'new D();', 'D' => 'new C();'],
            ['src/A.php → src/B.php → src/A.php', 'src/C.php → src/D.php → src/C.php'],
        ];
        yield 'two folders, with no circle of classes' => [
            ['Tier\Log' => 'new \Larder\Store\Sqlite\Rows();', 'Store\Sqlite\Rows' => '', 'Store\Sqlite' => 'new \Larder\Tier\Event(); new \Larder\Key();', 'Tier\Event' => '', 'Key' => ''],
            ['src/Store → src/Tier → src/Store'],
        ];
        yield 'of what seems to be circles only the one that is' => [
            [
                'Cache' => 'new Cache\Misses();',
                'Cache\Misses' => 'enum Verdict { case Cache; } $this->Cache(); self::Cache; /* \Larder\Cache */ "Larder\\Cache is one"; f(Cache: 1);',
                'A' => 'new B(); new C();',
                'B' => 'new C(); namespace\A::class;',
                'C' => 'class C { function A() {} }',
            ],
            ['src/A.php → src/B.php → src/A.php'],
        ];
    }

    /**
     * @param array<string, string> $house
     * @param list<string>          $circles
     */
    #[DataProvider('houses')]
    public function testEachCircleIsTold(array $house, array $circles): void
    {
        $scratch = new Scratch();
        foreach ($house as $class => $code) {
            $file = "{$scratch->path}/src/" . str_replace('\\', '/', $class) . '.php';
            is_dir(\dirname($file)) || mkdir(\dirname($file), 0777, true);
            $namespace = implode('\\', \array_slice(explode('\\', "Larder\\{$class}"), 0, -1));
            file_put_contents($file, "<?php namespace {$namespace}; {$code}");
        }
        self::assertSame(array_map(static fn(string $circle): string => "These use each other in a circle: {$circle}.", $circles), (new Circles($scratch->path))->violations());
    }

    public function testOneOfTheBenchmarkIsTold(): void
    {
        $scratch = new Scratch();
        mkdir("{$scratch->path}/bench/Server", 0777, true);
        file_put_contents("{$scratch->path}/bench/Server/Redis.php", '<?php namespace Larder\Bench\Server; new \Larder\Bench\Run();');
        file_put_contents("{$scratch->path}/bench/Run.php", '<?php namespace Larder\Bench; new Server\Redis();');
        self::assertSame(['These use each other in a circle: bench/Run.php → bench/Server/Redis.php → bench/Run.php.'], (new Circles($scratch->path))->violations());
    }

    public function testOneOfTheEngineIsTold(): void
    {
        $scratch = new Scratch();
        mkdir("{$scratch->path}/ext/engine", 0777, true);
        foreach (['pin.c' => ['pin.h', 'pool.h'], 'pin.h' => ['slot.h'], 'slot.c' => ['slot.h', 'pin.h'], 'slot.h' => [], 'pool.h' => []] as $file => $headers) {
            file_put_contents("{$scratch->path}/ext/engine/{$file}", implode('', array_map(static fn(string $header): string => "#include \"{$header}\"\n", $headers)));
        }
        self::assertSame(['These use each other in a circle: ext/engine/pin → ext/engine/slot → ext/engine/pin.'], (new Circles($scratch->path))->violations());
    }

    public function testNeitherTheEngineNorTheLibraryNorTheBenchmarkHasOne(): void
    {
        self::assertSame([], (new Circles(\dirname(__DIR__, 2)))->violations());
    }
}
