<?php

declare(strict_types=1);

namespace Larder\Bench\WordPress;

use Larder\Bench\Fields;
use Larder\Bench\Server\CpuTime;
use Larder\Bench\Server\FastCgi;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\Subject\WorkerProcess;

/** A site with one object cache. Its php-fpm has one worker, so a request begins when the one before has finished, also after its answer. */
final class ShopSite
{
    private readonly FastCgi $client;

    /** @var list<int> */
    private readonly array $workers;

    /** @var list<int> the database's, and the store's */
    private readonly array $servers;

    private function __construct(public readonly ObjectCache $cache, private readonly Installation $installation, private readonly PhpFpmServer $fpm, private readonly ?Server $store, Shop $shop)
    {
        $this->client = new FastCgi($fpm->socket);
        $this->workers = $fpm->processIds();
        $this->servers = [...$shop->database->processIds(), ...$store?->processIds() ?? []];
    }

    public function __destruct()
    {
        try {
            $this->visit('clean');
            // The pool goes after the answer.
            $this->request('idle.php', '/idle.php');
        } catch (\RuntimeException) {
            // It has died: then its pool is what LeftBehind removes.
        }
        $this->fpm->stop();
    }

    /**
     * @param Server|null  $store     Redis or Valkey, for what uses one
     * @param string       $name      of its document root, which no other site of the shop has
     * @param list<string> $placement a command that runs its arguments where servers run
     *
     * @throws ServerFailed
     * @throws WorkerFailed when the object cache cannot be used
     */
    public static function open(Shop $shop, ObjectCache $cache, ?Server $store, string $name, array $placement): self
    {
        $installation = $shop->installation($name);
        $directory = $shop->part("{$name}-store");
        $pool = 'larder-benchmark-' . bin2hex(random_bytes(6));
        $places = ['{directory}' => $directory, '{socket}' => (string) ($store?->endpoint()['socket'] ?? ''), '{pool}' => $pool];
        $lines = [
            'define("LARDER_BENCH_SERVER", ' . var_export(\dirname(__DIR__) . '/Server', true) . ');',
            'define("WP_LARDER_DIRECTORY", ' . var_export($directory, true) . ');',
            'define("WP_POST_REVISIONS", false);',
            $cache->lines,
        ];
        if ($cache->dsn !== null) {
            $lines[] = 'define("WP_LARDER_DSN", ' . var_export(strtr($cache->dsn, $places), true) . ');';
        }
        if ($cache->name === ObjectCache::LIMIT) {
            $lines[] = 'define("LARDER_BENCH_POOL", ' . var_export($pool, true) . ');';
        }
        if ($cache->isLarder) {
            $installation->addLarder(\dirname(Shop::scripts()));
            $plugin = "{$installation->root}/wp-content/mu-plugins/larder.php";
            file_put_contents($plugin, '<?php require WP_PLUGIN_DIR . "/larder/larder.php";');
        } elseif ($cache->classes !== []) {
            file_put_contents("{$installation->root}/wp-content/object-cache.php", self::dropIn($cache, strtr($cache->store, $places)));
        } elseif ($cache->original !== null) {
            $cache->original->add($installation);
            $lines[] = 'define("WP_REDIS_SCHEME", "unix"); define("WP_REDIS_PATH", ' . var_export($places['{socket}'], true) . '); define("WP_CACHE", true);';
        }
        $installation->configure(implode("\n", $lines));
        $settings = [...Extension::settings(), ...WorkerProcess::SETTINGS, 'memory_limit' => '512M', 'apc.shm_size' => '64M', 'error_reporting' => (string) (E_ALL & ~E_DEPRECATED), 'display_errors' => '0'];
        $site = new self($cache, $installation, PhpFpmServer::start($settings, 1, $placement), $store, $shop);
        if ($cache->isLarder) {
            $mistake = $site->visit('enable')->string('mistake');
            if ($mistake !== '') {
                throw WorkerFailed::said($cache->title, $mistake);
            }
            self::count($installation);
        }

        return $site;
    }

    /** @return array{version: string, command: string} of its php-fpm */
    public function description(): array
    {
        return $this->fpm->description();
    }

    /**
     * Requests a page until it has been answered so often.
     *
     * @param string $uri     with its query
     * @param string $expects what the page has to have in it
     *
     * @throws WorkerFailed when the page is not what is expected
     */
    public function pages(string $uri, string $expects, int $requests): Cost
    {
        return $this->measured(fn(): string => $this->request('index.php', $uri), ['</html>', $expects], $requests);
    }

    /**
     * Has the site do something that is no page, and measures it.
     *
     * @param array<string, string|int> $arguments
     *
     * @throws WorkerFailed
     */
    public function measuredVisit(string $do, array $arguments, string $expects): Cost
    {
        return $this->measured(fn(): string => $this->request('visit.php', '/visit.php?' . http_build_query(['do' => $do] + $arguments)), [$expects], 1);
    }

