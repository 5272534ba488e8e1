<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests\Originals;

use Larder\Bench\FileSystem;
use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Tests\System\Extension\Workers;
use Larder\WordPress\Tests\Site;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\TestCase;

/** Our panel in the plugin Query Monitor itself: `make query-monitor-tests QUERY_MONITOR=DIR` names a folder that has it. */
#[CoversNothing]
final class QueryMonitorTest extends TestCase
{
    public function testThePanelIsInItsMenuAndShowsTheCacheOfTheRequest(): void
    {
        $site = new Site();
        $fpm = PhpFpmServer::start(['extension' => Workers::extension(), 'error_reporting' => (string) (\E_ALL & ~\E_DEPRECATED), 'display_errors' => '1'], 1);
        $nginx = NginxServer::start($site->root, $fpm->socket, 1, isSite: true);
        try {
            $url = "http://127.0.0.1:{$nginx->port}";
            $site->configure("define('WP_HOME', '{$url}'); define('WP_SITEURL', '{$url}'); define('QM_DISABLE_ERROR_HANDLER', true);");
            FileSystem::copy((string) getenv('LARDER_QUERY_MONITOR'), \dirname($site->plugin()) . '/query-monitor');
            // A clone has no style sheet before npm has built it, and the plugin shows nothing without.
            touch(\dirname($site->plugin()) . '/query-monitor/assets/query-monitor.css');
            file_put_contents("{$site->root}/wp-content/mu-plugins/known.php", '<?php add_filter("determine_current_user", static fn(): int => 1);');
            $site->activate();
            $site->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; $e = activate_plugin("query-monitor/query-monitor.php"); if (is_wp_error($e)) { echo $e->get_error_message(); exit(1); }');
            file_get_contents("{$url}/");
            $page = (string) file_get_contents("{$url}/");
        } finally {
            $nginx->stop();
            $fpm->stop();
            $site->removePool();
        }
        self::assertStringContainsString('id="query-monitor-main"', $page);
        self::assertStringNotContainsString('Fatal error', $page);
        // Its menu is a list of buttons that name the panels.
        self::assertMatchesRegularExpression('/data-qm-href="#qm-larder"[^>]*>Larder</', $page);
        self::assertMatchesRegularExpression('~id="qm-larder" role="tabpanel".*The store answers\..*<strong>Cache Hits:</strong> [1-9]\d+.*<strong>Group:</strong> options - ~s', $page);
    }
}
