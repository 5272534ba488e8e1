<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\MariaDbServer;
use Larder\SharedMemory;
use Larder\Tests\Scratch;
use Larder\Tests\System\CacheServer;
use Larder\Tests\System\Extension\Workers;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\TestCase;

/** Whatever happens to the store: every page is made, and nothing deleted is shown. */
#[CoversNothing]
final class FaultsTest extends TestCase
{
    private static MariaDbServer $server;

    private Site $site;

    private Scratch $scratch;

    public static function setUpBeforeClass(): void
    {
        self::$server = MariaDbServer::start();
    }

    public static function tearDownAfterClass(): void
    {
        self::$server->stop();
    }

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->site = new Site(self::$server);
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

    public function testADirectoryOfSharedMemoryThatIsTooSmallIsASentence(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can make a small /dev/shm.');
        }
        $this->site->activate();
        $small = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', 'mount -t tmpfs -o size=2m tmpfs /dev/shm && exec "$@"', 'small'];
        self::assertStringContainsString('</html>', $this->site->run(Site::PAGE, loads: false, within: $small));
        self::assertStringContainsString('/dev/shm', $this->site->run('echo implode("\n", (new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->problems());', within: $small));
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
            $this->site->run('wp_cache_delete("key", "shop"); update_option("blogname", "Renamed");');
            $redis->signal(\SIGCONT);
            usleep(1_200_000);
            self::assertSame('none Renamed', $this->site->run('echo wp_cache_get("key", "shop") ?: "none", " ", get_option("blogname");'));
            $redis->kill();
            $this->assertPage();
            self::assertStringContainsString('goes on without a cache', $this->site->run('echo implode("\n", (new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->problems());'));
            $redis->start();
            usleep(1_200_000);
            $this->assertPage();
            self::assertSame('none Renamed', $this->site->run('echo wp_cache_get("key", "shop") ?: "none", " ", get_option("blogname");'));
        } finally {
            $redis->stop();
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
        self::assertSame('Repaired', $this->site->run('echo get_option("blogname");'));
    }

    /** @param ?list<string> $options of PHP */
    private function assertPage(?array $options = null): void
    {
        $page = $this->site->run(Site::PAGE, loads: false, options: $options);
        self::assertStringContainsString('Hello world!', $page);
        self::assertStringContainsString('</html>', $page);
        self::assertStringEndsWith('status 200', $page);
    }
}
