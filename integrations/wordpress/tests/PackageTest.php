<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** The zip that people install, in a WordPress without anything else of ours. */
#[CoversNothing]
final class PackageTest extends TestCase
{
    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        self::assertSame(0, (new Process([PHP_BINARY, \dirname(__DIR__, 3) . '/tools/wordpress-plugin', $this->scratch->path]))->run());
    }

    /** @return iterable<string, array{?list<string>, string, string}> options of PHP, the configuration, what the store is called */
    public static function stores(): iterable
    {
        yield 'shared memory' => [null, '', 'shared memory'];
        yield 'APCu in front of SQLite' => [['-d', 'apc.enable_cli=1'], '', 'APCu in front of SQLite'];
        yield 'SQLite' => [['-d', 'apc.enable_cli=0'], '', 'SQLite'];
        yield 'a server of WP_LARDER_DSN' => [['-d', 'apc.enable_cli=0'], "define('WP_LARDER_DSN', 'file:' . dirname(__DIR__) . '/files');", 'the store that WP_LARDER_DSN names'];
    }

    /** @param ?list<string> $options */
    #[DataProvider('stores')]
    public function testOneClickMakesACacheThatTheNextRequestReads(?array $options, string $configuration, string $title): void
    {
        $site = new Site($configuration, plugin: "{$this->scratch->path}/larder");
        try {
            $site->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; activate_plugin("larder/larder.php");', options: $options);
            $site->run('wp_cache_set("key", ["value"], "shop"); get_option("blogname"); get_post(1);', options: $options);
            self::assertSame('["value"], 0 queries of options, ' . "The object cache is on and uses {$title}.", $site->run(
                '$before = $GLOBALS["wpdb"]->num_queries; echo json_encode(wp_cache_get("key", "shop")), ", "; get_option("blogname"); get_post(1);'
                    . ' echo $GLOBALS["wpdb"]->num_queries - $before, " queries of options, ", (new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->state();',
                options: $options,
            ));
        } finally {
            $site->removePool();
        }
    }
}
