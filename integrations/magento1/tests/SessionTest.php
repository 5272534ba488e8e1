<?php

declare(strict_types=1);

namespace Larder\Magento1\Tests;

use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\TestCase;

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
        $running = array_map(fn(): mixed => $this->start($dsn, $code), range(1, 3));
        foreach ($running as [$process, $output]) {
            self::assertSame('', stream_get_contents($output));
            self::assertSame(0, proc_close($process));
        }
        [$process, $output] = $this->start($dsn, "session_id('abc'); session_start(); echo \$_SESSION['count'];");
        self::assertSame('30', stream_get_contents($output));
        self::assertSame(0, proc_close($process));
    }

    public function testSessionsWithoutAPlaceAreToldWhatToSet(): void
    {
        [$process, $output] = $this->start('', '');
        self::assertStringContainsString('set global/larder_session/dsn in local.xml', (string) stream_get_contents($output));
        proc_close($process);
    }

    public function testAStoreThatMayLoseSessionsIsRefused(): void
    {
        [$process, $output] = $this->start('apcu:', '');
        self::assertStringContainsString('ApcuStore', (string) stream_get_contents($output));
        proc_close($process);
    }

    /** @return array{resource, resource} */
    private function start(string $dsn, string $code): array
    {
        $xml = '<config><global><larder_session>' . ($dsn === '' ? '' : '<dsn>' . htmlspecialchars($dsn, \ENT_XML1) . '</dsn>') . '</larder_session></global></config>';
        $begin = 'require ' . var_export(self::packages() . '/autoload.php', true) . '; require ' . var_export(__DIR__ . '/Mage.php', true) . '; call_user_func("Larder_Session_Handler::start");';
        $process = proc_open(
            [PHP_BINARY, '-d', 'error_reporting=-1', '-d', 'display_errors=1', '-d', 'apc.enable_cli=1', '-d', 'session.use_cookies=0', '-d', 'session.use_only_cookies=0', '-d', 'session.cache_limiter=', '-r', "{$begin} {$code}"],
            [['pipe', 'r'], ['pipe', 'w'], ['file', '/dev/null', 'w']],
            $pipes,
            null,
            ['LOCAL_XML' => $xml] + getenv(),
        );
        self::assertIsResource($process);
        fclose($pipes[0]);

        return [$process, $pipes[1]];
    }
}
