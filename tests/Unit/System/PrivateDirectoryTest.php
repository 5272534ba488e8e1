<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\System;

use Larder\Exception\InvalidOption;
use Larder\Store\SqliteStore;
use Larder\System\Distrust;
use Larder\System\Guests;
use Larder\System\PrivateDirectory;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What can be shown with one user. TwoUsersTest and StrangersFilesTest have the rest. */
#[CoversClass(PrivateDirectory::class)]
#[CoversClass(Distrust::class)]
final class PrivateDirectoryTest extends TestCase
{
    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    protected function tearDown(): void
    {
        chmod($this->scratch->path, 0o700);
    }

    /** @return iterable<string, array{int, Guests, ?string}> rights, and the line to change; null: they are fine */
    public static function rights(): iterable
    {
        foreach (Guests::cases() as $guests) {
            foreach ([0o700, 0o755, 0o711, 0o750, 0o2750] as $rights) {
                yield decoct($rights) . " {$guests->name}" => [$rights, $guests, null];
            }
            foreach ([0o777, 0o707, 0o757, 0o2777, 0o703] as $rights) {
                yield decoct($rights) . " {$guests->name}" => [$rights, $guests, 'chmod o-w PATH'];
            }
            yield "1777 {$guests->name}" => [0o1777, $guests, 'name one of its own in it: mkdir -m 0700 PATH/larder-' . posix_geteuid()];
            foreach ([0o770, 0o775, 0o720] as $rights) {
                yield decoct($rights) . " {$guests->name}" => [$rights, $guests, $guests === Guests::RootAndGroup ? 'chmod g-w PATH, or chmod g+s PATH if that group is to share what is in it' : 'chmod g-w PATH'];
            }
            foreach ([0o2770, 0o2775] as $rights) {
                yield decoct($rights) . " {$guests->name}" => [$rights, $guests, $guests === Guests::RootAndGroup ? null : 'chmod g-w PATH'];
            }
        }
    }

    #[DataProvider('rights')]
    public function testWhichOtherUsersMayWriteIntoADirectoryDecidesWhetherItIsUsed(int $rights, Guests $guests, ?string $remedy): void
    {
        chmod($this->scratch->path, $rights);
        $directory = new PrivateDirectory($this->scratch->path, $guests);
        $remedy = $remedy === null ? null : str_replace('PATH', $this->scratch->path, $remedy);
        self::assertSame($remedy, $directory->distrust()?->remedy);
        self::assertSame($remedy, $directory->mistake()?->remedy);
        self::assertSame($remedy === null, $directory->isStillTrusted());
        chmod($this->scratch->path, 0o700);
        self::assertNull($directory->distrust());
        self::assertTrue($directory->isStillTrusted());
    }

    public function testADirectoryBelowOneThatEveryoneMayWriteIntoIsNotUsed(): void
    {
        mkdir("{$this->scratch->path}/cache", 0o700);
        foreach (['cache', 'cache/deeper', 'not/there'] as $below) {
            chmod($this->scratch->path, 0o777);
            $directory = new PrivateDirectory("{$this->scratch->path}/{$below}", Guests::RootAndGroup);
            if ($below === 'not/there') {
                self::assertNull($directory->distrust(), 'There is nothing to distrust yet.');
                continue;
            }
            self::assertSame("chmod o-w {$this->scratch->path}", $directory->distrust()?->remedy);
            // In one that is sticky, as /tmp is, what is one's own stays one's own.
            chmod($this->scratch->path, 0o1777);
            self::assertNull($directory->distrust());
        }
    }

