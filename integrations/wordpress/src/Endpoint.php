<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * What the dashboard asks by REST, under larder/v1. Each route needs the capability of the settings page. A browser shows that it is
 * the dashboard by WordPress's nonce for REST: without it the request is that of a visitor.
 */
final class Endpoint
{
    public const SPACE = 'larder/v1';

    /** Seconds that counting the groups may take. */
    private const COUNTING = 2.0;

    /** Times of one summary. */
    private const MOST_TIMES = 20_000;

    public function __construct(
        private readonly Plugin $plugin,
    ) {}

    public function register(): void
    {
        $text = ['type' => 'string', 'required' => true];
        $this->route('figures', 'GET', $this->figures(...));
        $this->route('groups', 'GET', $this->groups(...));
        $this->route('flush', 'POST', $this->flush(...), ['what' => ['enum' => ['cache', 'pages', 'everything', 'site', 'group', 'page'], ...$text], 'name' => ['type' => 'string', 'default' => '', 'maxLength' => 2_000]]);
        $this->route('measure', 'POST', $this->measure(...), [
            'run' => ['pattern' => '^[0-9a-f]{8}$', ...$text],
            'place' => ['enum' => ['cache', 'database'], ...$text],
            'operation' => ['enum' => Transients::OPERATIONS, ...$text],
            'from' => ['type' => 'integer', 'required' => true, 'minimum' => 0, 'maximum' => Measurement::NUMBER],
        ]);
        $this->route('summary', 'POST', $this->summary(...), ['times' => ['type' => 'array', 'required' => true, 'minItems' => 1, 'maxItems' => self::MOST_TIMES, 'items' => ['type' => 'number']]]);
    }

    /** What a user needs for the dashboard. */
    public static function capability(): string
    {
        return is_multisite() ? 'manage_network_options' : 'manage_options';
    }

    /**
     * @param \Closure(\WP_REST_Request<array<string, mixed>>): (\WP_REST_Response|\WP_Error) $answer
     * @param array<string, array<string, mixed>>                                                      $arguments
     */
    private function route(string $name, string $method, \Closure $answer, array $arguments = []): void
    {
        register_rest_route(self::SPACE, "/{$name}", [
            'methods' => $method,
            'callback' => static function (\WP_REST_Request $request) use ($answer): \WP_REST_Response|\WP_Error {
                $backend = ObjectCache::current()?->backend();
                // What the dashboard itself asks is no visitor's.
                if ($backend instanceof Measured) {
                    $backend->drop();
                }

                return $answer($request);
            },
            'permission_callback' => static fn(): bool => current_user_can(self::capability()),
            'args' => $arguments,
        ]);
    }

    private function figures(): \WP_REST_Response
    {
        $report = new Report($this->plugin, isRepeated: true);
        $pages = new PageReport($this->plugin->pages);
        $cache = ObjectCache::current();
        $answer = ['state' => [$report->state(), $pages->state()], 'problems' => $report->problems(), 'columns' => Figures::COLUMNS, 'sample' => Sample::size()];
        if ($cache === null) {
            return new \WP_REST_Response([...$answer, 'rows' => [], 'now' => null, 'requests' => null, 'made' => null, 'purges' => []]);
        }
        Figures::takeHits($this->plugin->pages->installed());
        $statistics = $cache->backend()->statistics();
        $kept = Figures::kept(isset($statistics['hits']));

        return new \WP_REST_Response([
            ...$answer,
            'rows' => Figures::rows($kept['row'] ?? []),
            'now' => Figures::now($cache, $statistics),
            'requests' => Figures::requests($kept['request'] ?? []),
            'made' => $pages->isOn() ? self::made(Figures::pages($kept['request'] ?? []), $pages) : null,
            'purges' => Figures::purges($kept['purge'] ?? []),
        ]);
    }

