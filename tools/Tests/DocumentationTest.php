<?php

declare(strict_types=1);

namespace Larder\Tools\Tests;

use Larder\SharedMemory;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** Runs the examples of the user's pages and compares what they print with what the page says they print. */
#[CoversNothing]
final class DocumentationTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    /** What is neither run nor compared, by its first line, and why. */
    private const NOT_RUN = [
        'fastcgi_cache_path /var/cache/nginx/larder keys_zone=larder:10m max_size=1g inactive=1h;   # beside server { … }' => 'it is for the configuration of nginx',
        'make bench' => 'takes ten minutes; the tests of bench run it with small numbers',
        'composer config repositories.larder vcs <this repository>' => 'a name is to be filled in, and packages come from the network',
        'git clone <this repository> larder' => 'a name is to be filled in; what follows is how the tests begin',
        'cp ext/modules/larder.so "$(php-config --extension-dir)"' => 'changes the PHP of the machine',
        'ACL SETUSER shop on >hunter2 ~larder:* ~larder!* +@read +@write +@scripting +@connection +time +info' => 'is for a server\'s console; RedisUsersTest has this user',
        'ACL SETUSER asking on >hunter4 +@connection +sentinel|get-master-addr-by-name' => 'is for a sentinel\'s console; RedisUsersTest has this user',
        'services:' => 'is for an application of Symfony; MissesTest and DeferredTest have what it calls',
        '# config/packages/larder.yaml' => 'is for an application of Symfony; the tests of integrations/symfony boot one with it',
        "'stores' => [" => 'is for an application of Laravel; the tests of integrations/laravel boot one with it',
        '<!-- app/etc/local.xml -->' => 'is for OpenMage; the tests of integrations/magento1 make what it names',
        "'cache' => [" => 'is for Magento; the tests of integrations/magento2 make what it names',
        'mkdir -p app/etc/larder && cp vendor/larder/magento2/etc/di.xml app/etc/larder/di.xml' => 'is for Magento; FrontendTest of integrations/magento2 reads the file',
        '# /etc/systemd/system/larder.service' => 'is for systemd; what it starts is tested as a command',
        'larder.group = shop' => 'a group of that name is to be there; group.phpt has another',
        'install -d -m 0700 -o www-data -g www-data /var/cache/shop' => 'a user of this name is to be there; StrangersFilesTest has others',
        'install -d -m 2770 -o deploy -g www-data /var/cache/shop' => 'users of these names are to be there; TwoUsersTest has others',
        'sqlite3 /var/cache/site.db ".restore /var/backups/site.db"' => 'needs a program that nothing else does; RestoredDatabaseTest restores by PHP',
    ];

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
        foreach (self::pages('*.md', 'docs/*.md', 'docs/*/*.md', '*/*.md') as $page) {
            yield substr($page, strlen(self::ROOT) + 1) => [$page];
        }
    }

    #[DataProvider('examples')]
    public function testAnExamplePrintsWhatThePageSays(string $code, string $printed): void
    {
        // What an example stores in the temporary directory goes with the test.
        $scratch = new Scratch();
        // As /tmp is: what is put there directly could be another user's.
        chmod($scratch->path, 0o1777);
        $process = new Process(
            [PHP_BINARY, '-d', 'error_reporting=-1', '-d', 'display_errors=1', '-d', 'extension=' . self::ROOT . '/ext/modules/larder.so'],
            self::ROOT,
            ['TMPDIR' => $scratch->path],
            $code,
            null,
        );
        $process->run();
        preg_match_all('/shm:([\w-]+)/', $code, $pools);
        foreach (array_unique($pools[1]) as $pool) {
            SharedMemory::remove($pool);
        }

        self::assertSame(0, $process->getExitCode(), $process->getOutput() . $process->getErrorOutput());
        self::assertSame($printed, $process->getOutput());
    }

    /** Each runs where the user would be: in the checkout, of which a directory that goes with the test has what it needs. */
    public function testEveryOtherBlockIsRunInAShellOrSaysWhyItIsNot(): void
    {
        $left = self::NOT_RUN;
        $run = 0;
        foreach (self::otherBlocks() as $block) {
            $first = (string) strtok($block, "\n");
            if (isset(self::NOT_RUN[$first])) {
                unset($left[$first]);
                continue;
            }
            $scratch = new Scratch();
            symlink(self::ROOT . '/ext', "{$scratch->path}/ext");
            file_put_contents("{$scratch->path}/script.php", '<?php exit(extension_loaded("larder") ? 0 : 1);');
            (new Process(['sh', '-eu', '-c', $block], $scratch->path, timeout: null))->mustRun();
            $run++;
        }
        self::assertGreaterThan(0, $run);
        self::assertSame([], $left, 'It is on no page.');
    }

    public function testANewcomerFinishesThePageOfTheEngine(): void
    {
        self::assertLessThanOrEqual(300, count((array) file(self::ROOT . '/ext/README.md')), 'Move details to ext/PROOFS.md.');
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

    /** @return iterable<string> what is no PHP, and not what some prints */
    private static function otherBlocks(): iterable
    {
        foreach (self::pages('README.md', 'docs/*.md') as $page) {
            preg_match_all('/^```(\w*)\n(.*?)^```$/ms', (string) file_get_contents($page), $blocks, PREG_SET_ORDER);
            foreach ($blocks as [, $language, $block]) {
                if ($language !== 'php' && $language !== 'text') {
                    yield $block;
                }
            }
        }
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
