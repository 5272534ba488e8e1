<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Server\Program;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\WordPress\CachedSites;
use Larder\Bench\WordPress\Installation;
use Larder\Bench\WordPress\PageCacheDesign;

/** What a visitor's page costs that a page cache serves, and what saves do to it. */
final class PageCaches implements Experiment
{
    public const CPU = 'processor time of a request';
    public const RATE = 'requests per second';
    public const WIRE = 'bytes on the wire';
    public const MADE = 'pages that WordPress made';
    public const FRESH = 'looks that showed what was saved';

    public const CONCURRENCY = [1, 50];
    public const PROMISED = '52 KB';
    /** 50 clients want a page that was saved a moment ago. */
    public const AFTER_A_PURGE = ['after' => 'a purge', 'concurrency' => '50'];
    public const WHILE_SAVED = ['meanwhile' => 'one save a second', 'concurrency' => '50'];

    private const SIZES = ['10 KB' => 10_240, '52 KB' => 53_248, '200 KB' => 204_800];
    /** Pages beside those, all of which are asked for while one of them is saved. */
    private const SAVED = 40;
    /** Turns of the two that a promise compares while one page is saved: of fewer no ratio can be told. */
    private const COMPARED = 5;
    private const COLUMNS = ['p50 ns', 'p99 ns', 'errors', 'client cpu', 'server cpu', Saturation::SHARE];
    private const GZIP = 'Accept-Encoding: gzip';

    /** @var int how many posts were saved, so that no title is given twice */
    private int $saves = 0;

    public function name(): string
    {
        return 'pagecache';
    }

    public function title(): string
    {
        return 'Cached pages of WordPress';
    }

    public function recreates(): string
    {
        return 'Source A asks files, Redis and Memcached for one value in a script, to learn what a page cache should use. Here they are page caches '
            . 'of a real WordPress, behind nginx and php-fpm. Ours is in both of its places, and re-created designs of published ones are in advanced-cache.php; --wordpress-peers measures originals. An empty script stands beside them, '
            . 'and nginx without PHP as the limit. All send the page compressed. Then a post is saved each second. Counted are the pages that are made anew, the looks that see an old page, and the requests that are served meanwhile.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(200, 2_048, $profile === Profile::Quick ? 235 : 800);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $starts = $isQuick ? 1 : 2;
        $turns = $isQuick ? 6 : 10;
        $seconds = $isQuick ? 0.04 : 0.08;
        $saving = $isQuick ? 2 : 4;
        $outcome->parameters = ['starts' => $starts, 'turns in each' => $turns, 'milliseconds a slice' => (int) (1_000 * $seconds), 'seconds of saves' => $saving, 'php-fpm workers' => CachedSites::WORKERS, 'pages while one is saved' => self::SAVED, 'turns of the two compared while one is saved' => self::COMPARED];
        $designs = self::designs($laboratory, $outcome);
        if ($designs === []) {
            return;
        }
        $generator = LoadGenerator::build($laboratory->placement->client);
        $progress->begin($this->title(), $starts * ($turns + 2));
        for ($start = 0; $start < $starts; $start++) {
            $progress->advance('installing WordPress for each');
            $stores = [];
            try {
                $stores = self::stores($laboratory, $designs);
                $sites = CachedSites::open($laboratory->wordpress ?? Installation::DEFAULT, $designs, $stores, [...array_values(self::SIZES), ...array_fill(0, self::SAVED, self::SIZES['10 KB'])], $laboratory->placement->server);
                $laboratory->describe($sites->descriptions());
                $designs = array_diff_key($designs, $this->failing($outcome, $generator, $sites, array_keys($designs), $start));
                for ($turn = 0; $turn < $turns; $turn++) {
                    $progress->advance('turn ' . ($start * $turns + $turn + 1) . ' of ' . $starts * $turns);
                    $this->hits($laboratory, $outcome, $generator, $sites, $stores, array_keys($designs), $start, $turn, $seconds);
                }
                $progress->advance('pages while posts are saved');
                $this->saves($laboratory, $outcome, $generator, $sites, array_keys(array_filter($designs, static fn(PageCacheDesign $design): bool => $design->isSite())), $start, $isQuick ? 2 : 3, $saving);
            } catch (ServerFailed|WorkerFailed $failure) {
                foreach (array_keys($designs) as $name) {
                    $outcome->fail($name, $failure);
                }
                break;
            } finally {
                unset($sites);
                array_map(static fn(Server $store) => $store->stop(), $stores);
            }
        }
        Saturation::mark($outcome);
        $progress->end();
    }

