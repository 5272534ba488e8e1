<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Larder\Bench\Subject\Shape\Account;
use Larder\Bench\Subject\Shape\Card;
use Larder\Bench\Subject\Shape\Category;
use Larder\Bench\Subject\Shape\ChangingMoment;
use Larder\Bench\Subject\Shape\Collection;
use Larder\Bench\Subject\Shape\Grant;
use Larder\Bench\Subject\Shape\Graph;
use Larder\Bench\Subject\Shape\Holder;
use Larder\Bench\Subject\Shape\Invoice;
use Larder\Bench\Subject\Shape\Listing;
use Larder\Bench\Subject\Shape\Metadata;
use Larder\Bench\Subject\Shape\Model;
use Larder\Bench\Subject\Shape\Moment;
use Larder\Bench\Subject\Shape\Order;
use Larder\Bench\Subject\Shape\Owner;
use Larder\Bench\Subject\Shape\Peer;
use Larder\Bench\Subject\Shape\Place as TimeZone;
use Larder\Bench\Subject\Shape\Report;
use Larder\Bench\Subject\Shape\Schedule;

/** Values of every shape that an application caches, with code of their own inside and without. */
final class ShapedValues
{
    /** Stored under as many keys. */
    public const SETTINGS = 'settings';
    public const KEYS = 32;
    /** The one that is also read and changed. */
    public const CHANGED = 'metadata';
    private const ROWS = 192;
    private const DATES = 64;
    private const MODELS = 48;
    private const ITEMS = 64;

    /** @return non-empty-array<string, Value> by name */
    public static function all(): array
    {
        $values = [
            self::value('constant-array', 'a small constant array', self::constant(...)),
            self::value('route-table', 'a table of 384 routes', static fn(int $number): array => ['routes' => self::routes($number), 'number' => $number]),
            self::value('large-array', 'a nested array of 192 rows', static fn(int $number): array => ['rows' => self::rows("array {$number}"), 'total' => self::ROWS]),
            self::value('large-string', 'a string of 64 KiB', static fn(int $number): string => str_repeat(sprintf('larder %08d ', $number), 4_096), isString: true),
            self::value('object-graph', 'an object with 192 rows and another object', static fn(int $number): Graph => new Graph("graph {$number}", self::rows('graph'), new Owner('owner', $number))),
            self::value(self::CHANGED, 'an object with routes and services', self::metadata(...), '$value->owner->label = \'changed\';'),
            self::value('sleep', 'an object with __sleep() and __wakeup()', static fn(int $number): Report => new Report("report {$number}", self::endpoints(), self::choices())),
            self::value('serialize', 'an object with __serialize() and __unserialize()', self::order(...)),
            self::value('unserialize', 'an object with __unserialize() alone', self::invoice(...)),
            self::value('sleepers', 'a hundred objects with __sleep() and __wakeup()', self::accounts(...)),
            self::value('sleep-large', 'an object with __sleep(), __wakeup() and 192 rows', static fn(int $number): Report => new Report("report {$number}", self::rows('report'), self::choices())),
            self::value('tree', 'a tree of 85 objects that know their parents', self::tree(...)),
            self::value('mixed', 'an array with objects of both kinds', self::mixed(...)),
            self::value('listing', 'a listing of 80 products', self::listing(...)),
            self::value(self::SETTINGS, 'a group of settings', self::settings(...)),
            self::value('dates', 'an object with two dates, a time zone and an interval', self::grant(...)),
            self::value('collections', 'collections of PHP\'s', self::collections(...)),
            self::value('lists', 'lists of PHP\'s', self::lists(...)),
            self::value('library-schedule', '64 pairs of dates of a library with code of its own', self::librarySchedule(...)),
            self::value('library-models', '48 objects with three such dates each', self::libraryModels(...)),
            self::value('schedule', '64 pairs of dates of PHP\'s', self::schedule(...)),
            self::value('models', '48 objects with three dates of PHP\'s each', self::models(...)),
            self::value('cycle', 'two objects that lead to each other', static fn(int $number): Peer => Peer::pair('one', $number)),
            self::value('child', 'an object with another inside', static fn(int $number): Holder => new Holder('holder', new Owner('child', $number))),
            self::value('cycles', 'an array of two such pairs', static fn(int $number): array => [Peer::pair('first', $number), Peer::pair('second', $number)]),
            self::value('references', 'an array with variables that it has twice', self::references(...)),
        ];

        return array_column($values, null, 'name');
    }

