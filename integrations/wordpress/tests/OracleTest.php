<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use PHPUnit\Framework\AssertionFailedError;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/**
 * After each of many changes of a site, all its pages are compared with those that WordPress makes without any cache at the same moment. The changes come
 * as in life: by code, by the forms of wp-admin, by REST, XML-RPC, WP-CLI and cron. Meanwhile visitors ask for all pages, so that some are made while
 * the change is half done. The site is in oracle/site.inc.
 *
 * LARDER_CHANGES says how many changes, in an order made from LARDER_SEED, and LARDER_AFTER how many of that order to leave out first; LARDER_CHANGE names those
 * that happen, by a part of their names.
 */
#[CoversNothing]
final class OracleTest extends TestCase
{
    /** Has WordPress make the page without the page cache, the object cache and the plugin. What that writes is rolled back. */
    private const WITHOUT_CACHES = <<<'PHP'
        if (isset($_SERVER['HTTP_X_WITHOUT_CACHES'])) {
            function without_caches() { return false; }
            function without_larder($plugins) { return array_values(array_diff((array) $plugins, ['larder/larder.php'])); }
            function without_traces() { $GLOBALS['wpdb']->query('START TRANSACTION'); }
            foreach (['enable_loading_object_cache_dropin' => 'without_caches', 'option_active_plugins' => 'without_larder', 'muplugins_loaded' => 'without_traces'] as $hook => $function) {
                $GLOBALS['wp_filter'][$hook][10][] = ['function' => $function, 'accepted_args' => 1];
            }
        } else {
            define('WP_CACHE', true);
        }
        PHP;

    /** @return iterable<string, array{string}> */
    public static function stores(): iterable
    {
        foreach (getenv('LARDER_CHANGES') === false ? ['shared memory'] : ['shared memory', 'files', 'Redis'] as $store) {
            yield $store => [$store];
        }
    }

    #[DataProvider('stores')]
    public function testAfterEachChangeEveryPageIsAsWordPressMakesItWithoutCaches(string $store): void
    {
        $count = (int) (getenv('LARDER_CHANGES') ?: 10);
        $seed = (int) (getenv('LARDER_SEED') ?: 3);
        $redis = $store !== 'Redis' ? null : RedisServer::start(RedisFlavour::installed() ?? self::fail('There is neither Redis nor Valkey: install one of them.'), 64);
        $site = PageSite::start(self::WITHOUT_CACHES . ($redis === null ? '' : ' define("WP_LARDER_DSN", ' . var_export("redis+unix:{$redis->endpoint()['socket']}", true) . ');'), $store === 'shared memory');
        try {
            $uris = $this->furnish($site);
            $editor = new Editor($site);
            $changes = $editor->changes();
            $names = array_keys($changes);
            mt_srand($seed);
            shuffle($names);
            $only = (string) getenv('LARDER_CHANGE');
            $names = \array_slice($only === '' ? $names : array_values(array_filter($names, static fn(string $name): bool => str_contains($name, $only))), (int) getenv('LARDER_AFTER'), $count);
            $found = $this->differences($site, $uris);
            self::assertSame([], $found, 'before any change');
            $hits = $all = [];
            $visits = 0;
            foreach ($names as $name) {
                $began = time();
                while (time() === $began) {
                    // What happens in one second has no order.
                    usleep(20_000);
                }
                $seen = $wrong = [];
                $visitors = new Process([\PHP_BINARY, __DIR__ . '/oracle/visitors.inc', "http://127.0.0.1:{$site->nginx->port}", ...$uris], timeout: null);
                $visitors->start();
                try {
                    $said = $changes[$name]();
                } catch (AssertionFailedError|\RuntimeException $failure) {
                    $said = '';
                    $wrong[] = "\"{$name}\" failed: {$failure->getMessage()}\n";
                }
                $visitors->stop(60.0, \SIGTERM);
                $visits += (int) $visitors->getOutput();
                foreach ($this->differences($site, $uris, $seen) as $uri => $difference) {
                    $wrong[] = "After \"{$name}\" {$uri} {$difference}\n";
                }
                array_push($all, ...$wrong);
                foreach ($seen as $uri => $status) {
                    $hits[$uri] = ($hits[$uri] ?? 0) + (int) str_starts_with($status, 'Larder; hit');
                }
                if (getenv('LARDER_CHANGES') !== false) {
                    fwrite(\STDERR, \sprintf("%-50s %3d of %d pages were kept  %s\n", $name, \count(preg_grep('/^Larder; hit/', $seen) ?: []), \count($uris), strtok(substr($said, 0, 60), "\n")) . implode('', $wrong));
                }
            }
            self::assertSame('', implode("\n", $all), "seed {$seed}");
            // Otherwise nothing was compared.
            self::assertGreaterThan(\count($names) * \count($uris) / 10, array_sum($hits));
            self::assertGreaterThan(\count($names), $visits);
        } finally {
            $site->stop();
            $redis?->stop();
        }
    }

