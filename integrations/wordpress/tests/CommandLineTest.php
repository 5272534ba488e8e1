<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\TestCase;

/** Each command, by the real WP-CLI. */
#[CoversNothing]
final class CommandLineTest extends TestCase
{
    private static Site $site;

    public static function setUpBeforeClass(): void
    {
        self::$site = new Site();
        self::$site->activate();
    }

    public static function tearDownAfterClass(): void
    {
        self::$site->removePool();
    }

    public function testStatusAndDoctorSayWhatIsInUseAndThatNothingIsWrong(): void
    {
        self::assertMatchesRegularExpression('/\AThe object cache is on and uses shared memory\.\nThe extension larder is loaded.*\nA command line last used this cache at \d{4}-/', $this->wp('status'));
        self::assertSame("Success: Nothing is wrong.\n", $this->wp('doctor'));
    }

    public function testDoctorSaysWhatIsWrongAndFails(): void
    {
        self::$site->configure("define('WP_LARDER_DSN', 'reddis://127.0.0.1');");
        try {
            $said = $this->wp('doctor', status: 1);
        } finally {
            self::$site->configure('');
        }
        self::assertStringContainsString('Warning: The site goes on without a cache: ', $said);
        self::assertStringContainsString('reddis', $said);
    }

    public function testGetShowsAValueAndFailsWhereThereIsNone(): void
    {
        self::$site->run('wp_cache_set("text", "a value", "shop"); wp_cache_set("list", ["a" => 1]);');
        self::assertSame("a value\n", $this->wp('get text shop'));
        self::assertSame(['a' => 1], json_decode($this->wp('get list'), true));
        self::assertSame("Error: There is nothing under this key.\n", $this->wp('get absent shop', status: 1));
    }

    public function testFlushEmptiesAGroupOrEverything(): void
    {
        self::$site->run('wp_cache_set("key", 1, "shop"); wp_cache_set("key", 2, "other");');
        self::assertSame("Success: Flushed.\n", $this->wp('flush --group=shop'));
        self::assertSame('none 2', self::$site->run('echo wp_cache_get("key", "shop") ?: "none", " ", wp_cache_get("key", "other");'));
        self::assertSame("Error: The cache has nothing of the group nosuch; `wp larder groups` lists the groups.\n", $this->wp('flush --group=nosuch', status: 1));
        self::assertSame("Success: Flushed.\n", $this->wp('flush'));
        self::assertSame('none', self::$site->run('echo wp_cache_get("key", "other") ?: "none";'));
    }

    public function testFlushOfASiteLeavesTheOtherSitesOfANetwork(): void
    {
        $network = new Site(isNetwork: true);
        $network->activate();
        try {
            $network->run('wp_insert_site(["domain" => "example.com", "path" => "/two/", "network_id" => 1, "user_id" => 1]); wp_cache_set("key", 1, "shop"); switch_to_blog(2); wp_cache_set("key", 2, "shop");');
            self::assertSame("Success: Flushed.\n", $this->wp('flush --site=2', site: $network));
            foreach (['3', 'two', '0'] as $number) {
                self::assertSame("Error: There is no site with the number {$number}; nothing was flushed.\n", $this->wp("flush --site={$number}", status: 1, site: $network));
            }
            self::assertSame('1 none', $network->run('echo wp_cache_get("key", "shop"), " "; switch_to_blog(2); echo wp_cache_get("key", "shop") ?: "none";'));
        } finally {
            $network->removePool();
        }
    }

