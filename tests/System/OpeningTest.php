<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Tests\Pools;
use Larder\Tests\Scratch;
use Larder\Tests\System\Extension\Workers;
use PHPUnit\Framework\Attributes\DataProvider;
use Symfony\Component\Process\Process;

/** PHP loads each class in each request that needs it. So a request that only reads is to need few. */
final class OpeningTest extends OneRedis
{
    #[DataProvider('stores')]
    public function testAFirstReadLoadsTheClassesThatItNeedsAndNoOthers(string $dsn, int $most): void
    {
        $scratch = new Scratch();
        $pool = 'opening-' . bin2hex(random_bytes(6));
        $dsn = strtr($dsn, ['{socket}' => self::server()->socket, '{pool}' => $pool, '{path}' => $scratch->path]);
        try {
            // The first reads may have to write down what the later ones find.
            $this->loads("\$cache = Larder\\Cache::open(\$argv[1]); \$cache->set('page', 'text') || exit(1); \$cache->get('page') === 'text' || exit(1);", $dsn);
            $loads = $this->loads("Larder\\Cache::open(\$argv[1])->get('page') === 'text' || exit(1);", $dsn);
            self::assertContains('Cache.php', $loads);
            self::assertLessThanOrEqual($most, \count($loads), implode("\n", $loads));
        } finally {
            Pools::remove($pool);
        }
    }

    /** @return iterable<string, array{string, int}> */
    public static function stores(): iterable
    {
        yield 'a pool' => ['shm:{pool}', 14];
        yield 'Redis' => ['redis+unix:{socket}', 28];
        yield 'a database' => ['sqlite:{path}/cache.db', 29];
        yield 'a tier' => ['shm:{pool} > sqlite:{path}/cache.db', 31];
    }

    /** @return list<string> what of the library's files the code loads */
    private function loads(string $code, string $dsn): array
    {
        $root = \dirname(__DIR__, 2);
        $code = 'require ' . var_export("{$root}/vendor/autoload.php", true) . "; {$code} echo implode(\"\\n\", get_included_files());";
        $process = new Process([\PHP_BINARY, '-d', 'extension=' . Workers::extension(), '-r', $code, '--', $dsn], timeout: null);
        $files = explode("\n", $process->mustRun()->getOutput());

        return array_values(array_map(
            static fn(string $file): string => substr($file, \strlen("{$root}/src/")),
            array_filter($files, static fn(string $file): bool => str_starts_with($file, "{$root}/src/")),
        ));
    }
}
