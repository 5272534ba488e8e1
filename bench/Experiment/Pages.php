<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\WordPress\Cost;
use Larder\Bench\WordPress\ObjectCache;
use Larder\Bench\WordPress\Shop;
use Larder\Bench\WordPress\ShopSite;

/** What pages of a real WordPress cost, by object cache. */
final class Pages implements Experiment
{
    public const CPU = 'processor time of a page';
    public const RATE = 'pages per second';
    public const QUERIES = 'queries of a page';
    public const STORE_CALLS = 'calls of the store';

    public const FRONT = 'front page';
    public const CATALOGUE = 'catalogue';
    public const POST = 'a single post';
    public const SEARCH = 'a search';
    public const SAVE = 'saving a post';
    public const CRON = 'wp-cron';

    public const WARM = 'warm';
    public const COLD = 'cold';
    public const AFTER_SAVE = 'after one save';

    /** The newest story, which is on the front page, and the last product, which is on the catalogue's last page (integrations/wordpress/bench/fill.inc). */
    private const FIRST_ID = 1_000;
    private const STORIES = 40;

    /** @var int how many posts were saved, so that no title is given twice */
    private int $saved = 0;

    public function name(): string
    {
        return 'pages';
    }

    public function title(): string
    {
        return 'Pages of WordPress';
    }

    public function recreates(): string
    {
        return 'Source B counts views per second of page 75 of the catalogue of a WooCommerce shop with 1,350 products. Ours has 1,350 products at 18 a '
            . 'page, with three variations each, prices and attributes, as posts, meta and terms, and a catalogue of its own that queries likewise. A real '
            . 'WordPress runs under php-fpm with one worker, over one MariaDB. The front page, a single post, a search, the saving of a post and wp-cron are '
            . 'added, each with no object cache, with ours, and with re-created designs of published ones; --wordpress-peers measures originals. The first '
            . 'figure is the processor time of all processes, that of php-fpm beside that of the database and the store. Each page is looked at: the saved text has to be on it. The limit is no cache: all that a page reads lies in one array, which is used without a copy.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(200, 3_072, $profile === Profile::Quick ? 113 : 462);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $runs = $isQuick ? 2 : 3;
        $turns = $isQuick ? 3 : 6;
        $requests = $isQuick ? 5 : 8;
        $outcome->parameters = ['runs' => $runs, 'turns in each' => $turns, 'requests a sample' => $requests, 'products' => Shop::PRODUCTS, 'products a page' => Shop::ON_A_PAGE];
        $sites = Sites::open($laboratory, $outcome, Shop::PRODUCTS);
        if ($sites === null) {
            return;
        }
        $progress->begin($this->title(), $runs * $turns);
        for ($run = 0; $run < $runs; $run++) {
            $sites->reopen();
            for ($turn = 0; $turn < $turns; $turn++) {
                $progress->advance('turn ' . ($run * $turns + $turn + 1) . ' of ' . $runs * $turns);
                foreach ($this->steps($outcome, $run, $turn, $requests) as $step) {
                    // All sites do one step after the other, so that what is compared is seconds apart.
                    foreach (Shuffled::of($sites->sites) as $name => $site) {
                        $laboratory->goOn();
                        try {
                            $step($name, $site);
                        } catch (WorkerFailed $failure) {
                            $sites->drop($name, $failure);
                        }
                    }
                }
            }
        }
        $progress->end();
    }

    /** @return array<string, array{string, string}> page => [URI, what it has in it] */
    private static function uris(): array
    {
        $story = self::FIRST_ID + 4 * Shop::PRODUCTS;

        return [
            self::FRONT => ['/', 'Story 35'],
            self::CATALOGUE => ['/?post_type=product&paged=' . intdiv(Shop::PRODUCTS, Shop::ON_A_PAGE), 'Product 1340'],
            self::POST => ['/?p=' . ($story + 19), 'Story 20'],
            self::SEARCH => ['/?s=Product', 'Product 1345'],
        ];
    }