    public function testACommandThatIsNotUnderstoodSaysWhyFailsAndDoesNothing(): void
    {
        self::$site->run('wp_cache_set("key", 1, "shop");');
        foreach ([
            'status more' => 'This command takes no arguments, and was given more.',
            'doctor --more' => 'This command takes no arguments, and was given --more.',
            'groups shop' => 'This command takes no arguments, and was given shop.',
            'stats shop' => 'This command takes no arguments, and was given shop.',
            'flush --group=shop --site=1' => '--group and --site do not go together; nothing was flushed.',
            'flush --pages --group=shop' => '--group and --pages do not go together; nothing was flushed.',
            'flush --page=/ --pages' => '--pages and --page do not go together; nothing was flushed.',
            'flush --group=' => '--group needs a value; nothing was done.',
            'flush --group' => '--group needs a value; nothing was done.',
            'flush --site' => '--site needs a value; nothing was done.',
            'flush --page' => '--page needs a value; nothing was done.',
            'flush --no-group' => 'This command knows no --no-group; nothing was done.',
            'flush --no-pages' => 'This command knows no --no-pages; nothing was done.',
            'flush --pages=no' => '--pages takes no value, and was given no; nothing was done.',
            'enable --pages=false' => '--pages takes no value, and was given false; nothing was done.',
            'disable --no-pages' => 'This command knows no --no-pages; nothing was done.',
            'explain http://example.com/ --cookie' => '--cookie needs a value; nothing was done.',
            'bench --items' => '--items needs a value; nothing was done.',
            'flush --page=http://other.example/' => 'http://other.example/ is no address of a page here; addresses look like http://example.com/',
            'flush --site=2' => 'There is no site with the number 2; nothing was flushed.',
            'flush --all' => 'Parameter errors:',
            'flush everything' => 'Too many positional arguments: everything',
            'bench --items=many' => '--items takes a number from 1 to 9999999, and not many.',
            'disable pages' => 'Too many positional arguments: pages',
            'explain hello-world' => 'hello-world is no URL; URLs look like http://example.com/',
        ] as $command => $says) {
            self::assertStringContainsString("Error: {$says}", $this->wp($command, status: 1), $command);
        }
        self::assertSame('1', self::$site->run('echo wp_cache_get("key", "shop") ?: "none";'));
    }

    public function testGroupsAndStatsCountWhatIsThere(): void
    {
        self::$site->run('for ($i = 0; $i < 30; $i++) { wp_cache_set("key{$i}", 1, "thirty"); }');
        self::assertMatchesRegularExpression('/^ +30  thirty$/m', $this->wp('groups'));
        $said = $this->wp('stats');
        self::assertMatchesRegularExpression('/^size +\d{7,}$/m', $said);
        preg_match('/^items +(\d+)$/m', $said, $items);
        self::assertGreaterThan(30, (int) ($items[1] ?? 0));
    }

    public function testDisableAndEnableRemoveAndWriteTheDropInAndBeginEmpty(): void
    {
        $path = self::$site->root . '/wp-content/object-cache.php';
        self::$site->run('wp_cache_set("key", "of before", "shop");');
        self::assertSame("Success: The object cache is off.\n", $this->wp('disable'));
        self::assertFileDoesNotExist($path);
        self::assertStringContainsString('The object cache is off; see wp larder doctor.', $this->wp('stats', status: 1));
        self::assertStringContainsString('enable the object cache in the settings, or by `wp larder enable`', $this->wp('doctor', status: 1));
        self::assertSame("Success: The object cache is on.\n", $this->wp('enable'));
        self::assertSame('none', self::$site->run('echo wp_cache_get("key", "shop") ?: "none";'));
        $foreign = "<?php\n/* Plugin Name: Another Object Cache */\nrequire ABSPATH . WPINC . '/cache.php';\n";
        file_put_contents($path, $foreign);
        self::assertStringContainsString('There is an object cache already (Another Object Cache', $this->wp('enable', status: 1));
        self::assertSame($foreign, file_get_contents($path));
        self::assertSame("Success: The object cache is on.\n", $this->wp('enable --force'));
        self::assertStringContainsString('Larder', (string) file_get_contents($path));
    }

    public function testBenchTimesTransientsAndLeavesNone(): void
    {
        $said = $this->wp('bench --items=20');
        foreach (['set', 'get', 'delete'] as $operation) {
            self::assertMatchesRegularExpression("/^{$operation} +median +\d+\.\d\d µs, p95 /m", $said);
        }
        self::assertSame('none', self::$site->run('echo get_transient("hackhack3") ?: "none";'));
    }

    public function testACommandLineWithoutTheExtensionIsToldAndItsFlushReachesTheWeb(): void
    {
        self::$site->run('wp_cache_set("key", 1, "shop");');
        self::assertStringContainsString('the flush is in the journal, and the next request of the web server does it', $this->wp('flush', options: []));
        self::assertStringContainsString('does not share', $this->wp('doctor', options: [], status: 1));
        self::assertSame('none', self::$site->run('echo wp_cache_get("key", "shop") ?: "none";'));
    }

    /** @param ?list<string> $options of PHP; null: the extension */
    private function wp(string $command, int $status = 0, ?array $options = null, ?Site $site = null): string
    {
        $process = ($site ?? self::$site)->command(explode(' ', "larder {$command}"), $options);
        self::assertSame($status, $process->wait(), $process->getOutput() . $process->getErrorOutput());

        return $process->getOutput() . $process->getErrorOutput();
    }
}