    /** @param \Closure(int): mixed $make */
    private static function value(string $name, string $title, \Closure $make, string $modify = '$value = null;', bool $isString = false): Value
    {
        return new Value($name, $title, $isString, $make, '$element = $value;', '$element = $value;', $modify);
    }

    /** @return array<string, mixed> */
    private static function constant(int $number): array
    {
        $routes = [];
        for ($i = 0; $i < 8; $i++) {
            $routes["/books/{$i}"] = ['controller' => 'Books::show', 'methods' => ['GET'], 'flags' => [$i % 2 === 0, $i % 3 === 0, true], 'score' => 100 + $i];
        }

        return ['routes' => $routes, 'headers' => ['cache-control' => 'public, max-age=60', 'x-number' => (string) $number], 'weights' => [3, 5, 8, 13, 21, 34, 55, 89]];
    }

    /** @return list<array<string, mixed>> */
    private static function rows(string $label): array
    {
        $rows = [];
        for ($i = 0; $i < self::ROWS; $i++) {
            $rows[] = [
                'id' => $i, 'path' => "/jars/{$i}", 'controller' => 'Jars::show', 'title' => "{$label}, row {$i} " . str_repeat((string) ($i % 10), 64),
                'flags' => [$i % 2 === 0, $i % 3 === 0, $i % 5 === 0], 'weights' => [$i, $i + 1, $i + 2, $i + 3, $i + 5],
                'about' => ['shop' => 'shop-' . ($i % 8), 'locale' => $i % 2 === 0 ? 'de_DE' : 'en_GB', 'tags' => ['jar', 'clay', 'row-' . ($i % 16)]],
            ];
        }

        return $rows;
    }

    /** @return array<string, array<string, mixed>> */
    private static function routes(int $number): array
    {
        $routes = [];
        for ($i = 0; $i < 2 * self::ROWS; $i++) {
            $routes["route_{$i}"] = [
                'path' => "/{shop}/jars/{$i}/{slug}", 'controller' => 'App\\Controller\\Jars::show' . ($i % 8), 'methods' => $i % 3 === 0 ? ['GET', 'HEAD'] : ['GET'],
                'variables' => ['shop', 'slug'], 'defaults' => ['_locale' => $i % 2 === 0 ? 'de' : 'en', '_format' => 'html'],
                'requirements' => ['shop' => '[a-z0-9_-]+', 'slug' => '[a-z0-9-]+'], 'score' => $number + $i,
            ];
        }

        return $routes;
    }

    private static function metadata(int $number): Metadata
    {
        $services = [];
        for ($i = 0; $i < 96; $i++) {
            $services["service.{$i}"] = [
                'class' => "App\\Service\\Made{$i}", 'factory' => $i % 5 === 0 ? ['container', 'make'] : null,
                'tags' => ['cache.warm', 'shop.' . ($i % 8)], 'arguments' => ['@logger', '%project%', $i],
            ];
        }

        return new Metadata('application', self::routes(1_000), $services, new Owner('owner', $number));
    }

    /** @return array<string, array<string, mixed>> */
    private static function endpoints(): array
    {
        $endpoints = [];
        for ($i = 0; $i < 48; $i++) {
            $endpoints["route_{$i}"] = ['path' => "/api/jars/{$i}", 'controller' => 'App\\Controller\\Jars' . ($i % 7) . '::show', 'methods' => ['GET', 'POST'], 'score' => 3 * $i];
        }

        return $endpoints;
    }

    /** @return array<string, array<string, mixed>> */
    private static function choices(): array
    {
        return [
            'cache' => ['ttl' => 300, 'jitter' => 15, 'tags' => ['a', 'b', 'c']], 'limits' => ['rate' => 1000, 'burst' => 50],
            'flags' => array_fill_keys(range('a', 'p'), true),
        ];
    }

    /** @return array<string, array<string, mixed>> */
    private static function lines(int $factor): array
    {
        $lines = [];
        for ($i = 0; $i < 40; $i++) {
            $lines["line_{$i}"] = ['text' => "line {$i} " . str_repeat('e', 24), 'rank' => $factor * $i];
        }

        return $lines;
    }

    private static function order(int $number): Order
    {
        return new Order($number, 'an order', self::lines(7), new Order(9_001, 'its predecessor', ['line' => ['text' => 'child', 'rank' => 1]]));
    }

    private static function invoice(int $number): Invoice
    {
        return new Invoice($number, 'an invoice', self::lines(11), new Invoice(7_001, 'its predecessor', ['line' => ['text' => 'child', 'rank' => 1]]));
    }

