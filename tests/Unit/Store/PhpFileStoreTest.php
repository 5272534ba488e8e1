<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Store\File\PhpFormat;
use Larder\Store\PhpFileStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** What the files of a PhpFileStore are to opcache, and what becomes of what another user has put there. */
#[CoversClass(PhpFileStore::class)]
#[CoversClass(PhpFormat::class)]
final class PhpFileStoreTest extends TestCase
{
    /** As the command line writes what a web server's opcache has; it may not even look at the files any more. */
    public function testAnOpcacheThatNeverLooksAgainStillSeesEveryWrite(): void
    {
        $scratch = new Scratch();
        $store = new PhpFileStore("{$scratch->path}/cache");
        $store->save([new Item('key', ['version' => 0])]);
        $code = <<<'PHP'
            require $argv[1];
            $store = new Larder\Store\PhpFileStore($argv[2]);
            while (fgets(STDIN) !== false) {
                $found = $store->fetch(['key'])->items['key']->value ?? null;
                $isKept = array_filter(glob("{$argv[2]}/??/*.php"), opcache_is_script_cached(...)) !== [];
                echo json_encode([$found, $isKept]), "\n";
            }
            PHP;
        $opcache = \extension_loaded('Zend OPcache') ? [] : ['-d', 'zend_extension=opcache'];
        $process = proc_open(
            [\PHP_BINARY, ...$opcache, '-d', 'opcache.enable=1', '-d', 'opcache.enable_cli=1', '-d', 'opcache.validate_timestamps=0', '-r', $code, '--', \dirname(__DIR__, 3) . '/vendor/autoload.php', "{$scratch->path}/cache"],
            [['pipe', 'r'], ['pipe', 'w'], \STDERR],
            $pipes,
        );
        self::assertIsResource($process);
        $ask = static function () use ($pipes): string {
            fwrite($pipes[0], "\n");

            return trim((string) fgets($pipes[1]));
        };
        self::assertSame('[{"version":0},true]', $ask());
        for ($version = 1; $version <= 5; $version++) {
            $store->save([new Item('key', ['version' => $version])]);
            self::assertSame("[{\"version\":{$version}},true]", $ask());
        }
        $store->delete(['key']);
        self::assertSame('[null,false]', $ask());
        fclose($pipes[0]);
        self::assertSame(0, proc_close($process));
    }

    /** opcache does not get the memory back that a lease would take for a moment. */
    public function testLeasesAreNotKeptByOpcache(): void
    {
        $scratch = new Scratch();
        $code = <<<'PHP'
            require $argv[1];
            $store = new Larder\Store\PhpFileStore($argv[2]);
            $cache = new Larder\Cache($store);
            $say = static function (mixed $answer): void {
                echo json_encode([$answer, count(array_filter(glob("{$GLOBALS['argv'][2]}/??/*.php"), opcache_is_script_cached(...)))]), "\n";
            };
            $cache->set('key', ['value']);
            $say($cache->get('key'));
            $lock = $cache->lock("a name's \0 \\");
            $say($lock->acquire());
            $say($cache->lock("a name's \0 \\")->acquire());
            $say($lock->refresh());
            $say($cache->namespace('space')->remember('computed', fn () => 'new'));
            $say($cache->namespace('space')->get('computed'));
            $say($lock->release());
            PHP;
        $opcache = \extension_loaded('Zend OPcache') ? [] : ['-d', 'zend_extension=opcache'];
        $command = [\PHP_BINARY, ...$opcache, '-d', 'opcache.enable=1', '-d', 'opcache.enable_cli=1', '-r', $code, '--', \dirname(__DIR__, 3) . '/vendor/autoload.php', "{$scratch->path}/cache"];
        exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1', $said, $status);
        self::assertSame(['[["value"],1]', '[true,1]', '[false,1]', '[true,1]', '["new",1]', '["new",2]', '[true,2]'], $said);
        self::assertSame(0, $status);
    }

    public function testNothingIsLeftOfWhatWasReplacedOrDeleted(): void
    {
        $scratch = new Scratch();
        $store = new PhpFileStore($scratch->path);
        for ($i = 0; $i < 10; $i++) {
            $store->save([new Item('key', [$i]), new Item('other', new \ArrayObject([$i]))]);
        }
        $store->touch(['key'], 100);
        self::assertCount(2, self::code($scratch));
        $store->delete(['key']);
        self::assertCount(1, self::code($scratch));
        $store->clear();
        self::assertSame([], self::code($scratch));
    }

