<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\TestCase;

/** `larder top` in a terminal of 80 columns, ended with Ctrl-C. */
#[CoversNothing]
final class TerminalTest extends TestCase
{
    public function testTopIsLiveInATerminalUntilItIsInterrupted(): void
    {
        $scratch = new Scratch();
        $dsn = "sqlite:{$scratch->path}/cache.db";
        Cache::open($dsn)->set('page:1', 'x');
        $command = implode(' ', array_map(escapeshellarg(...), [\PHP_BINARY, \dirname(__DIR__, 2) . '/bin/larder', 'top', $dsn, '--interval=0.1']));
        // The program "script" gives what it runs a terminal of its own. It echoes nothing: "^C" would stand in a line that may be full.
        $process = proc_open(
            ['script', '--quiet', '--flush', '--return', '--command', "stty cols 80 rows 24 -echo; exec {$command}", '/dev/null'],
            [['pipe', 'r'], ['pipe', 'w'], \STDERR],
            $pipes,
            null,
            ['TERM' => 'xterm', 'PATH' => (string) getenv('PATH')],
        );
        self::assertIsResource($process);
        $shown = '';
        while (substr_count($shown, 'hit ratio') < 3) {
            $more = fread($pipes[1], 8_192);
            self::assertIsString($more);
            self::assertFalse($more === '' && feof($pipes[1]), $shown);
            $shown .= $more;
        }
        fwrite($pipes[0], "\x03");
        while (!feof($pipes[1])) {
            $shown .= fread($pipes[1], 8_192);
        }
        proc_close($process);
        self::assertStringContainsString("\e[1;1H", $shown, 'It draws over what it drew.');
        self::assertStringContainsString('page', $shown);
        foreach (preg_split('/\r?\n|\e\[[0-9;]*[A-Za-z]/', $shown) ?: [] as $line) {
            self::assertLessThanOrEqual(80, mb_strwidth($line), $line);
        }
    }

    public function testTopEndsWhenItIsNotReadAnyMore(): void
    {
        foreach (['', ' --json'] as $option) {
            $larder = escapeshellarg(\PHP_BINARY) . ' ' . escapeshellarg(\dirname(__DIR__, 2) . '/bin/larder') . " top array: --interval=0.1{$option}";
            // The shell waits for all of a pipeline, top as well.
            self::assertSame("1\n", shell_exec("{$larder} | head -n 1 | wc -l"));
        }
    }

    public function testWhatCannotBeUnderstoodIsTheExitCodeTwoAndNothingOnTheStandardOutput(): void
    {
        foreach (['unheard-of', 'get', 'get array:', 'get array: key --nonsense', 'get nothing: key', 'set array: key 1 --ttl=soon'] as $arguments) {
            exec(escapeshellarg(\PHP_BINARY) . ' ' . escapeshellarg(\dirname(__DIR__, 2) . "/bin/larder") . " {$arguments} 2>/dev/null", $lines, $code);
            self::assertSame([2, []], [$code, $lines], $arguments);
        }
    }

    /** On a terminal it is not asked whether to run another command, which may delete everything. */
    public function testAMistypedCommandIsTheExitCodeTwoOnATerminalAsWell(): void
    {
        $command = implode(' ', array_map(escapeshellarg(...), [\PHP_BINARY, \dirname(__DIR__, 2) . '/bin/larder', 'flsh']));
        foreach ([$command . ' 2>&1', 'script --quiet --return --command ' . escapeshellarg($command) . ' /dev/null'] as $line) {
            $lines = [];
            exec("COLUMNS=400 {$line} </dev/null", $lines, $code);
            $said = implode("\n", $lines);
            self::assertSame(2, $code, $said);
            self::assertStringContainsString('There is no command "flsh"; did you mean "flush"?', $said);
        }
    }

    /** And not of the one in which Composer was run last. */
    public function testTheVersionIsThatOfTheCheckout(): void
    {
        $root = \dirname(__DIR__, 2);
        $said = (string) shell_exec(escapeshellarg(\PHP_BINARY) . ' ' . escapeshellarg("{$root}/bin/larder") . ' -V');
        $scratch = new Scratch();
        self::assertMatchesRegularExpression('/^larder of the checkout \S+, (extension \S+|without the extension), PHP \S+$/D', trim($said));
        // A copy of the library in a checkout of its own.
        shell_exec('cp -a ' . implode(' ', array_map(escapeshellarg(...), ["{$root}/bin", "{$root}/src", $scratch->path])));
        $git = 'git -c user.name=test -c user.email=test@example.com -c init.defaultBranch=main -C ' . escapeshellarg($scratch->path);
        shell_exec("{$git} init --quiet && {$git} commit --quiet --allow-empty --message=One");
        $commit = trim((string) shell_exec("{$git} rev-parse --short=12 HEAD"));
        $version = 'require $argv[1]; require $argv[2]; echo Larder\\Console\\Version::text();';
        $said = (string) shell_exec(implode(' ', array_map(escapeshellarg(...), [\PHP_BINARY, '-r', $version, '--', "{$root}/vendor/autoload.php", "{$scratch->path}/src/Console/Version.php"])));
        self::assertStringStartsWith("of the checkout {$commit}", $said);
    }

    public function testTheProgramRunsFromAProjectThatLinksToThePackage(): void
    {
        $scratch = new Scratch();
        mkdir("{$scratch->path}/elsewhere/bin", 0o700, true);
        $root = \dirname(__DIR__, 2);
        copy("{$root}/bin/larder", "{$scratch->path}/elsewhere/bin/larder");
        // As Composer's own vendor/bin/larder begins.
        file_put_contents("{$scratch->path}/larder", '<?php $GLOBALS["_composer_autoload_path"] = ' . var_export("{$root}/vendor/autoload.php", true) . '; return include __DIR__ . "/elsewhere/bin/larder";');
        self::assertStringContainsString('get', (string) shell_exec(escapeshellarg(\PHP_BINARY) . ' ' . escapeshellarg("{$scratch->path}/larder") . ' list --raw'));
    }

    public function testTheProgramListsItsCommandsAndCompletes(): void
    {
        $larder = escapeshellarg(\PHP_BINARY) . ' ' . escapeshellarg(\dirname(__DIR__, 2) . '/bin/larder');
        $list = (string) shell_exec("{$larder} list --raw");
        foreach (['get', 'set', 'delete', 'keys', 'tags', 'flush', 'prune', 'stats', 'top', 'metrics', 'doctor', 'size', 'trace', 'bench', 'completion'] as $command) {
            self::assertMatchesRegularExpression("/^{$command}\\s/m", $list);
        }
        self::assertStringContainsString('redis://127.0.0.1', (string) shell_exec("{$larder} _complete --no-interaction --shell=bash --api-version=1 --current=2 --input=larder --input=stats --input=red"));
    }
}