    /** @return array<string, PageCacheDesign> that can be measured here, by name; the others are noted */
    private static function designs(Laboratory $laboratory, Outcome $outcome): array
    {
        $flavour = RawStores::flavour();
        $designs = PageCacheDesign::all($flavour->value, $flavour->title(), $laboratory->peers);
        $outcome->titles = array_map(static fn(PageCacheDesign $design): string => $design->title, $designs);
        $missing = Installation::missing($laboratory->wordpress ?? Installation::DEFAULT) ?? (Program::find('nginx') === null ? 'nginx is not installed: install nginx-light.' : null);
        if ($missing !== null) {
            array_map(static fn(string $name) => $outcome->lack($name, $missing), array_keys($designs));

            return [];
        }
        $designs = array_filter($designs, static fn(PageCacheDesign $design): bool => $design->needs === null || $outcome->includes($laboratory, $design->name, $design->needs));
        foreach ($designs as $name => $design) {
            $lack = match (true) {
                $design->isOnRedis() && RedisFlavour::installed() === null => 'neither Redis nor Valkey is installed: install redis-server or valkey-server.',
                $name === PageCacheDesign::RIVAL_REDIS => Extension::missing('redis', 'php-redis'),
                default => null,
            };
            if ($lack !== null) {
                $outcome->lack($name, $lack);
                unset($designs[$name]);
            }
        }

        return $designs;
    }

    /**
     * @param array<string, PageCacheDesign> $designs
     *
     * @return array<string, Server> by name: each has one alone
     *
     * @throws ServerFailed
     */
    private static function stores(Laboratory $laboratory, array $designs): array
    {
        $stores = [];
        foreach ($designs as $name => $design) {
            $kind = $design->isOnRedis() ? RawStores::flavour()->value : ($name === PageCacheDesign::RIVAL_MEMCACHED ? RawStores::MEMCACHED : null);
            $store = $kind === null ? null : RawStores::server($kind, $laboratory, Laboratory::MEGABYTES);
            if ($store !== null) {
                $stores[$name] = $store;
                $laboratory->describe(["{$name} for pages" => $store->description()]);
            }
        }

        return $stores;
    }

    /**
     * Has all workers serve each page before anything is measured.
     *
     * @param list<string> $names
     *
     * @return array<string, WorkerFailed> by name: those that do not serve it
     */
    private function failing(Outcome $outcome, LoadGenerator $generator, CachedSites $sites, array $names, int $start): array
    {
        $failing = $sites->failures;
        foreach (array_diff($names, array_keys($failing)) as $name) {
            try {
                $this->warm($outcome, $generator, $sites, $name, $start);
            } catch (WorkerFailed $failure) {
                $failing[$name] = $failure;
            }
        }
        foreach ($failing as $name => $failure) {
            $outcome->fail($name, $failure);
        }

        return $failing;
    }

    /** @throws WorkerFailed */
    private function warm(Outcome $outcome, LoadGenerator $generator, CachedSites $sites, string $name, int $start): void
    {
        foreach (array_keys(self::SIZES) as $page => $size) {
            $wire = $sites->warm($name, $page, self::SIZES[$size]);
            if ($start === 0) {
                $outcome->measurement(['page' => $size], self::WIRE, 'bytes', Direction::LowerIsBetter, $name)->add(0, 0, $wire);
            }
            $generator->pages($sites->port($name), [$sites->path($name, $page)], 8, true, 0.1, header: self::GZIP);
        }
    }