    /** @return list<Account> */
    private static function accounts(int $number): array
    {
        $accounts = [];
        for ($i = 0; $i < 100; $i++) {
            $accounts[] = new Account($number + $i, "user{$i}@shop.example", $i % 3 === 0 ? ['admin', 'editor'] : ['viewer'], [
                'name' => "User {$i}", 'preferences' => ['locale' => $i % 2 === 0 ? 'de_DE' : 'en_GB', 'theme' => 'dark'], 'counters' => [$i, 2 * $i, 3 * $i],
            ]);
        }

        return $accounts;
    }

    private static function tree(int $number): Category
    {
        $root = new Category("root {$number}", ['depth' => 0]);
        for ($i = 0; $i < 12; $i++) {
            $category = new Category("category {$i}", ['depth' => 1, 'index' => $i]);
            $category->parent = $root;
            for ($j = 0; $j < 6; $j++) {
                $item = new Category("item {$i}.{$j}", ['depth' => 2, 'sku' => sprintf('JAR-%03d-%02d', $i, $j), 'tags' => ['tree', 'node', 'leaf-' . ($j % 3)]]);
                $item->parent = $category;
                $category->children[] = $item;
            }
            $root->children[] = $category;
        }

        return $root;
    }

    /** @return array<string, mixed> */
    private static function mixed(int $number): array
    {
        return [
            'settings' => ['ttl' => 600, 'tags' => ['mixed', 'value'], 'limits' => ['rate' => 250, 'burst' => 25]],
            'order' => self::order($number),
            'report' => new Report('report', ['route_0' => ['score' => 3]], ['flags' => []]),
            'rows' => array_slice(self::rows('mixed'), 0, 24),
        ];
    }

    private static function listing(int $number): Listing
    {
        $cards = $facets = [];
        for ($i = 0; $i < 80; $i++) {
            $badges = ['new' => $i % 7 === 0, 'discount' => $i % 5 === 0 ? 10 + 5 * ($i % 4) : 0, 'tags' => ['shop-' . ($i % 8), 'category-' . ($i % 12)]];
            $cards[] = new Card($number + $i, sprintf('JAR-%05d', $i), "Earthenware jar no. {$i} " . str_repeat(chr(65 + $i % 26), 12), 1_200 + 37 * $i, $badges, new Owner('seller-' . ($i % 9), 500 + $i % 9));
        }
        for ($i = 0; $i < 12; $i++) {
            for ($j = 0; $j < 8; $j++) {
                $facets["facet_{$i}"][] = ['value' => "facet {$i}.{$j}", 'count' => 1_000 - 17 * $i - 11 * $j, 'selected' => $j === $i % 8];
            }
        }

        return new Listing('shop-3:summer', new \DateTimeImmutable('2026-06-30 09:15:00', new \DateTimeZone('UTC')), $cards, $facets, [
            'shop' => 'shop-3', 'locale' => 'de_DE', 'currency' => 'EUR', 'page' => 3, 'sort' => ['field' => 'popularity', 'direction' => 'desc'],
        ]);
    }

    /** @return array<string, mixed> */
    private static function settings(int $number): array
    {
        return [
            'name' => "settings_{$number}", 'shop' => 'shop-' . ($number % 8), 'features' => ['search' => $number % 2 === 0, 'advice' => $number % 3 === 0, 'checkout' => true],
            'limits' => ['items' => 100 + $number, 'burst' => 10 + $number % 5], 'seed' => str_repeat((string) ($number % 10), 48),
        ];
    }

    private static function grant(int $number): Grant
    {
        $zone = new \DateTimeZone('Asia/Tokyo');

        return new Grant(new \DateTimeImmutable('2026-05-01 10:30:45.123456', $zone), $zone, new \DateTimeImmutable("2026-05-02 10:30:45 +{$number} days", new \DateTimeZone('UTC')), new \DateInterval('P1DT2H'));
    }

    private static function collections(int $number): Collection
    {
        $fixed = new \SplFixedArray(self::ITEMS);
        $rows = [];
        for ($i = 0; $i < self::ITEMS; $i++) {
            $row = ['id' => $number + $i, 'label' => "row {$i}", 'score' => 1_000 + 7 * $i];
            $fixed[$i] = $row;
            $rows["row_{$i}"] = $row;
        }

        return new Collection([
            'fixed' => $fixed, 'map' => new \ArrayObject($rows, \ArrayObject::ARRAY_AS_PROPS), 'iterator' => new \ArrayIterator($rows),
            'recursive' => new \RecursiveArrayIterator(['branch' => ['one' => ['score' => 17], 'other' => ['score' => 31]]]),
        ], 'collections', 11);
    }

