<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Analysis;

use Larder\Tests\Scratch;
use Larder\Tools\Analysis\Circles;
use Larder\Tools\Analysis\Names;
use PHPStan\Testing\RuleTestCase;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;

/** @extends RuleTestCase<Circles> */
#[CoversClass(Circles::class)]
#[CoversClass(Names::class)]
final class CirclesTest extends RuleTestCase
{
    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    protected function getRule(): Circles
    {
        return new Circles($this->scratch->path);
    }

    protected function getCollectors(): array
    {
        return [new Names()];
    }

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
            ['src/Tier → src/Store → src/Tier'],
        ];
        yield 'of what seems to be circles only the one that is' => [
            [
                'Cache' => 'new Cache\Misses();',
                'Cache\Misses' => 'enum Verdict { case Cache; } $that->Cache(); Verdict::Cache; /* \Larder\Cache */ "Larder\\Cache is one"; f(Cache: 1);',
                'A' => 'new B(); new C();',
                'B' => 'new C(); namespace\A::class;',
                'C' => 'class C { function A() {} }',
            ],
            ['src/A.php → src/B.php → src/A.php'],
        ];
        yield 'one of the benchmark' => [
            ['Bench\Run' => 'new Server\Redis();', 'Bench\Server\Redis' => 'new \Larder\Bench\Run();'],
            ['bench/Run.php → bench/Server/Redis.php → bench/Run.php'],
        ];
    }

    /**
     * @param array<string, string> $house
     * @param list<string>          $circles
     */
    #[DataProvider('houses')]
    public function testEachCircleIsTold(array $house, array $circles): void
    {
        $files = [];
        foreach ($house as $class => $code) {
            $file = str_replace('\\', '/', $class);
            $files[] = $path = $this->scratch->path . (str_starts_with($file, 'Bench/') ? '/bench' . substr($file, 5) : "/src/{$file}") . '.php';
            is_dir(\dirname($path)) || mkdir(\dirname($path), recursive: true);
            file_put_contents($path, '<?php namespace ' . implode('\\', \array_slice(explode('\\', "Larder\\{$class}"), 0, -1)) . "; {$code}");
        }

        $this->analyse($files, array_map(static fn(string $circle): array => ["These use each other in a circle: {$circle}.", -1], $circles));
    }
}
