<?php

declare(strict_types=1);

namespace Larder\Magento1\Tests;

use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
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

    private function start(string $dsn, string $code): Process
    {
        $xml = '<config><global><larder_session>' . ($dsn === '' ? '' : '<dsn>' . htmlspecialchars($dsn, \ENT_XML1) . '</dsn>') . '</larder_session></global></config>';
        $begin = 'require ' . var_export(self::packages() . '/autoload.php', true) . '; require ' . var_export(__DIR__ . '/Mage.php', true) . '; call_user_func("Larder_Session_Handler::start");';
        $process = new Process(
            [PHP_BINARY, '-d', 'error_reporting=-1', '-d', 'display_errors=1', '-d', 'apc.enable_cli=1', '-d', 'session.use_cookies=0', '-d', 'session.use_only_cookies=0', '-d', 'session.cache_limiter=', '-r', "{$begin} {$code}"],
            env: ['LOCAL_XML' => $xml],
            timeout: null,
        );
        $process->start();

        return $process;
    }
}
