<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\PhpFpmServer;
use Larder\SharedMemory;
use Larder\Tests\Scratch;
use Larder\Tests\System\CacheServer;
use Larder\Tests\System\Extension\Workers;
use Larder\Tests\Wait;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** Whatever happens to the store: every page is made, and nothing deleted is shown. */
#[CoversNothing]
final class FaultsTest extends TestCase
{
    private const PROBLEMS = 'echo implode("\n", (new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->problems());';

    private Site $site;

    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->site = new Site();
    }

    protected function tearDown(): void
    {
        $this->site->removePool();
    }

    public function testProcessesThatAreKilledLeaveNothingDeletedBehind(): void
    {
        $this->site->activate();
        $gone = 0;
        for ($round = 0; $round < 10; $round++) {
            $process = $this->site->start('for ($i = 0;; $i++) { update_option("killed_" . $argv[1] . "_{$i}", 1, $i % 2 === 0); get_option("absent_{$i}"); delete_option("killed_" . $argv[1] . "_{$i}"); echo "{$i}\n"; flush(); }', [(string) $round]);
            usleep(random_int(600_000, 1_200_000));
            $process->signal(\SIGKILL);
            $process->wait();
            $gone += $deleted = substr_count($process->getOutput(), "\n");
            self::assertSame('', $this->site->run('for ($i = 0; $i < (int) $argv[2]; $i++) { if (get_option("killed_" . $argv[1] . "_{$i}", "none") !== "none") { echo $i, " "; } }', [(string) $round, (string) $deleted]));
            $this->assertPage();
        }
        self::assertGreaterThan(10, $gone);
    }

    public function testAFullPoolMakesPagesAndForgetsWhatIsDeleted(): void
    {
        $this->site->activate();
        $options = ['-d', 'extension=' . Workers::extension(), '-d', 'larder.size=4M'];
        $this->site->configure("define('WP_LARDER_DSN', 'shm:wordpress-full-" . getmypid() . "');");
        try {
            $said = $this->site->run('for ($i = 0; $i < 300; $i++) { set_transient("t{$i}", str_repeat("x", 50000) . $i); } update_option("blogname", "Full"); delete_transient("t299"); echo get_transient("t299") === false ? "gone" : "there";', options: $options);
            self::assertSame('gone', $said);
            self::assertSame('gone Full', $this->site->run('echo get_transient("t299") === false ? "gone" : "there", " ", get_option("blogname");', options: $options));
            $this->assertPage($options);
        } finally {
            SharedMemory::remove('wordpress-full-' . getmypid());
        }
    }

    #[TestWith(['2m'])]
    #[TestWith(['4m'])]
    public function testADirectoryOfSharedMemoryThatIsTooSmallIsASentence(string $size): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can make a small /dev/shm.');
        }
        $this->site->activate();
        $small = self::small($size);
        self::assertStringContainsString('</html>', $this->site->run(Site::PAGE, loads: false, within: $small));
        self::assertStringContainsString('/dev/shm', $this->site->run(self::PROBLEMS, within: $small));
    }

    public function testARedisThatIsKilledAndEmptiedCostsNoPageAndHidesNoDelete(): void
    {
        $redis = CacheServer::redis();
        $redis->start();
        $this->site->configure("define('WP_LARDER_DSN', 'redis+unix:{$redis->socket}?retry_after=0.1');");
        $this->site->activate();
        try {
            $this->site->run('wp_cache_set("key", "old", "shop"); get_option("blogname");');
            self::assertSame('old', $this->site->run('echo wp_cache_get("key", "shop");'));
            $this->assertPage();
            $redis->signal(\SIGSTOP);
            $this->assertPage();
            self::assertStringContainsString('goes on without a cache', $this->site->run(self::PROBLEMS));
            $this->site->run('wp_cache_delete("key", "shop"); update_option("blogname", "Renamed");');
            // Nor is it the journal that has failed, which this one finds postponed.
            self::assertStringStartsWith("The site goes on without a cache: The Redis server {$redis->socket} is unavailable", $this->site->run(self::PROBLEMS));
            $redis->signal(\SIGCONT);
            usleep(1_200_000);
            self::assertSame('none Renamed', $this->site->run('echo wp_cache_get("key", "shop") ?: "none", " ", get_option("blogname");'));
            $redis->kill();
            $this->assertPage();
            self::assertStringContainsString('goes on without a cache', $this->site->run(self::PROBLEMS));
            $redis->start();
            usleep(1_200_000);
            $this->assertPage();
            self::assertSame('none Renamed', $this->site->run('echo wp_cache_get("key", "shop") ?: "none", " ", get_option("blogname");'));
        } finally {
            $redis->stop();
        }
    }

    public function testARedisThatIsEmptiedOverAndOverLosesNoOption(): void
    {
        $redis = CacheServer::redis()->start();
        $this->site->configure("define('WP_LARDER_DSN', 'redis+unix:{$redis->socket}');");
        $this->site->activate();
        try {
            $processes = array_map(fn(int $me): Process => $this->site->start(<<<'PHP'
                for ($i = 0; $i < 150; $i++) {
                    wp_cache_flush_runtime();
                    update_option("emptied_{$argv[1]}_{$i}", $i, $i % 2 === 0);
                    update_option("emptied_{$argv[1]}_{$i}", "changed {$i}");
                    if ($i % 3 === 0) { delete_option("emptied_{$argv[1]}_{$i}"); }
                    if (get_option("emptied_{$argv[1]}_{$i}", "none") !== ($i % 3 === 0 ? "none" : "changed {$i}")) { echo "{$i} was lost in its own request "; }
                    get_option("emptied_" . (1 - $argv[1]) . "_{$i}");
                }
                PHP, [(string) $me]), [0, 1]);
            $client = new \Redis();
            $client->connect($redis->socket);
            $flushes = 0;
            while ($processes[0]->isRunning() || $processes[1]->isRunning()) {
                $client->flushAll();
                $flushes++;
                usleep(3_000);
            }
            self::assertGreaterThan(20, $flushes);
            foreach ($processes as $process) {
                self::assertSame('', $process->getOutput() . $process->getErrorOutput());
            }
            self::assertSame('', $this->site->run(<<<'PHP'
                for ($i = 0; $i < 300; $i++) {
                    $n = $i % 150;
                    $found = get_option("emptied_" . intdiv($i, 150) . "_{$n}", "none");
                    if ($found !== ($n % 3 === 0 ? "none" : "changed {$n}")) { echo "{$i}: {$found} "; }
                }
                PHP));
            $this->assertPage();
        } finally {
            $redis->stop();
        }
    }

    public function testAFullDiskCostsNoPageAndHidesNoDelete(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can make a small disk.');
        }
        $disk = '/dev/shm/disk';
        // The disk is there for the processes that enter this one's namespace.
        $namespace = new Process([...self::small('6m'), 'sh', '-c', "mkdir -m 700 {$disk} && echo ready && exec sleep infinity"], timeout: null);
        $namespace->start();
        $namespace->waitUntil(static fn(string $type, string $said): bool => str_contains($said, 'ready'));
        $within = ['nsenter', '--target', (string) $namespace->getPid(), '--mount', '--root'];
        $in = fn(string $code): string => $this->site->run($code, within: $within);
        $this->site->configure("define('WP_LARDER_DSN', 'sqlite:{$disk}/site.db'); define('WP_LARDER_DIRECTORY', '{$disk}');");
        try {
            self::assertSame('', $in('require_once ABSPATH . "wp-admin/includes/plugin.php"; activate_plugin("larder/larder.php");'));
            $in('wp_cache_set("key", "old", "shop"); set_transient("news", "old", 3600); get_option("blogname");');
            self::assertSame('old old', $in('echo wp_cache_get("key", "shop"), " ", get_transient("news");'));
            (new Process([...$within, 'sh', '-c', 'cat /dev/zero > "$1/filler" || true', 'fill', $disk], timeout: null))->run();
            $page = $this->site->run(Site::PAGE, loads: false, within: $within);
            self::assertStringContainsString('</html>', $page);
            self::assertStringEndsWith('status 200', $page);
            $in('wp_cache_delete("key", "shop"); delete_transient("news"); update_option("blogname", "Renamed");');
            $read = 'echo wp_cache_get("key", "shop") ?: "none", " ", get_transient("news") ?: "none", " ", get_option("blogname");';
            $full = $in($read);
            self::assertStringContainsString('The store takes no new values', $in(self::PROBLEMS));
            (new Process([...$within, 'rm', "{$disk}/filler"]))->mustRun();
            self::assertSame(['none none Renamed', 'none none Renamed'], [$full, $in($read)]);
            $in('wp_cache_set("key", "new", "shop");');
            self::assertSame('new none Renamed', $in($read));
            self::assertSame('', $in(self::PROBLEMS));
        } finally {
            $namespace->stop(0);
        }
    }

    public function testADamagedDatabaseCostsNoPage(): void
    {
        $database = "{$this->scratch->path}/site.db";
        $this->site->configure("define('WP_LARDER_DSN', 'sqlite:{$database}');");
        $this->site->activate();
        $this->assertPage();
        self::assertFileExists($database);
        foreach (glob("{$database}*") ?: [] as $file) {
            $size = (int) filesize($file);
            if ($size > 0) {
                file_put_contents($file, str_repeat('damaged!', intdiv($size, 8)));
            }
        }
        $this->assertPage();
        $this->site->run('update_option("blogname", "Repaired");');
        self::assertStringContainsString('the file is damaged or no database, move it away', $this->site->run(self::PROBLEMS));
        self::assertSame('Repaired', $this->site->run('echo get_option("blogname");'));
    }

    public function testAWpContentThatPhpMayNotWriteToIsASentenceAndTheSiteGoesOn(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can become another user.');
        }
        $content = "{$this->site->root}/wp-content";
        $nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
        $this->site->openToAll();
        $in = fn(string $code): string => $this->site->run($code, within: $nobody);
        self::assertSame('', $in('require_once ABSPATH . "wp-admin/includes/plugin.php"; activate_plugin("larder/larder.php");'));
        try {
            $this->assertOneSentence("PHP may not write to {$content}, so the object cache has no drop-in there; make it writable", $nobody);
            self::assertStringStartsWith("{$content}/object-cache.php could not be written; make the directory {$content} writable for PHP", $in('echo (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->enable();'));
            self::assertSame('There is no directory that PHP may write to for a database; make wp-content writable, or name one as WP_LARDER_DIRECTORY in wp-config.php.', $this->site->run(self::PROBLEMS, options: [], within: $nobody));
            // It may write while the cache is switched on, and no more afterwards.
            chown($content, 65_534);
            self::assertSame('', $in('echo (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->enable();'));
            chown($content, 0);
            $this->assertOneSentence("PHP may not write to {$content}, so the drop-in stays as it is when the plugin changes; make it writable", $nobody);
            self::assertSame('on', $in('echo wp_using_ext_object_cache() ? "on" : "off";'));
        } finally {
            $in("Larder\\SharedMemory::remove('{$this->site->pool()}');");
        }
    }

    /** As root installs a site, and PHP behind the web server is another user. */
    #[TestWith([true])]
    #[TestWith([false])]
    public function testWhatRootMakesIsTheWebServersAndWhatRootChangesIsSeen(bool $hasExtension): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can become another user.');
        }
        $this->site->openToAll();
        chown("{$this->site->root}/wp-content", 65_534);
        $fpm = PhpFpmServer::start(($hasExtension ? ['extension' => Workers::extension()] : []) + ['display_errors' => 0, 'opcache.revalidate_freq' => 0], 2, user: 'nobody');
        $nginx = NginxServer::start($this->site->root, $fpm->socket, 1, isSite: true);
        $this->site->configure("define('WP_CACHE', true); define('WP_HOME', 'http://127.0.0.1:{$nginx->port}'); define('WP_SITEURL', WP_HOME);");
        file_put_contents("{$this->site->root}/wp-content/mu-plugins/problems.php", '<?php add_action("init", static function (): void { if (isset($_GET["problems"])) { ' . self::PROBLEMS . ' exit; } });');
        $root = fn(string $code): string => $this->site->run($code, options: $hasExtension ? null : [], host: "127.0.0.1:{$nginx->port}");
        $visit = static function (string $uri) use ($nginx): Answer {
            $request = curl_init("http://127.0.0.1:{$nginx->port}{$uri}");
            self::assertInstanceOf(\CurlHandle::class, $request);
            curl_setopt_array($request, [\CURLOPT_RETURNTRANSFER => true, \CURLOPT_HEADER => true, \CURLOPT_PROXY => '']);

            return Answer::of($request);
        };
        try {
            $root('require_once ABSPATH . "wp-admin/includes/plugin.php"; activate_plugin("larder/larder.php");');
            foreach (['/?first', '/', '/'] as $uri) {
                $seen = $visit($uri)->isHit();
            }
            self::assertTrue($seen);
            foreach (['First', 'Second'] as $name) {
                $root("update_option('blogname', '{$name}');");
                self::assertStringContainsString("<title>{$name}", $visit('/')->body);
                // The first request may have had the journal to deliver.
                $visit('/');
                self::assertTrue($visit('/')->isHit(), $name);
            }
            $directory = $this->site->directory();
            foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($directory), \RecursiveIteratorIterator::SELF_FIRST) as $file) {
                self::assertInstanceOf(\SplFileInfo::class, $file);
                $file->getBasename() === '..' || self::assertSame(65_534, $file->getOwner(), $file->getPathname());
            }
            Wait::until('the web has delivered what root wrote to the journal', static fn(): bool => $visit('/?problems')->body === '', static fn(): string => $visit('/?problems')->body);
            // The web server finds what a killed command leaves, though its umask lets no other user read.
            $killed = $this->site->start('umask(0o77); add_filter("add_post_metadata", static function () { echo "saving"; flush(); sleep(300); }); wp_update_post(["ID" => 1, "post_title" => "Killed", "meta_input" => ["killed" => 1]]);', options: $hasExtension ? null : [], host: "127.0.0.1:{$nginx->port}");
            $killed->waitUntil(static fn(string $type, string $said): bool => str_contains($said, 'saving'));
            $killed->signal(\SIGKILL);
            $killed->wait();
            $visit('/?another');
            self::assertStringContainsString('Killed', $visit('/')->body);
            // Nor does the folder of all lead root elsewhere.
            $roots = new Scratch();
            chmod(\dirname($roots->path), 0o755);
            chmod($roots->path, 0o755);
            rename($directory, "{$directory}-aside");
            symlink($roots->path, $directory);
            lchown($directory, 65_534);
            $root('(new Larder\\WordPress\\Plugin(WP_PLUGIN_DIR . "/larder"))->choice(); update_option("blogname", "Behind");');
            // The library, which has the database and the journal there, trusts the directory that it is given.
            self::assertSame([], array_values(preg_grep('/^\.\.?$|\.(?:db|journal)/', scandir($roots->path) ?: [], \PREG_GREP_INVERT) ?: []));
            unlink($directory);
            rename("{$directory}-aside", $directory);
            // Links of the web server's user lead root nowhere.
            $scratch = new Scratch();
            file_put_contents("{$scratch->path}/there", 'before');
            $links = ['index.php' => 'index', '.htaccess' => 'htaccess', 'heard-on-the-command-line' => 'heard'];
            foreach ($hasExtension ? [] : (glob("{$directory}/pages/log-*") ?: []) as $log) {
                $links += ['pages/log.lock' => 'lock', 'pages/' . basename($log) => 'there'];
            }
            foreach ($links as $name => $target) {
                @unlink("{$directory}/{$name}");
                symlink("{$scratch->path}/{$target}", "{$directory}/{$name}");
                lchown("{$directory}/{$name}", 65_534);
            }
            $root('(new Larder\\WordPress\\Plugin(WP_PLUGIN_DIR . "/larder"))->choice(); update_option("blogname", "Third");');
            self::assertSame(['there'], array_values(array_diff(scandir($scratch->path) ?: [], ['.', '..'])));
            self::assertSame('before', file_get_contents("{$scratch->path}/there"));
            self::assertStringContainsString('<title>Third', $visit('/')->body);
            Wait::until('the web has delivered what root wrote to the journal', static fn(): bool => $visit('/?problems')->body === '', static fn(): string => $visit('/?problems')->body);
            chown($directory, 0);
            self::assertStringContainsString("say `chown -R 65534 {$directory}` as root", $visit('/?problems')->body);
            // The next command of root mends it.
            $root('(new Larder\\WordPress\\Plugin(WP_PLUGIN_DIR . "/larder"))->choice();');
            Wait::until('the web has delivered what root wrote to the journal', static fn(): bool => $visit('/?problems')->body === '', static fn(): string => $visit('/?problems')->body);
        } finally {
            $nginx->stop();
            $fpm->stop();
            if ($hasExtension) {
                $this->site->run("Larder\\SharedMemory::remove('{$this->site->pool()}');", within: ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']);
            }
        }
    }

    public function testAPipeAmongTheNotesOfSavesHoldsUpNoRequest(): void
    {
        $this->site->activate();
        $note = "{$this->site->directory()}/" . substr($this->site->pool(), \strlen('wordpress-')) . '.save-0123456789abcdef';
        self::assertTrue(posix_mkfifo($note, 0o600) && posix_mkfifo("{$note}.new", 0o600));
        $this->assertPage();
        self::assertSame('saved', $this->site->run('update_option("blogname", "Saved"); echo "saved";'));
    }

    public function testAKilledSaveIsSeenWhereThePathOfTheDirectoryIsAPatternElsewhere(): void
    {
        $directory = "{$this->scratch->path}/[ab]*?";
        mkdir($directory, 0o700);
        $this->site->configure("define('WP_LARDER_DIRECTORY', '{$directory}');");
        $this->site->activate();
        $read = 'echo get_post(1)->post_title;';
        self::assertSame(['Hello world!', 'Hello world!'], [$this->site->run($read), $this->site->run($read)]);
        $process = $this->site->start('add_filter("add_post_metadata", static function () { echo "saving"; flush(); sleep(300); }); wp_update_post(["ID" => 1, "post_title" => "Killed", "meta_input" => ["killed" => 1]]);');
        $process->waitUntil(static fn(string $type, string $said): bool => str_contains($said, 'saving'));
        self::assertCount(1, preg_grep('/\.save-/', scandir($directory) ?: []) ?: []);
        $process->signal(\SIGKILL);
        $process->wait();
        self::assertSame('Killed', $this->site->run($read));
        self::assertSame([], preg_grep('/\.save-/', scandir($directory) ?: []));
    }

    /**
     * @param non-empty-string $beginning
     * @param list<string>     $within    a command that runs its arguments
     */
    private function assertOneSentence(string $beginning, array $within): void
    {
        $this->assertPage(within: $within);
        // Doctor warns of each; WP-CLI's own files another user may not read.
        $problems = $this->site->run(self::PROBLEMS, within: $within);
        self::assertStringStartsWith($beginning, $problems);
        self::assertStringNotContainsString("\n", $problems);
        $health = $this->site->run('echo implode(" ", array_intersect_key((apply_filters("site_status_tests", ["direct" => []])["direct"]["larder"]["test"])(), ["status" => 0, "description" => 0]));', within: $within);
        self::assertStringContainsString('recommended', $health);
        self::assertStringContainsString("<p>{$beginning}", $health);
        self::assertSame(2, substr_count($health, '<p>'), $health);
    }

    /** @return list<string> a command that runs its arguments where /dev/shm has that size */
    private static function small(string $size): array
    {
        // In a chroot only what is a mount of its own can be made private.
        return ['unshare', '--mount', '--propagation', 'unchanged', 'sh', '-c', "mount --make-private /dev/shm && mount -t tmpfs -o size={$size} tmpfs /dev/shm && exec \"\$@\"", 'small'];
    }

    /**
     * @param ?list<string> $options of PHP
     * @param list<string>  $within  a command that runs its arguments
     */
    private function assertPage(?array $options = null, array $within = []): void
    {
        $page = $this->site->run(Site::PAGE, loads: false, options: $options, within: $within);
        self::assertStringContainsString('Hello world!', $page);
        self::assertStringContainsString('</html>', $page);
        self::assertStringEndsWith('status 200', $page);
    }
}