    /** @return list<string> the addresses of its pages */
    private function furnish(PageSite $site): array
    {
        $from = __DIR__ . '/oracle';
        $content = "{$site->site->root}/wp-content";
        copy("{$from}/site.inc", "{$content}/mu-plugins/site.php");
        copy("{$from}/other.inc", "{$content}/plugins/other.php");
        mkdir("{$content}/themes/oracle");
        file_put_contents("{$content}/themes/oracle/style.css", "/* Theme Name: Oracle */\n");
        foreach (['functions', 'index', 'comments'] as $file) {
            copy("{$from}/{$file}.inc", "{$content}/themes/oracle/{$file}.php");
        }
        $uris = json_decode($site->run('switch_theme("oracle"); update_option("sidebars_widgets", ["side" => [], "wp_inactive_widgets" => [], "array_version" => 3]); echo json_encode(Oracle\make());'), true);
        $site->run('flush_rewrite_rules();');
        self::assertIsArray($uris);

        return array_values(array_filter($uris, is_string(...)));
    }

    /**
     * @param list<string>          $uris
     * @param array<string, string> $seen what the cache has said of each; out
     *
     * @return array<string, string> by address, what is wrong
     */
    private function differences(PageSite $site, array $uris, array &$seen = []): array
    {
        $found = [];
        $cached = $this->visits($site, $uris, []);
        $seen = array_map(static fn(Answer $answer): string => $answer->header('cache-status'), $cached);
        // A page that was just made can only be wrong by the object cache: a third of them are enough.
        $compared = array_values(array_filter($uris, static fn(string $uri): bool => $cached[$uri]->isHit() || mt_rand(1, 3) === 1));
        $truth = $this->visits($site, $compared, ['X-Without-Caches: 1']);
        foreach ($compared as $uri) {
            $status = $seen[$uri];
            $is = $this->shown($cached[$uri]);
            $should = $this->shown($truth[$uri]);
            if ($is === $should) {
                continue;
            }
            $again = $this->shown($site->visit($uri, ['X-Without-Caches: 1']));
            if ($is === $again) {
                // Something else has gone on while the other was made, as cron.
                continue;
            }
            $found[$uri] = ($again === $should ? '' : 'is never twice the same: ') . "({$status})" . $this->difference($is, $again);
            if ($cached[$uri]->status === 500) {
                $found[$uri] .= "\n" . implode("\n", \array_slice(explode("\n", (string) file_get_contents(\dirname($site->fpm->socket) . '/fpm.log')), -12));
            }
        }
        if ($found !== []) {
            // Each fault is told once.
            $site->run('wp_cache_flush(); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
            $this->visits($site, $uris, []);
        }

        return $found;
    }

    /**
     * @param list<string> $uris
     * @param list<string> $headers
     *
     * @return array<string, Answer>
     */
    private function visits(PageSite $site, array $uris, array $headers): array
    {
        return array_combine($uris, $site->visitAtOnce(array_map(static fn(string $uri): array => [$uri, $headers], $uris)));
    }

    private function shown(Answer $answer): string
    {
        $headers = '';
        foreach (['location', 'content-type', 'link', 'x-pingback'] as $name) {
            $headers .= "{$name}: {$answer->header($name)}\n";
        }

        // WordPress keeps a calendar until a post changes, and so it keeps the day that is marked in it.
        return "{$answer->status}\n{$headers}" . str_replace(' id="today"', '', $answer->body);
    }

    private function difference(string $is, string $should): string
    {
        $is = explode("\n", $is);
        $should = explode("\n", $should);
        $lines = '';
        foreach ($is as $i => $line) {
            if ($line !== ($should[$i] ?? null) && substr_count($lines, "\n") < 6) {
                $at = strspn($line ^ ($should[$i] ?? ''), "\0");
                $from = max(0, $at - 60);
                $lines .= "\n  is     " . substr($line, $from, 200) . "\n  should " . substr($should[$i] ?? '(nothing)', $from, 200);
            }
        }
        if ($lines !== '') {
            return $lines;
        }

        return "\n  has " . \count($is) . ' lines, should have ' . \count($should);
    }
}
