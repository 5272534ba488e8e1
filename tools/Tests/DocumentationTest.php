<?php

declare(strict_types=1);

namespace Larder\Tools\Tests;

use Larder\SharedMemory;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Runs the examples of the user's pages and compares what they print with what the page says they print. */
#[CoversNothing]
final class DocumentationTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    /**
     * @return iterable<string, array{string, string}> the code, and what the page says it prints
     */
    public static function examples(): iterable
    {
        foreach (self::pages('README.md', 'docs/*.md') as $page) {
            preg_match_all('/^```php\n(.*?)^```\n(?:```text\n(.*?)^```$)?/ms', (string) file_get_contents($page), $examples, PREG_SET_ORDER);
            foreach ($examples as $number => $example) {
                yield substr($page, strlen(self::ROOT) + 1) . ', example ' . ($number + 1) => [$example[1], $example[2] ?? ''];
            }
        }
    }

    /**
     * @return iterable<string, array{string}>
     */
    public static function pagesByName(): iterable
    {
        foreach (self::pages('*.md', 'docs/*.md', 'docs/*/*.md', '*/README.md') as $page) {
            yield substr($page, strlen(self::ROOT) + 1) => [$page];
        }
    }

    #[DataProvider('examples')]
    public function testAnExamplePrintsWhatThePageSays(string $code, string $printed): void
    {
        // What an example stores in the temporary directory goes with the test.
        $scratch = new Scratch();
        $process = proc_open(
            [PHP_BINARY, '-d', 'error_reporting=-1', '-d', 'display_errors=1', '-d', 'extension=' . self::ROOT . '/ext/modules/larder.so'],
            [['pipe', 'r'], ['pipe', 'w'], STDERR],
            $pipes,
            self::ROOT,
            ['TMPDIR' => $scratch->path] + getenv(),
        );
        self::assertIsResource($process);
        fwrite($pipes[0], $code);
        fclose($pipes[0]);
        $output = stream_get_contents($pipes[1]);
        preg_match_all('/shm:([\w-]+)/', $code, $pools);
        foreach (array_unique($pools[1]) as $pool) {
            SharedMemory::remove($pool);
        }

        self::assertSame(0, proc_close($process), (string) $output);
        self::assertSame($printed, $output);
    }

    #[DataProvider('pagesByName')]
    public function testEveryLinkToAFileLeadsSomewhere(string $page): void
    {
        preg_match_all('/\]\((?!https?:)([^)#]+)/', (string) file_get_contents($page), $links);
        foreach ($links[1] as $link) {
            self::assertFileExists(dirname($page) . '/' . $link);
        }
        self::assertFileExists($page);
    }

    /**
     * @return list<string>
     */
    private static function pages(string ...$patterns): array
    {
        $pages = [];
        foreach ($patterns as $pattern) {
            array_push($pages, ...(glob(self::ROOT . '/' . $pattern) ?: []));
        }

        return array_values(array_unique($pages));
    }
}