    /** @return list<\Closure(string, ShopSite): void> of a turn, each for every site */
    private function steps(Outcome $outcome, int $run, int $turn, int $requests): array
    {
        $pages = self::uris();
        $steps = [];
        if ($turn === 0) {
            // What opcache has not compiled yet is no matter of the object cache.
            $steps[] = static function (string $name, ShopSite $site) use ($pages): void {
                foreach ($pages as [$uri, $expects]) {
                    $site->pages($uri, $expects, 1);
                }
            };
        }
        $isFirst = $run === 0 && $turn === 0;
        foreach ([self::FRONT, self::CATALOGUE] as $page) {
            $steps[] = fn(string $name, ShopSite $site) => $this->cold($outcome, $name, $site, $page, $run, $turn, $isFirst);
        }
        foreach (array_keys($pages) as $page) {
            $often = \in_array($page, [self::FRONT, self::CATALOGUE], true) ? $requests : intdiv($requests, 2);
            $steps[] = fn(string $name, ShopSite $site) => $this->warm($outcome, $name, $site, $page, $run, $turn, $isFirst, $often);
        }
        $newest = [self::FRONT => self::FIRST_ID + 4 * Shop::PRODUCTS + self::STORIES - 1, self::CATALOGUE => self::FIRST_ID + 4 * (Shop::PRODUCTS - 1)];
        foreach ($newest as $page => $post) {
            $steps[] = fn(string $name, ShopSite $site) => $this->save($outcome, $name, $site, $page, $run, $turn, $post);
        }
        $steps[] = fn(string $name, ShopSite $site) => $name === ObjectCache::LIMIT ? null : $this->add($outcome, $name, self::CRON, self::WARM, $run, $turn, $site->cron());

        return $steps;
    }

    private function cold(Outcome $outcome, string $name, ShopSite $site, string $page, int $run, int $turn, bool $isCounted): void
    {
        if ($name === ObjectCache::LIMIT) {
            return;
        }
        [$uri, $expects] = self::uris()[$page];
        $site->visit('flush');
        if ($isCounted) {
            $this->count($outcome, $name, $site, $page, self::COLD);
            $site->visit('flush');
        }
        $this->add($outcome, $name, $page, self::COLD, $run, $turn, $site->pages($uri, $expects, 1));
    }

    private function warm(Outcome $outcome, string $name, ShopSite $site, string $page, int $run, int $turn, bool $isCounted, int $requests): void
    {
        [$uri, $expects] = self::uris()[$page];
        $site->pages($uri, $expects, 1);
        if ($isCounted) {
            $this->count($outcome, $name, $site, $page, self::WARM);
        }
        $found = $site->pages($uri, $expects, $requests);
        $this->add($outcome, $name, $page, self::WARM, $run, $turn, $found);
        $outcome->measurement(['cache' => self::WARM, 'page' => $page], self::RATE, 'pages per second', Direction::HigherIsBetter, $name)->add($run, $turn, 1e9 / $found->time);
    }

    private function save(Outcome $outcome, string $name, ShopSite $site, string $page, int $run, int $turn, int $post): void
    {
        if ($name === ObjectCache::LIMIT) {
            return;
        }
        $title = ($page === self::FRONT ? 'Story' : 'Product') . " saved {$this->saved}";
        $this->saved++;
        $found = $site->measuredVisit('save', ['post' => $post, 'title' => $title], "\"saved\":{$post}");
        if ($page === self::FRONT) {
            $this->add($outcome, $name, self::SAVE, self::WARM, $run, $turn, $found);
        }
        $this->add($outcome, $name, $page, self::AFTER_SAVE, $run, $turn, $site->pages(self::uris()[$page][0], $title, 1));
    }

    private function add(Outcome $outcome, string $name, string $page, string $cache, int $run, int $turn, Cost $found): void
    {
        $outcome->measurement(['cache' => $cache, 'page' => $page], self::CPU, 'ns per page', Direction::LowerIsBetter, $name, columns: CpuMeter::COLUMNS)
            ->add($run, $turn, $found->processors(), $found->workers, $found->servers);
    }

    private function count(Outcome $outcome, string $name, ShopSite $site, string $page, string $cache): void
    {
        $counts = $site->counted(self::uris()[$page][0]);
        $outcome->measurement(['cache' => $cache, 'page' => $page], self::QUERIES, 'queries', Direction::LowerIsBetter, $name)->add(0, 0, $counts['queries']);
        if ($counts['calls'] >= 0) {
            $outcome->measurement(['cache' => $cache, 'page' => $page], self::STORE_CALLS, 'calls', Direction::LowerIsBetter, $name)->add(0, 0, $counts['calls']);
        }
    }
}
