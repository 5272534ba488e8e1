<?php

declare(strict_types=1);

namespace Larder\Magento1\Tests;

use Larder\Cache;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

#[CoversNothing]
final class SessionTest extends TestCase
{
    /** The place of the Composer packages that this test runs with. */
    private static function packages(): string
    {
        return \dirname((string) (new \ReflectionClass(\Composer\Autoload\ClassLoader::class))->getFileName(), 2);
    }

    public function testOfRequestsOfOneSessionAtTheSameTimeNoneLosesWhatAnotherHasChanged(): void
    {
        $scratch = new Scratch();
        $dsn = "sqlite:{$scratch->path}/sessions.db?timeout=30";
        $code = <<<'PHP'
            for ($request = 0; $request < 10; $request++) {
                session_id('abc');
                session_start();
                $_SESSION['count'] = ($_SESSION['count'] ?? 0) + 1;
                usleep(1_000);
                session_write_close();
            }
            PHP;
        $running = array_map(fn(): Process => $this->start($dsn, $code), range(1, 3));
        foreach ($running as $process) {
            self::assertSame(0, $process->wait());
            self::assertSame('', $process->getOutput());
        }
        $process = $this->start($dsn, "session_id('abc'); session_start(); echo \$_SESSION['count'];");
        self::assertSame(0, $process->wait());
        self::assertSame('30', $process->getOutput());
    }

    public function testSessionsWithoutAPlaceAreToldWhatToSet(): void
    {
        $process = $this->start('', '');
        $process->wait();
        self::assertStringContainsString('set global/larder_session/dsn in local.xml', $process->getOutput());
    }

    public function testAStoreThatMayLoseSessionsIsRefused(): void
    {
        $process = $this->start('apcu:', '');
        $process->wait();
        self::assertStringContainsString('ApcuStore', $process->getOutput());
    }

    /** @return iterable<string, array{string, array<string, string>, int}> */
    public static function lifetimes(): iterable
    {
        $settings = '<web><cookie><cookie_lifetime>7200</cookie_lifetime></cookie></web><admin><security><session_cookie_lifetime>86400</session_cookie_lifetime></security></admin>';
        yield 'a customer' => [$settings, ['IS_ADMIN' => '0'], 7200];
        yield 'the administration' => [$settings, ['IS_ADMIN' => '1'], 86400];
        yield 'a cookie that ends with the browser' => ['<web><cookie><cookie_lifetime>0</cookie_lifetime></cookie></web>', ['IS_ADMIN' => '0'], 1440];
        yield 'no setting' => ['', ['IS_ADMIN' => '1'], 1440];
    }

    /** @param array<string, string> $environment */
    #[DataProvider('lifetimes')]
    public function testASessionLivesAsLongAsTheShopSays(string $settings, array $environment, int $seconds): void
    {
        $scratch = new Scratch();
        $dsn = "sqlite:{$scratch->path}/sessions.db";
        $before = time();
        $process = $this->start($dsn, "session_id('abc'); session_start(); \$_SESSION['cart'] = 1;", $settings, $environment);
        self::assertSame(0, $process->wait(), $process->getOutput());
        $expiry = Cache::open($dsn)->fetch(['session:abc'])->items['session:abc']->expiry ?? 0;
        self::assertGreaterThanOrEqual($before + $seconds, $expiry);
        self::assertLessThanOrEqual(time() + $seconds + 1, $expiry);
    }

    /** @param array<string, string> $environment */
    private function start(string $dsn, string $code, string $settings = '', array $environment = []): Process
    {
        preg_match('~<config>.*</config>~s', (string) file_get_contents(__DIR__ . '/../../../docs/magento.md'), $page);
        $place = $dsn === '' ? '' : '<dsn>' . htmlspecialchars($dsn, \ENT_XML1) . '</dsn>';
        $xml = (string) preg_replace('~(<larder_session>).*(</larder_session>)~s', "\\1{$place}\\2", $page[0] ?? '');
        $xml = str_replace('</config>', "<default>{$settings}</default></config>", $xml);
        $begin = 'require ' . var_export(self::packages() . '/autoload.php', true) . '; require ' . var_export(__DIR__ . '/Mage.php', true) . '; Mage::setSaveHandler();';
        $process = new Process(
            [PHP_BINARY, '-d', 'error_reporting=-1', '-d', 'display_errors=1', '-d', 'apc.enable_cli=1', '-d', 'session.use_cookies=0', '-d', 'session.use_only_cookies=0', '-d', 'session.cache_limiter=', '-d', 'session.gc_maxlifetime=1440', '-r', "{$begin} {$code}"],
            env: ['LOCAL_XML' => $xml] + $environment,
            timeout: null,
        );
        $process->start();

        return $process;
    }
}