    /**
     * @param array<string, Server> $stores
     * @param list<string>          $names
     */
    private function hits(Laboratory $laboratory, Outcome $outcome, LoadGenerator $generator, CachedSites $sites, array $stores, array $names, int $start, int $turn, float $seconds): void
    {
        foreach (array_keys(self::SIZES) as $page => $size) {
            foreach (self::CONCURRENCY as $concurrency) {
                foreach (['on', 'off'] as $keepAlive) {
                    $case = ['page' => $size, 'concurrency' => (string) $concurrency, 'keep-alive' => $keepAlive];
                    // The empty script is asked twice: what it differs by from itself is noise.
                    foreach (Shuffled::of(array_combine([...$names, ''], [...$names, PageCacheDesign::EMPTY])) as $which => $name) {
                        $laboratory->goOn();
                        $watched = [...$sites->processIds($name), ...($stores[$name] ?? null)?->processIds() ?? []];
                        $slice = $generator->pages($sites->port($name), [$sites->path($name, $page)], $concurrency, $keepAlive === 'on', $seconds, $watched, header: self::GZIP)[0] ?? null;
                        if ($slice === null) {
                            continue;
                        }
                        $outcome->measurement($case, self::CPU, 'ns per request', Direction::LowerIsBetter, $name, $which === '')->add($start, $turn, $slice->watchedTime());
                        $outcome->measurement($case, self::RATE, self::RATE, Direction::HigherIsBetter, $name, $which === '', self::COLUMNS)->add($start, $turn, $slice->rate(), ...$slice->columns());
                        if ($slice->errors > 0) {
                            $outcome->notes[] = sprintf('%d requests failed: %s (%s).', $slice->errors, $outcome->titles[$name] ?? $name, implode(', ', $case));
                        }
                    }
                }
            }
        }
    }

    /**
     * @param list<string> $names
     * @param int          $turns of those that no promise compares
     */
    private function saves(Laboratory $laboratory, Outcome $outcome, LoadGenerator $generator, CachedSites $sites, array $names, int $start, int $turns, int $seconds): void
    {
        $first = \count(self::SIZES);
        $compared = array_values(array_intersect($names, [PageCacheDesign::POOL, PageCacheDesign::POOL_CLEARED]));
        for ($turn = 0; $turn < max($turns, self::COMPARED); $turn++) {
            $these = $turn < $turns ? $names : $compared;
            foreach (Shuffled::of(array_combine($these, $these)) as $name) {
                $laboratory->goOn();
                try {
                    for ($page = $first; $page < $first + self::SAVED; $page++) {
                        $sites->warm($name, $page, self::SIZES['10 KB']);
                    }
                    $this->afterAPurge($outcome, $generator, $sites, $name, $first, $start, $turn);
                    $this->whileSaved($outcome, $generator, $sites, $name, $first, $start, $turn, $seconds);
                } catch (WorkerFailed $failure) {
                    $outcome->fail($name, $failure);
                }
            }
        }
    }

    /** @throws WorkerFailed */
    private function afterAPurge(Outcome $outcome, LoadGenerator $generator, CachedSites $sites, string $name, int $page, int $start, int $turn): void
    {
        $sites->save($name, $page, 'Title ' . ++$this->saves);
        $made = $sites->made($name);
        $slice = $generator->pages($sites->port($name), [$sites->path($name, $page)], 50, true, 0.5, header: self::GZIP)[0] ?? null;
        $outcome->measurement(self::AFTER_A_PURGE, self::MADE, 'pages', Direction::LowerIsBetter, $name, columns: ['errors'])->add($start, $turn, $sites->made($name) - $made, $slice->errors ?? 0);
    }

    /**
     * Clients ask for all pages at random, while one of them is saved each second and then looked at.
     *
     * @throws WorkerFailed
     */
    private function whileSaved(Outcome $outcome, LoadGenerator $generator, CachedSites $sites, string $name, int $first, int $start, int $turn, int $seconds): void
    {
        $paths = array_map(static fn(int $page): string => $sites->path($name, $page), range($first, $first + self::SAVED - 1));
        $made = $sites->made($name);
        $seen = $generator->begin($sites->port($name), $paths, 50, true, $seconds, self::GZIP);
        $looks = $fresh = $saves = 0;
        do {
            $due = microtime(true) + 1.0;
            $page = $first + $this->saves % self::SAVED;
            $title = 'Title ' . ++$this->saves;
            $sites->save($name, $page, $title);
            $saves++;
            do {
                $looks++;
                $fresh += $sites->title($name, $page) === $title ? 1 : 0;
                $slice = $seen();
                usleep(20_000);
            } while ($slice === null && microtime(true) < $due);
        } while ($slice === null);
        $case = self::WHILE_SAVED;
        $outcome->measurement($case, self::RATE, self::RATE, Direction::HigherIsBetter, $name, columns: ['errors', 'saves'])->add($start, $turn, $slice->rate(), $slice->errors, $saves);
        $outcome->measurement($case, self::FRESH, 'share', Direction::HigherIsBetter, $name, columns: ['looks', 'old'])->add($start, $turn, $fresh / $looks, $looks, $looks - $fresh);
        $outcome->measurement($case, 'pages made for each save', 'pages', Direction::LowerIsBetter, $name)->add($start, $turn, ($sites->made($name) - $made) / $saves);
    }
}
