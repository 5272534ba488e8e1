<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Tests\Scratch;
use Larder\WordPress\PageFiles;
use Larder\WordPress\PageHit;
use Larder\WordPress\PageRequest;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** The files of pages, without WordPress: whatever becomes of a writer, a reader gets a whole page, or none. */
#[CoversClass(PageFiles::class)]
final class PageFilesTest extends TestCase
{
    private const CLASSES = ['Directory', 'PageStore', 'PageFiles', 'PageHit', 'PageRequest'];

    private Scratch $scratch;

    private string $directory;

    private PageFiles $files;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->directory = "{$this->scratch->path}/pages";
        $this->files = new PageFiles($this->directory);
        self::assertNull($this->files->prepare());
    }

    public function testAPageIsThereUntilOneOfItsTagsIsInvalidated(): void
    {
        self::assertTrue($this->store('a', ['post/1', 'post/2']));
        self::assertTrue($this->store('b', ['post/3']));
        self::assertTrue($this->files->invalidate(['post/9', 'post/4']));
        self::assertSame(['a', 'b'], $this->there());
        self::assertTrue($this->files->invalidate(['post/2']));
        self::assertSame(['b'], $this->there());
        self::assertTrue($this->store('a', ['post/1']));
        self::assertSame(['a', 'b'], $this->there());
        self::assertTrue($this->files->invalidate(['everything']));
        self::assertSame([], $this->there());
    }

    public function testAPageFromBeforeAChangeIsNotServedNorStored(): void
    {
        $token = PageRequest::log($this->directory);
        $this->files->invalidate(['post/1']);
        self::assertFalse($this->store('a', ['post/1'], $token));
        self::assertTrue($this->store('b', ['post/2'], $token));
        $this->files->invalidate(['everything']);
        self::assertFalse($this->store('b', ['post/2'], $token));
        self::assertSame([], $this->there());
    }

    public function testALogThatIsFullBeginsAnewAndKillsAllPages(): void
    {
        self::assertTrue($this->store('a', ['post/1']));
        $many = array_map(static fn(int $i): string => "other/{$i}", range(1, 40_000));
        self::assertTrue($this->files->invalidate($many));
        self::assertSame(['a'], $this->there());
        self::assertTrue($this->files->invalidate(['other/0']));
        self::assertSame([], $this->there());
        self::assertCount(1, glob("{$this->directory}/log-*") ?: []);
        self::assertTrue($this->store('a', ['post/1']));
    }

    public function testAWriterThatIsStoppedHoldsUpNoSaveAndNoOldPageIsServed(): void
    {
        self::assertTrue($this->store('a', ['post/1']));
        $token = PageRequest::log($this->directory);
        // What a writer holds that is stopped in the middle, of which one is about to append to this log.
        $lock = fopen("{$this->directory}/log.lock", 'c');
        $log = fopen((glob("{$this->directory}/log-*") ?: [])[0], 'r+');
        self::assertIsResource($lock);
        self::assertIsResource($log);
        self::assertTrue(flock($lock, \LOCK_EX));
        $saving = new PageFiles($this->directory, timeLeft: 0.05);
        self::assertTrue($saving->invalidate(['post/1']));
        self::assertTrue($saving->invalidate(['post/2']));
        self::assertSame([], $this->there());
        self::assertNull($saving->trouble());
        // It goes on.
        fwrite($log, '12345678');
        fclose($log);
        fclose($lock);
        self::assertSame([], $this->there());
        self::assertFalse($this->store('a', ['post/1'], $token));
        self::assertTrue($this->files->invalidate(['post/3']));
        self::assertFalse($this->store('a', ['post/1'], $token));
        self::assertTrue($this->store('a', ['post/1']));
        self::assertSame(['a'], $this->there());
    }

    public function testAPieceOfARecordOfAKilledWriterHidesNoLaterOne(): void
    {
        self::assertTrue($this->store('a', ['post/1']));
        file_put_contents((glob("{$this->directory}/log-*") ?: [])[0], 'abc', \FILE_APPEND);
        self::assertTrue($this->store('b', ['post/2']));
        self::assertSame(['a', 'b'], $this->there());
        $this->files->invalidate(['post/1']);
        self::assertSame(['b'], $this->there());
        $this->files->invalidate(['post/2']);
        self::assertSame([], $this->there());
    }

    public function testAPageComesBackAsItWasStored(): void
    {
        $page = ['status' => 200, 'headers' => ['Content-Type: text/html', 'ETag: W/"1"'], 'gzip' => random_bytes(20_000), 'br' => random_bytes(10_000), 'etag' => 'W/"1"', 'made' => time(), 'until' => time() + 1_000, 'tags' => ['post/1', "odd\0\n;tag"]];
        foreach ([$page, ['br' => '', 'tags' => []] + $page, ['pass' => 'cart', 'until' => time() + 1_000]] as $stored) {
            self::assertTrue($this->files->fill($this->request('http||||example.com/a'), $stored, ['post/1'], 1_000));
            $found = $this->files->find('http||||example.com/a') ?? [];
            self::assertEquals($stored + ['tags' => []], array_diff_key($found, ['key' => 0, 'epoch' => 0, 'position' => 0, 'marks' => 0]));
            $hit = PageHit::inFile($this->directory, 'http||||example.com/a') ?? [];
            self::assertSame(array_diff_key($found, ['tags' => 0]), array_diff_key($hit, ['tags' => 0]));
        }
        $this->files->keep('waiting', ['http||||example.com/a' => 3]);
        self::assertSame(['http||||example.com/a' => 3], $this->files->kept('waiting'));
        self::assertSame([], $this->files->kept('other'));
        file_put_contents("{$this->directory}/kept-waiting", str_replace('i:3', 'i:4', (string) file_get_contents("{$this->directory}/kept-waiting")));
        self::assertSame([], $this->files->kept('waiting'));
        // A name tells nothing of the address, and one that is there already is no other page.
        self::assertMatchesRegularExpression('~^([0-9a-f]{2})/\1[0-9a-f]{30}$~D', PageHit::file('http||||example.com/a'));
        self::assertTrue($this->store('b', ['post/1']));
        copy($this->directory . '/' . PageHit::file('http||||example.com/a'), $this->directory . '/' . PageHit::file('b'));
        self::assertNull($this->files->find('b'));
    }

    public function testADamagedFileIsNoPage(): void
    {
        self::assertTrue($this->store('a', ['post/1']));
        $path = $this->directory . '/' . PageHit::file('a');
        $whole = (string) file_get_contents($path);
        foreach (range(0, \strlen($whole) - 1, 7) as $length) {
            file_put_contents($path, substr($whole, 0, $length));
            self::assertNull($this->files->find('a'));
            file_put_contents($path, substr_replace($whole, "\0", $length, 1));
            $page = (new PageFiles($this->directory))->find('a');
            self::assertContains($page === null ? null : $page['gzip'], [null, 'page a']);
        }
    }

    public function testReadersGetWholePagesWhileWritersAreKilled(): void
    {
        $code = self::loading() . '$f = new PageFiles($argv[2]);'
            . ' $r = (new \ReflectionClass(PageRequest::class))->newInstanceWithoutConstructor(); $r->key = "a"; for (;;) { $r->token = PageRequest::log($argv[2]); $x = str_repeat(chr(mt_rand(97, 122)), mt_rand(1, 200_000)); $f->fill($r, ["gzip" => $x, "sum" => md5($x), "until" => time() + 1000], ["post/1"], 1000); if (mt_rand(0, 9) === 0) { $f->invalidate(["post/1"]); } }';
        $seen = 0;
        for ($round = 0; $round < 30; $round++) {
            $writers = array_map(fn(): Process => new Process([PHP_BINARY, '-r', $code, \dirname(__DIR__) . '/src', $this->directory]), [1, 2]);
            foreach ($writers as $writer) {
                $writer->start();
            }
            $until = microtime(true) + 60.0;
            for ($looks = 0; $looks < 60 && microtime(true) < $until;) {
                $page = $this->files->find('a');
                if ($page !== null) {
                    self::assertIsString($page['gzip']);
                    self::assertSame($page['sum'], md5($page['gzip']));
                    $seen++;
                    $looks++;
                }
            }
            foreach ($writers as $writer) {
                self::assertSame('', $writer->getErrorOutput() . $writer->getOutput());
                $writer->signal(\SIGKILL);
                $writer->wait();
            }
        }
        self::assertSame(30 * 60, $seen);
        // Nothing that they have left behind holds anyone up.
        self::assertTrue($this->files->invalidate(['post/1']));
        self::assertSame([], $this->there());
        self::assertTrue($this->store('a', ['post/1']));
    }

    public function testTheOldestPagesMakeRoomForNewOnes(): void
    {
        $files = new PageFiles($this->directory, 256 * 3_000, 256 * 4);
        $stored = 0;
        for ($i = 0; $i < 3_000; $i++) {
            $stored += $files->fill($this->request("page {$i}"), ['gzip' => str_repeat('x', 100), 'until' => time() + 100], ['post/1'], 100) ? 1 : 0;
        }
        self::assertSame(3_000, $stored);
        $folders = array_filter(glob("{$this->directory}/??") ?: [], is_dir(...));
        self::assertGreaterThan(200, \count($folders));
        foreach ($folders as $folder) {
            self::assertLessThanOrEqual(4, \count(glob("{$folder}/*") ?: []));
        }
        self::assertFalse($files->fill($this->request('large'), ['gzip' => str_repeat('x', 4_000), 'until' => time() + 100], ['post/1'], 100));
        self::assertNotNull($files->find('page 2999'));
    }

    /** A stranger asks for addresses that are not there, each of which leaves a short-lived page. */
    public function testWhatEndsSoonMakesRoomFirst(): void
    {
        $files = new PageFiles($this->directory, 256 * 3_000, 256 * 4);
        self::assertTrue($files->fill($this->request('page'), ['gzip' => 'x', 'until' => time() + 3_600], ['post/1'], 3_600));
        $folder = \dirname(PageHit::file('page'));
        for ($i = $there = 0; $there < 20; $i++) {
            if (\dirname(PageHit::file("not there {$i}")) === $folder) {
                self::assertTrue($files->fill($this->request("not there {$i}"), ['gzip' => 'x', 'until' => time() + 600], ['post/1'], 600));
                $there++;
            }
        }
        self::assertCount(4, glob("{$this->directory}/{$folder}/*") ?: []);
        self::assertNotNull($files->find('page'));
    }

    public function testWithoutRoomForTheLogNoPageIsServed(): void
    {
        self::assertTrue($this->store('a', ['post/1']));
        // As on a disk that is full: nothing can be written, but files can be deleted.
        $code = self::loading() . 'pcntl_signal(SIGXFSZ, SIG_IGN); $f = new PageFiles($argv[2]); echo json_encode([$f->invalidate(["post/1"]), $f->find("a") === null]);'
            . ' $r = (new \ReflectionClass(PageRequest::class))->newInstanceWithoutConstructor(); $r->key = "b"; $r->token = PageRequest::log($argv[2]); echo json_encode($f->fill($r, ["gzip" => str_repeat("x", 4096), "until" => time() + 1000], ["post/1"], 1000));';
        $process = new Process(['prlimit', '--fsize=0', PHP_BINARY, '-d', 'display_errors=stderr', '-r', $code, \dirname(__DIR__) . '/src', $this->directory]);
        $process->run();
        self::assertSame('[true,true]false', $process->getOutput(), $process->getErrorOutput());
        self::assertSame([], $this->there());
        self::assertSame([], glob("{$this->directory}/??/.*[0-9a-f]") ?: []);
        // With room again it goes on.
        self::assertTrue($this->files->invalidate(['post/1']));
        self::assertTrue($this->store('a', ['post/1']));
    }

    public function testAChangeThatCannotBeNotedInAReadOnlyFolderIsToldOf(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can become another user.');
        }
        self::assertTrue($this->store('a', ['post/1']));
        chmod(\dirname($this->scratch->path), 0o755);
        chmod($this->scratch->path, 0o755);
        foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($this->directory, \FilesystemIterator::SKIP_DOTS), \RecursiveIteratorIterator::SELF_FIRST) as $file) {
            self::assertInstanceOf(\SplFileInfo::class, $file);
            chmod($file->getPathname(), $file->isDir() ? 0o555 : 0o444);
        }
        chmod($this->directory, 0o555);
        [$said, $log] = $this->asNobody($this->directory);
        self::assertStringStartsWith('[false,"The pages in ', $said);
        self::assertStringContainsString('may show what was changed', $log);
        chmod($this->directory, 0o755);
    }

    public function testAChangeThatAnotherUserCannotNoteIsToldOf(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can become another user.');
        }
        self::assertTrue($this->store('a', ['post/1']));
        // It may not enter the folder above, and then not the folder itself.
        self::assertStringStartsWith('[false,"The pages in ', $this->asNobody($this->directory)[0]);
        chmod($this->scratch->path, 0o755);
        self::assertStringStartsWith('[false,"The pages in ', $this->asNobody($this->directory)[0]);
        self::assertSame(['a'], $this->there());
        // Where there are no pages, none is old.
        self::assertSame(['[true,null]', ''], $this->asNobody("{$this->scratch->path}/other"));
    }

    public function testAPathMayHaveInItWhatIsAPatternElsewhere(): void
    {
        mkdir("{$this->scratch->path}/[ab]*?\\", 0o700);
        $this->directory = "{$this->scratch->path}/[ab]*?\\/pages";
        $this->files = new PageFiles($this->directory);
        self::assertNull($this->files->prepare());
        self::assertTrue($this->store('a', ['post/1']));
        self::assertSame(['a'], $this->there());
        self::assertTrue($this->files->invalidate(['everything']));
        self::assertSame([], $this->there());
        self::assertCount(1, preg_grep('/^log-/', scandir($this->directory) ?: []) ?: []);
    }

    public function testRootChangesNothingBehindALinkOfTheDirectorysOwnerAndMakesNothingOfItsOwn(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can become another user.');
        }
        chmod(\dirname($this->scratch->path), 0o755);
        chmod($this->scratch->path, 0o755);
        // What is root's, with names that the cache has, too.
        $roots = "{$this->scratch->path}/roots";
        mkdir("{$roots}/within", 0o755, true);
        foreach (['current', 'log-0123', 'log.lock', 'within/file'] as $name) {
            file_put_contents("{$roots}/{$name}", 'root');
            chmod("{$roots}/{$name}", 0o644);
        }
        $before = $this->contents($roots);
        // One of the links has it say that a change was not noted.
        $log = ini_set('error_log', "{$this->scratch->path}/log");
        $link = static function (string $path, string $target): void {
            symlink($target, $path);
            lchown($path, 65_534);
        };
        foreach (['pages', 'locks', 'watched', \dirname(PageHit::file('a')), 'log.lock', 'current', 'log'] as $linked) {
            $above = "{$this->scratch->path}/of {$linked}";
            mkdir($above, 0o755);
            chown($above, 65_534);
            $this->directory = "{$above}/pages";
            $this->files = new PageFiles($this->directory);
            if ($linked === 'pages') {
                $link($this->directory, $roots);
            } else {
                self::assertNull($this->files->prepare());
                self::assertTrue($linked[0] !== 'l' || $this->store('a', ['post/1']));
                $name = $linked === 'log' ? basename((glob("{$this->directory}/log-*") ?: [])[0]) : $linked;
                $linked === 'locks' ? rmdir("{$this->directory}/locks") : @unlink("{$this->directory}/{$name}");
                $link("{$this->directory}/{$name}", match ($linked) {
                    'log' => "{$roots}/log-0123",
                    'log.lock', 'current' => "{$roots}/{$linked}",
                    default => $roots,
                });
            }
            $this->store('b', ['post/1']);
            $this->store('a', ['post/1']);
            $this->files->watch('table');
            $this->files->invalidate(['post/1']);
            self::assertSame([], $this->there(), $linked);
            $this->files->keep('waiting', ['a' => 1]);
            $this->files->prepare();
            $this->files->invalidate(['post/1', 'everything']);
            $this->files->watch('other');
            self::assertSame($before, $this->contents($roots), $linked);
            foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($above, \FilesystemIterator::SKIP_DOTS), \RecursiveIteratorIterator::SELF_FIRST) as $file) {
                self::assertInstanceOf(\SplFileInfo::class, $file);
                self::assertSame(65_534, lstat($file->getPathname())['uid'] ?? 0, $file->getPathname());
            }
            $this->files->remove();
            self::assertSame([[], $before], [array_diff(scandir($above) ?: [], ['.', '..']), $this->contents($roots)], $linked);
            self::assertSame([0, 0], [posix_geteuid(), posix_getegid()]);
        }
        ini_set('error_log', (string) $log);
    }

    public function testALinkOfRootsOwnIsFollowed(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can become another user.');
        }
        chmod(\dirname($this->scratch->path), 0o755);
        chmod($this->scratch->path, 0o755);
        mkdir("{$this->scratch->path}/disk", 0o755);
        chown("{$this->scratch->path}/disk", 65_534);
        symlink("{$this->scratch->path}/disk", "{$this->scratch->path}/linked");
        $this->directory = "{$this->scratch->path}/linked/pages";
        $this->files = new PageFiles($this->directory);
        self::assertNull($this->files->prepare());
        self::assertTrue($this->store('a', ['post/1']));
        self::assertSame(65_534, fileowner("{$this->scratch->path}/disk/pages/current"));
        self::assertTrue($this->files->invalidate(['post/1']));
        self::assertSame([], $this->there());
    }

    /** @return array<string, string> by path, the owner and what is in it */
    private function contents(string $directory): array
    {
        $contents = [];
        foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($directory, \FilesystemIterator::SKIP_DOTS), \RecursiveIteratorIterator::SELF_FIRST) as $file) {
            self::assertInstanceOf(\SplFileInfo::class, $file);
            $contents[$file->getPathname()] = "{$file->getOwner()} {$file->getMTime()} " . ($file->isFile() ? file_get_contents($file->getPathname()) : '');
        }
        ksort($contents);

        return $contents;
    }

    /**
     * Invalidates a tag as a user that owns nothing.
     *
     * @return array{string, string} what became of it, and what was logged
     */
    private function asNobody(string $directory): array
    {
        $source = new Scratch();
        chmod(\dirname($source->path), 0o755);
        chmod($source->path, 0o755);
        foreach (self::CLASSES as $class) {
            copy(\dirname(__DIR__) . "/src/{$class}.php", "{$source->path}/{$class}.php");
        }
        $code = self::loading() . '$f = new PageFiles($argv[2]); echo json_encode([$f->invalidate(["post/1"]), $f->trouble()]);';
        $process = new Process(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', PHP_BINARY, '-d', 'error_log=/dev/stderr', '-r', $code, $source->path, $directory]);
        $process->run();

        return [$process->getOutput(), $process->getErrorOutput()];
    }

    /** Code that begins in our namespace with the classes in the folder that the first argument names. */
    private static function loading(): string
    {
        return 'namespace Larder\WordPress; ' . implode('', array_map(static fn(string $class): string => "require \$argv[1] . '/{$class}.php'; ", self::CLASSES));
    }

    /**
     * @param list<string> $tags
     * @param mixed        $token null: of now
     */
    private function store(string $key, array $tags, mixed $token = null): bool
    {
        return $this->files->fill($this->request($key, $token), ['gzip' => "page {$key}", 'until' => time() + 1_000], $tags, 1_000);
    }

    private function request(string $key, mixed $token = null): PageRequest
    {
        $request = (new \ReflectionClass(PageRequest::class))->newInstanceWithoutConstructor();
        $request->key = $key;
        $request->token = $token ?? PageRequest::log($this->directory);

        return $request;
    }

    /** @return list<string> which of a and b are there */
    private function there(): array
    {
        return array_values(array_filter(['a', 'b'], fn(string $key): bool => $this->files->find($key) !== null));
    }
}