    /**
     * @param array{made: int, reasons: list<array{times: int, why: string}>} $made
     *
     * @return array{made: int, reasons: list<array{times: int, why: string}>} with sentences
     */
    private static function made(array $made, PageReport $report): array
    {
        foreach ($made['reasons'] as $i => ['times' => $times, 'why' => $why]) {
            $made['reasons'][$i] = ['times' => $times, 'why' => $why === '' ? __('The page was not in the cache.', 'larder') : $report->why($why)];
        }

        return $made;
    }

    private function groups(): \WP_REST_Response
    {
        $cache = ObjectCache::current();

        return new \WP_REST_Response($cache !== null
            ? (new Groups($cache->backend(), Settings::ofThisSite()->prefix()))->biggest(self::COUNTING)
            : ['groups' => [], 'isWhole' => true]);
    }

    /** @param \WP_REST_Request<array<string, mixed>> $request */
    private function flush(\WP_REST_Request $request): \WP_REST_Response|\WP_Error
    {
        $name = $request->get_param('name');
        $name = \is_string($name) ? trim($name) : '';
        $what = $request->get_param('what');
        if ($name === '' && ($what === 'group' || $what === 'page')) {
            return new \WP_Error('larder_name', __('Say which one: a group, or the address of a page.', 'larder'), ['status' => 400]);
        }
        $site = $name === '' ? get_current_blog_id() : Plugin::site($name);
        if ($what === 'site' && $site === null) {
            /* translators: %s: what was given for the number of a site. */
            return new \WP_Error('larder_site', sprintf(__('There is no site with the number %s; nothing was flushed.', 'larder'), $name), ['status' => 400]);
        }
        $cache = ObjectCache::current();
        $pages = $this->plugin->pages;
        if ($what === 'page') {
            $mistake = $pages->forget($name);

            return $mistake === null ? new \WP_REST_Response(['done' => true]) : new \WP_Error('larder_page', $mistake, ['status' => $pages->trouble() === null ? 400 : 503]);
        }
        $isThere = $what !== 'group' || $cache?->hasGroup($name) !== false;
        // Where one store fails, the other is flushed.
        $done = match ($what) {
            'cache' => [wp_cache_flush()],
            'pages' => [$pages->flush()],
            'site' => [$pages->flush($site), $cache?->flush_site($site) === true],
            'group' => [$cache?->flush_group($name) === true],
            default => [$pages->flush(), wp_cache_flush()],
        };

        if (!$isThere && $done === [true]) {
            /* translators: %s: the name of a group of the object cache. */
            return new \WP_Error('larder_group', sprintf(__('The cache has nothing of the group %s.', 'larder'), $name), ['status' => 404]);
        }

        return !\in_array(false, $done, true)
            ? new \WP_REST_Response(['done' => true])
            : new \WP_Error('larder_store', \in_array(true, $done, true)
                ? __('One of the stores does not answer; only the other was flushed.', 'larder')
                : __('The store does not answer; nothing was flushed.', 'larder'), ['status' => 503]);
    }

    /** @param \WP_REST_Request<array<string, mixed>> $request */
    private function measure(\WP_REST_Request $request): \WP_REST_Response
    {
        $text = static fn(string $name): string => \is_string($request->get_param($name)) ? $request->get_param($name) : '';
        $from = $request->get_param('from');

        return new \WP_REST_Response(Measurement::step($text('run'), $text('place') === 'database', $text('operation'), \is_int($from) ? $from : 0));
    }

    /** @param \WP_REST_Request<array<string, mixed>> $request */
    private function summary(\WP_REST_Request $request): \WP_REST_Response|\WP_Error
    {
        $times = [];
        $given = $request->get_param('times');
        foreach (\is_array($given) ? $given : [] as $time) {
            if (\is_int($time) || \is_float($time)) {
                $times[] = $time;
            }
        }

        return $times === []
            ? new \WP_Error('larder_times', __('There are no times to summarise.', 'larder'), ['status' => 400])
            : new \WP_REST_Response(Distribution::of($times));
    }
}