    /**
     * The same of wp-cron.php, which says nothing.
     *
     * @throws WorkerFailed when an event has not been run
     */
    public function cron(): Cost
    {
        $this->visit('events');
        $found = $this->measured(fn(): string => $this->request('wp-cron.php', '/wp-cron.php?doing_wp_cron'), [], 1);
        if ($this->visit('pending')->int('pending') > 0) {
            throw WorkerFailed::said($this->cache->title, 'wp-cron.php left events that were due');
        }

        return $found;
    }

    /**
     * Has the site do something that is no page (integrations/wordpress/bench/visit.inc).
     *
     * @param array<string, string|int> $arguments
     *
     * @throws WorkerFailed
     */
    public function visit(string $do, array $arguments = []): Fields
    {
        $answer = $this->request('visit.php', '/visit.php?' . http_build_query(['do' => $do, 'servers' => implode(' ', $this->servers)] + $arguments));
        if (!str_starts_with($answer, '{')) {
            throw $this->failed($answer);
        }

        return Fields::ofJson($answer, "answer to {$do}");
    }

    /**
     * @param string $uri with its query
     *
     * @return array{queries: int, calls: int} of one page; calls: -1: not counted
     */
    public function counted(string $uri): array
    {
        $file = "{$this->installation->root}/wp-content/counts.json";
        @unlink($file);
        $this->request('index.php', $uri, ['HTTP_X_LARDER_COUNT' => '1']);
        $this->request('idle.php', '/idle.php');
        $counts = Fields::ofJson((string) @file_get_contents($file) ?: '{}', 'count');

        return ['queries' => $counts->int('queries'), 'calls' => $counts->int('calls')];
    }

    /**
     * @param \Closure(): string $request
     * @param list<string>       $expects
     */
    private function measured(\Closure $request, array $expects, int $requests): Cost
    {
        $answers = [];
        $servers = CpuTime::of($this->servers);
        $workers = CpuTime::of($this->workers);
        $begin = hrtime(true);
        for ($number = 0; $number < $requests; $number++) {
            $answers[] = $request();
        }
        // It is answered when what the last one does after its answer is done.
        $this->request('idle.php', '/idle.php');
        $time = hrtime(true) - $begin;
        $workers = CpuTime::of($this->workers) - $workers;
        $servers = CpuTime::of($this->servers) - $servers;
        foreach ($answers as $answer) {
            foreach ($expects as $expected) {
                if (!str_contains($answer, $expected)) {
                    throw $this->failed($answer, $expected);
                }
            }
        }

        return new Cost($time / $requests, $workers / $requests, $servers / $requests);
    }

    /** @param array<string, string> $more */
    private function request(string $script, string $uri, array $more = []): string
    {
        $answer = $this->client->get("{$this->installation->root}/{$script}", [], [
            'QUERY_STRING' => (string) parse_url($uri, \PHP_URL_QUERY), 'REQUEST_URI' => $uri, 'SCRIPT_NAME' => "/{$script}", 'DOCUMENT_URI' => "/{$script}",
            'DOCUMENT_ROOT' => $this->installation->root, 'HTTP_HOST' => Installation::HOST, 'SERVER_NAME' => Installation::HOST, 'SERVER_PORT' => '80', 'REMOTE_ADDR' => '127.0.0.1', ...$more,
        ]);

        return $answer ?? throw WorkerFailed::said($this->cache->title, "the worker of php-fpm died while it made {$uri}");
    }

    private function failed(string $answer, string $expected = ''): WorkerFailed
    {
        return WorkerFailed::said($this->cache->title, sprintf(
            'a page %s: "%s"',
            $expected === '' ? 'was an error' : "has no \"{$expected}\" in it",
            substr(trim((string) preg_replace('/\s+/', ' ', strip_tags((string) preg_replace('~<(script|style).*?</\1>~s', '', $answer)))), 0, 200),
        ));
    }

    /** The re-created design as a drop-in. */
    private static function dropIn(ObjectCache $cache, string $store): string
    {
        $files = [...($cache->name === ObjectCache::LIMIT ? [] : ['Store.php', 'Rival.php']), ...array_map(static fn(string $class): string => "{$class}.php", $cache->classes), 'functions.inc'];
        $code = "<?php\n\ndeclare(strict_types=1);\n\nnamespace Larder\\WordPress\\Bench;\n\n";
        foreach ($files as $file) {
            $code .= 'require ' . var_export(Shop::scripts() . "/rivals/{$file}", true) . ";\n";
        }

        return "{$code}\nfunction open(): object\n{\n    return {$store};\n}\n";
    }

    /** Counts the calls of a request that asks for it. */
    private static function count(Installation $installation): void
    {
        $dropIn = "{$installation->root}/wp-content/object-cache.php";
        file_put_contents($dropIn, file_get_contents($dropIn) . sprintf(
            "\nif (isset(\$_SERVER['HTTP_X_LARDER_COUNT'])) {\n    add_filter('larder_backend', static function (\$backend) { require_once %s; return new Larder\\WordPress\\Bench\\Counting(\$backend); });\n}\n",
            var_export(Shop::scripts() . '/Counting.php', true),
        ));
    }
}