    public function testALinkIsFollowedToWhereItLeadsAndThatPathIsLookedAt(): void
    {
        mkdir("{$this->scratch->path}/open/cache", 0o700, true);
        symlink("{$this->scratch->path}/open", "{$this->scratch->path}/absolute");
        symlink('open/../open', "{$this->scratch->path}/relative");
        symlink('itself', "{$this->scratch->path}/itself");
        foreach (['open', 'absolute', 'relative', './open/.'] as $way) {
            chmod("{$this->scratch->path}/open", 0o755);
            $directory = new PrivateDirectory("{$this->scratch->path}/{$way}/cache", Guests::Root);
            self::assertNull($directory->distrust());
            self::assertSame("{$this->scratch->path}/open/cache", $directory->real());
            chmod("{$this->scratch->path}/open", 0o777);
            self::assertSame("chmod o-w {$this->scratch->path}/open", (new PrivateDirectory("{$this->scratch->path}/{$way}/cache", Guests::Root))->distrust()?->remedy);
        }
        self::assertNull((new PrivateDirectory("{$this->scratch->path}/itself", Guests::Root))->distrust());
        $usual = (string) getcwd();
        chdir("{$this->scratch->path}/open");
        try {
            foreach (['.', './cache', 'cache/../cache'] as $way) {
                self::assertSame("chmod o-w {$this->scratch->path}/open", str_replace(' .', " {$this->scratch->path}/open", (string) (new PrivateDirectory($way, Guests::Root))->distrust()?->remedy));
            }
        } finally {
            chdir($usual);
        }
    }

    public function testFilesAreMadeForTheirUserAloneOrForTheGroupThatIsAskedFor(): void
    {
        foreach ([0o700 => 0o600, 0o755 => 0o600, 0o2770 => 0o660] as $rights => $ofFiles) {
            chmod($this->scratch->path, $rights);
            $directory = new PrivateDirectory($this->scratch->path, Guests::RootAndGroup);
            foreach ([0o000, 0o077] as $mask) {
                $path = "{$this->scratch->path}/" . bin2hex(random_bytes(4));
                $usual = umask($mask);
                try {
                    $file = $directory->open($path);
                } finally {
                    self::assertSame($mask, umask($usual));
                }
                self::assertIsResource($file);
                self::assertTrue($directory->holds($file, $path));
                self::assertSame($ofFiles, (int) fileperms($path) & 0o777);
            }
        }
    }

    public function testAFileIsAFileAndNoLinkAndNoOtherUserCanHaveWrittenIntoIt(): void
    {
        $directory = new PrivateDirectory($this->scratch->path, Guests::RootAndGroup);
        $path = "{$this->scratch->path}/file";
        file_put_contents("{$this->scratch->path}/other", 'precious');
        $refuse = static function (string $remedy) use ($directory, $path): void {
            $file = $directory->open($path);
            self::assertFalse($file !== false && $directory->holds($file, $path));
            self::assertNull($directory->contents($path));
            self::assertSame($remedy, $directory->distrustOf($path)?->remedy);
        };
        file_put_contents($path, 'text');
        chmod($path, 0o602);
        $refuse("rm {$path}, or chmod 0600 {$path} if no other user can have written into it");
        unlink($path);
        posix_mkfifo($path, 0o600);
        $refuse("remove {$path}");
        unlink($path);
        mkdir($path);
        $refuse("remove {$path}");
        rmdir($path);
        symlink('nowhere', $path);
        self::assertFalse($directory->open($path));
        self::assertFileDoesNotExist("{$this->scratch->path}/nowhere");
        unlink($path);
        symlink('other', $path);
        $file = $directory->open($path);
        self::assertTrue($file === false || !$directory->holds($file, $path));
        self::assertSame("rm {$path}", $directory->distrustOf($path)?->remedy);
        unlink($path);
        self::assertNull($directory->distrustOf($path));
        self::assertSame('precious', $directory->contents("{$this->scratch->path}/other"));
        self::assertSame('ci', $directory->contents("{$this->scratch->path}/other", 2, 3));
        self::assertSame('', $directory->contents("{$this->scratch->path}/other", 2, 300));
    }