    /** @return iterable<string, array{mixed}> */
    public static function values(): iterable
    {
        $deep = 'bottom';
        for ($i = 0; $i < 1_000; $i++) {
            $deep = [$deep];
        }
        yield 'what looks like code' => ["'; exit(1); /* ?> <?php echo \\' \\\\ \$x {\$y} \\"];
        yield 'a backslash at the end' => ['\\'];
        yield 'all bytes' => [implode('', array_map(chr(...), range(0, 255)))];
        yield 'ends of lines' => ["\r\n\n\r\0\x1a"];
        yield 'keys' => [["'" => 1, '\\' => 2, "\0" => 3, -5 => 4, \PHP_INT_MIN => 5, \PHP_INT_MAX => 6, '' => 7, '007' => 8]];
        yield 'numbers' => [[\PHP_INT_MIN, \PHP_INT_MAX, -0.0, 0.1, 1e300, \INF, -\INF, 1.0]];
        yield 'a deep array' => [$deep];
    }

    #[DataProvider('values')]
    public function testEveryValueIsCodeThatReturnsIt(mixed $value): void
    {
        $scratch = new Scratch();
        $store = new PhpFileStore($scratch->path);
        $store->save([new Item("a key's \0 \\", $value, 100, ["tag's \\", "\xff"])]);
        $item = $store->fetch(["a key's \0 \\"])->items["a key's \0 \\"] ?? null;
        // By their serialisations: comparing would also take 1.0 for 1 and -0.0 for 0.0.
        self::assertTrue(serialize($value) === serialize($item?->value), 'Another value came back.');
        self::assertSame(["tag's \\", "\xff"], $item?->tags);
        self::assertSame(["a key's \0 \\"], [...$store->keys()]);
    }

    public function testWhatIsNotItsOwnIsAMissAndRepaired(): void
    {
        $scratch = new Scratch();
        $store = new PhpFileStore("{$scratch->path}/cache");
        foreach (['', '<?php', '<?php return 5;', '<?php return [1, 2, 3, 4, 5, 6, 7];', '<?php this is no PHP', '<?php throw new Exception();'] as $code) {
            $store->save([new Item('key', ['x'])]);
            foreach (glob("{$scratch->path}/cache/??/*.php") ?: [] as $file) {
                file_put_contents($file, $code);
            }
            self::assertSame([], $store->fetch(['key'])->items, $code);
            self::assertSame([], $store->touch(['key'], 100), $code);
        }
        $store->save([new Item('key', ['x'])]);
        foreach (glob("{$scratch->path}/cache/??/????????????*") ?: [] as $link) {
            if (is_link($link)) {
                unlink($link);
                symlink("{$scratch->path}/elsewhere.php", $link);
            }
        }
        file_put_contents("{$scratch->path}/elsewhere.php", '<?php touch(__DIR__ . "/ran"); return [];');
        self::assertSame([], $store->fetch(['key'])->items);
        self::assertFileDoesNotExist("{$scratch->path}/ran");
        self::assertSame([], $store->save([new Item('key', ['y'])]));
        self::assertSame(['key'], array_keys((new PhpFileStore("{$scratch->path}/cache"))->fetch(['key'])->items));
    }

    /** What a power cut leaves of files that were written a moment before. */
    public function testAFileThatIsNotWholeIsAMissAndSaysNothing(): void
    {
        $scratch = new Scratch();
        $value = str_repeat('a value of several pages ', 1_000);
        $damages = [
            'nothing' => static fn(string $code): string => '',
            'zeros' => static fn(string $code): string => str_repeat("\0", \strlen($code)),
            'its first page' => static fn(string $code): string => substr($code, 0, 4_096) . str_repeat("\0", \strlen($code) - 4_096),
            'all but a page in the middle' => static fn(string $code): string => substr_replace($code, str_repeat("\0", 4_096), 8_192, 4_096),
            'its last page' => static fn(string $code): string => str_repeat("\0", 4_096) . substr($code, 4_096),
        ];
        foreach ($damages as $left => $damage) {
            $store = new PhpFileStore("{$scratch->path}/cache");
            $store->save([new Item('key', $value)]);
            foreach (glob("{$scratch->path}/cache/??/*.php") ?: [] as $file) {
                file_put_contents($file, $damage((string) file_get_contents($file)));
            }
            ob_start();
            $found = $store->fetch(['key'])->items;
            $touched = $store->touch(['key'], 100);
            self::assertSame('', ob_get_clean(), 'It was sent to the visitor.');
            self::assertSame([[], []], [array_keys($found), $touched], "There was {$left}.");
            self::assertSame([], $store->save([new Item('key', 'new')]));
            self::assertSame('new', $store->fetch(['key'])->items['key']->value ?? null);
        }
    }

