<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Unfinished;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** What is finished while its script ends; RememberContract has the rest. */
#[CoversClass(Unfinished::class)]
final class UnfinishedTest extends TestCase
{
    /** @return iterable<string, array{string}> */
    public static function ends(): iterable
    {
        yield 'in an output buffer that PHP empties' => ['ob_start(fn(): string => $page->finish("the page"));'];
        yield 'in a destructor' => ['$last = new class ($page) { function __construct(private object $page) {} function __destruct() { echo $this->page->finish("the page"); } };'];
        yield 'in a shutdown function' => ['register_shutdown_function(function () use ($page): void { echo $page->finish("the page"); });'];
    }

    #[DataProvider('ends')]
    public function testAValueThatIsFinishedWhenItsScriptEndsIsReturned(string $end): void
    {
        $process = new Process([\PHP_BINARY, '-r', 'require $argv[1]; $page = Larder\Cache::open("array:")->begin("page"); ' . $end . ' exit;', \dirname(__DIR__, 2) . '/vendor/autoload.php']);
        $process->mustRun();
        self::assertSame('the page', $process->getOutput());
        self::assertSame('', $process->getErrorOutput());
    }
}