    public function testAnotherFileOfThatNameIsNotTheOneThatIsOpen(): void
    {
        $directory = new PrivateDirectory($this->scratch->path, Guests::Root);
        $path = "{$this->scratch->path}/file";
        $file = $directory->open($path);
        self::assertIsResource($file);
        self::assertTrue($directory->holds($file, $path));
        unlink($path);
        self::assertFalse($directory->holds($file, $path));
        touch($path);
        self::assertFalse($directory->holds($file, $path));
    }

    public function testWhatEveryoneCouldReadIsTightened(): void
    {
        foreach ([0o700 => 0o600, 0o2770 => 0o660] as $rights => $ofFiles) {
            chmod($this->scratch->path, $rights);
            $directory = new PrivateDirectory($this->scratch->path, Guests::RootAndGroup);
            foreach ([0o644, 0o664, 0o640] as $loose) {
                $path = "{$this->scratch->path}/" . bin2hex(random_bytes(4));
                touch($path);
                chmod($path, $loose);
                $file = $directory->open($path);
                self::assertIsResource($file);
                self::assertTrue($directory->holds($file, $path));
                clearstatcache();
                self::assertSame($loose & $ofFiles, (int) fileperms($path) & 0o777);
            }
        }
    }

    /** It is emptied when the machine restarts, so that the application cannot count on what was made there once. */
    public function testInTmpADatabasesOwnDirectoryIsMade(): void
    {
        chmod($this->scratch->path, 0o1777);
        $path = "{$this->scratch->path}/own/cache.db";
        $store = new SqliteStore($path);
        self::assertDirectoryDoesNotExist(\dirname($path));
        self::assertSame([], $store->fetch(['key'])->items);
        self::assertSame(0o700, (int) fileperms(\dirname($path)) & 0o7777);
        $this->expectException(InvalidOption::class);
        $this->expectExceptionMessage("The directory \"{$this->scratch->path}\" may be written to by everyone; name one of its own in it: mkdir -m 0700 {$this->scratch->path}/larder-");
        new SqliteStore("{$this->scratch->path}/cache.db");
    }

    /** @return iterable<string, array{int, string, string}> rights of the directory for temporary files, the database below it, and what is said */
    public static function temporary(): iterable
    {
        yield 'this user\'s alone' => [0o700, 'own/cache.db', '700'];
        yield 'to be read by others' => [0o755, 'own/cache.db', '700'];
        yield 'two levels below' => [0o700, 'own/deep/cache.db', 'own/deep" is not there; create it'];
        yield 'not sticky, and for all' => [0o777, 'own/cache.db', 'own" is not there; create it'];
        yield 'of a group' => [0o770, 'own/cache.db', 'own" is not there; create it'];
    }

    /** It may be the user's own, as that of a login or of a service of systemd is. */
    #[DataProvider('temporary')]
    public function testADatabasesOwnDirectoryIsMadeInThisUsersDirectoryForTemporaryFiles(int $rights, string $database, string $said): void
    {
        chmod($this->scratch->path, $rights);
        $code = <<<'PHP'
            require $argv[1];
            $path = sys_get_temp_dir() . "/{$argv[2]}";
            try {
                (new Larder\Store\SqliteStore($path))->fetch(['key']);
                echo decoct(fileperms(dirname($path)) & 0o7777);
            } catch (Larder\Exception\StoreUnavailable $mistake) {
                echo $mistake->getMessage();
            }
            PHP;
        $process = proc_open(
            [\PHP_BINARY, '-r', $code, '--', \dirname(__DIR__, 3) . '/vendor/autoload.php', $database],
            [1 => ['pipe', 'w'], 2 => \STDERR],
            $pipes,
            null,
            ['TMPDIR' => $this->scratch->path],
        );
        self::assertIsResource($process);
        self::assertStringContainsString($said, (string) stream_get_contents($pipes[1]));
        self::assertSame(0, proc_close($process));
    }
}