    private static function lists(int $number): Collection
    {
        [$list, $queue, $stack] = [new \SplDoublyLinkedList(), new \SplQueue(), new \SplStack()];
        for ($i = 0; $i < self::ITEMS; $i++) {
            $row = ['id' => $number + $i, 'label' => "row {$i}", 'score' => 2_000 + 11 * $i];
            $list->push($row);
            $queue->enqueue($row);
            $stack->push($row);
        }

        return new Collection(['list' => $list, 'queue' => $queue, 'stack' => $stack], 'lists', 13);
    }

    private static function schedule(int $number): Schedule
    {
        $zone = new \DateTimeZone('Asia/Tokyo');
        $begin = new \DateTimeImmutable('2026-05-01 10:30:45.123456', $zone);
        $entries = [];
        for ($i = 0; $i < self::DATES; $i++) {
            $there = new \DateTimeZone($i % 2 === 0 ? 'Asia/Tokyo' : 'Europe/Paris');
            $made = new \DateTimeImmutable('2026-05-01 10:30:45.123456 +' . ($number + $i) . ' days', $there);
            $entries[] = ['made' => $made, 'changed' => \DateTime::createFromImmutable($made), 'zone' => $there, 'label' => "entry {$i}"];
        }

        return new Schedule($begin, new \DateTime('2026-05-02 10:30:45', $zone), $zone, $entries);
    }

    private static function librarySchedule(int $number): Schedule
    {
        $zone = new TimeZone('Asia/Tokyo');
        $entries = [];
        for ($i = 0; $i < self::DATES; $i++) {
            $there = new TimeZone($i % 2 === 0 ? 'Asia/Tokyo' : 'Europe/Paris');
            $time = '2026-05-01 10:30:45.123456 +' . ($number + $i) . ' days';
            $entries[] = ['made' => new Moment($time, $there), 'changed' => new ChangingMoment($time, $there), 'zone' => $there, 'label' => "entry {$i}"];
        }

        return new Schedule(new Moment('2026-05-01 10:30:45', $zone), new ChangingMoment('2026-05-02 10:30:45', $zone), $zone, $entries);
    }

    /** @return array{models: list<Model>, count: int} */
    private static function models(int $number): array
    {
        return self::modelsOf(
            $number,
            static fn(string $time, string $zone): \DateTimeImmutable => new \DateTimeImmutable($time, new \DateTimeZone($zone)),
            static fn(string $time, string $zone): \DateTime => new \DateTime($time, new \DateTimeZone($zone)),
        );
    }

    /** @return array{models: list<Model>, count: int} */
    private static function libraryModels(int $number): array
    {
        return self::modelsOf(
            $number,
            static fn(string $time, string $zone): Moment => new Moment($time, new \DateTimeZone($zone)),
            static fn(string $time, string $zone): ChangingMoment => new ChangingMoment($time, new \DateTimeZone($zone)),
        );
    }

    /**
     * @param \Closure(string, string): \DateTimeInterface $fixed
     * @param \Closure(string, string): \DateTimeInterface $changing
     * @return array{models: list<Model>, count: int}
     */
    private static function modelsOf(int $number, \Closure $fixed, \Closure $changing): array
    {
        $models = [];
        for ($i = 0; $i < self::MODELS; $i++) {
            $models[] = new Model(
                $number + $i,
                "model {$i}",
                $fixed("2026-06-29 00:00:00 -{$i} days", 'UTC'),
                $changing('2026-06-29 12:00:00 +' . 7 * $i . ' minutes', 'UTC'),
                $fixed('2026-06-29 08:00:00 +' . $i % 21 . ' days', 'America/Los_Angeles'),
                ['status' => ['draft', 'published', 'archived'][$i % 3], 'score' => 17 * $i, 'flags' => ['featured' => $i % 5 === 0, 'locked' => $i % 7 === 0]],
            );
        }

        return ['models' => $models, 'count' => self::MODELS];
    }

    /** @return array<string, mixed> */
    private static function references(int $number): array
    {
        $value = ['current' => ['id' => $number, 'label' => 'the current one'], 'count' => 1, 'owner' => new Owner('owner', $number)];
        $value['last'] = &$value['current'];
        $value['total'] = &$value['count'];

        return $value;
    }
}