    /** Nor is it sent to the visitor, as opcache would run zeros as what is outside of PHP's tags. */
    public function testOpcacheDoesNotTakeUpAFileThatIsNotWhole(): void
    {
        $scratch = new Scratch();
        $store = new PhpFileStore("{$scratch->path}/cache");
        $store->save([new Item('whole', [1]), new Item('zeros', [2]), new Item('empty', [3])]);
        foreach (glob("{$scratch->path}/cache/??/*.php") ?: [] as $file) {
            $code = (string) file_get_contents($file);
            str_contains($code, "return ['zeros'") && file_put_contents($file, str_repeat("\0", \strlen($code)));
            str_contains($code, "return ['empty'") && file_put_contents($file, '');
            // opcache keeps nothing that is younger.
            touch($file, time() - 60);
        }
        $code = <<<'PHP'
            require $argv[1];
            for ($times = 0; $times < 2; $times++) {
                $found = (new Larder\Store\PhpFileStore($argv[2]))->fetch(['whole', 'zeros', 'empty'])->items;
            }
            echo json_encode([array_keys($found), count(array_filter(glob("{$argv[2]}/??/*.php"), opcache_is_script_cached(...)))]);
            PHP;
        $opcache = \extension_loaded('Zend OPcache') ? [] : ['-d', 'zend_extension=opcache'];
        $process = new Process([\PHP_BINARY, ...$opcache, '-d', 'opcache.enable=1', '-d', 'opcache.enable_cli=1', '-r', $code, '--', \dirname(__DIR__, 3) . '/vendor/autoload.php', "{$scratch->path}/cache"], timeout: null);
        self::assertSame('[["whole"],1]', $process->mustRun()->getOutput());
    }

    public function testADirectoryThatOthersMayWriteToIsRefused(): void
    {
        foreach ([0o777 => 'may be written to by everyone; chmod o-w ', 0o770 => 'may be written to by its group'] as $mode => $message) {
            $scratch = new Scratch();
            chmod($scratch->path, $mode);
            try {
                new PhpFileStore($scratch->path);
                self::fail('Others may put code there.');
            } catch (InvalidOption $mistake) {
                self::assertStringContainsString($message, $mistake->getMessage());
            }
        }
    }

    public function testTheDirectoryOfAnotherUserIsRefused(): void
    {
        $this->expectException(InvalidOption::class);
        $this->expectExceptionMessage('belongs to another user');
        // Whichever user runs this, one of the two is not theirs.
        $scratch = new Scratch();
        if (posix_geteuid() === 0) {
            chown($scratch->path, 65_534);
        }
        new PhpFileStore(posix_geteuid() === 0 ? $scratch->path : '/usr');
    }

    public function testCodeInADirectoryThatAnotherUserHasMadeMeanwhileIsNotRun(): void
    {
        $scratch = new Scratch();
        $directory = "{$scratch->path}/cache";
        $early = new PhpFileStore($directory);
        $trap = new PhpFileStore($directory);
        $trap->save([new Item('key', ['x'])]);
        $code = "<?php touch('{$scratch->path}/ran'); return [];";
        foreach ((glob("{$directory}/??/*.php") ?: []) as $file) {
            $other = preg_replace('/-[0-9a-f]+\.php$/', '-' . substr(hash('xxh3', $code), 0, 14) . '.php', $file);
            self::assertIsString($other);
            file_put_contents($other, $code);
            $link = substr($file, 0, (int) strpos($file, '.', -30));
            self::assertTrue(is_link($link));
            unlink($link);
            symlink(basename($other), $link);
        }
        if (posix_geteuid() === 0) {
            chown($directory, 65_534);
        } else {
            chmod($directory, 0o770);
        }
        try {
            self::assertSame([], $early->fetch(['key'])->items);
        } catch (StoreUnavailable) {
            // It is not used at all.
        }
        self::assertFileDoesNotExist("{$scratch->path}/ran");
        if (posix_geteuid() === 0) {
            chown($directory, 0);
        } else {
            chmod($directory, 0o700);
        }
        self::assertSame([], $early->fetch(['key'])->items);
        self::assertFileExists("{$scratch->path}/ran", 'It would have been.');
    }

    /** @return list<string> */
    private static function code(Scratch $scratch): array
    {
        return glob("{$scratch->path}/??/*.php") ?: [];
    }
}
