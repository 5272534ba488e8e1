<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment\Tag;

use Larder\Bench\Experiment\ChildProcess;
use Larder\Bench\Experiment\Companion;
use Larder\Bench\Experiment\Tag\Catalogue;
use Larder\Bench\Experiment\Tag\Cleans;
use Larder\Bench\Experiment\Tag\Design;
use Larder\Bench\Experiment\Tag\FewItems;
use Larder\Bench\Experiment\Tag\LaravelTags;
use Larder\Bench\Experiment\Tag\Room;
use Larder\Bench\Experiment\Tag\ServesRequests;
use Larder\Bench\Experiment\Tag\SharedMemoryTags;
use Larder\Bench\Experiment\Tag\SymfonyTags;
use Larder\Bench\Experiment\Tag\TagClients;
use Larder\Bench\Experiment\Tag\TagFiles;
use Larder\Bench\Experiment\Tag\TaggedCache;
use Larder\Bench\Experiment\Tag\TagSets;
use Larder\Bench\Experiment\Tag\TwoLevels;
use Larder\Bench\Experiment\Tag\ZendTags;
use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Server\RedisClusterServer;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\Server;
use Larder\SharedMemory;
use Larder\Tests\Bench\RealServers;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\TestWith;

final class DesignsTest extends RealServers
{
    private string $directory;

    /** @var list<Server> */
    private array $servers = [];

    protected function setUp(): void
    {
        $this->directory = FileSystem::onDisk() . '/larder-tags-' . bin2hex(random_bytes(6));
        mkdir($this->directory, 0o700);
    }

    protected function tearDown(): void
    {
        array_map(static fn(Server $server) => $server->stop(), $this->servers);
        FileSystem::remove($this->directory);
        Pools::remove(basename($this->directory));
    }

    #[TestWith(['shared memory'])]
    #[TestWith(['files'])]
    #[TestWith(['sets'])]
    #[TestWith(['memcached over files'])]
    #[TestWith(['memcached over sets'])]
    #[TestWith(['cache-php-file'])]
    #[TestWith(['cache-tier-apcu'])]
    #[TestWith(['cache-tier-shared-memory'])]
    #[TestWith(['cache-tier-apcu-redis'])]
    #[TestWith(['cache-tier-shared-memory-redis'])]
    #[TestWith(['cache-redis-near'])]
    #[TestWith(['cache-redis-cluster'])]
    #[TestWith(['magento-shared-memory'])]
    #[TestWith(['magento-redis'])]
    #[TestWith(['magento-redis-near'])]
    #[TestWith(['symfony-shared-memory'])]
    #[TestWith(['symfony-apcu'])]
    #[TestWith(['symfony-redis'])]
    #[TestWith(['symfony-redis-near'])]
    #[TestWith(['symfony-own-tags-apcu'])]
    #[TestWith(['symfony-own-tags-redis'])]
    #[TestWith(['symfony-own-redis'])]
    #[TestWith(['symfony-own-files'])]
    public function testACleanRemovesWhatHasTheTagAndNothingElse(string $name): void
    {
        $cache = $this->design($name);
        $cache->save('one', 'first', ['red', 'round'], 100);
        $cache->save('two', 'second', ['round'], 100);
        $cache->save('three', 'third', [], 100);
        // The second time without the tag that it had.
        $cache->save('four', 'fourth', ['red'], 100);
        $cache->save('four', 'fourth again', ['blue'], 100);
        // With the tags that they were stored with, for those of Laravel.
        $load = static fn(string $id): ?string => $cache->load($id, match ($id) {
            'one' => ['red', 'round'],
            'two' => ['round'],
            'four' => ['blue'],
            default => [],
        });
        self::assertSame(['first', 'second', 'third', 'fourth again', null], array_map($load, ['one', 'two', 'three', 'four', 'five']));

        $cache->clean(['red']);
        self::assertSame([null, 'second', 'third', 'fourth again'], array_map($load, ['one', 'two', 'three', 'four']));
        $cache->clean(['blue', 'round', 'never seen']);
        self::assertSame([null, null, 'third', null], array_map($load, ['one', 'two', 'three', 'four']));
        $cache->save('one', 'anew', ['red', 'round'], 100);
        self::assertSame('anew', $load('one'));
    }

    #[TestWith([2])]
    #[TestWith([15])]
    public function testTagSetsPayTwoRoundTripsForAWriteHoweverManyTagsItHas(int $count): void
    {
        $socket = $this->redisSocket();
        $cache = new TagSets($socket);
        $tags = array_map(static fn(int $number): string => "tag_{$number}", range(1, $count));

        self::assertSame(1, self::roundTrips($socket, static fn() => $cache->load('one')));
        self::assertSame(2, self::roundTrips($socket, static fn() => $cache->save('one', 'first', $tags, 100)));
        self::assertSame(2, self::roundTrips($socket, static fn() => $cache->save('one', 'second', ['other'], 100)));
        self::assertSame(2, self::roundTrips($socket, static fn() => $cache->clean(['other'])));
        $cache->save('two', 'third', $tags, 100);
        self::assertSame(2, self::roundTrips($socket, static fn() => $cache->remove('two')));
        self::assertSame([null, null], array_map($cache->load(...), ['one', 'two']));
    }

    public function testWhatWasCleanedIsNotCountedAsAHitAndIsStoredAgain(): void
    {
        $place = ['directory' => $this->directory, 'pool' => basename($this->directory), 'bytes' => 8 << 20, 'redis' => '', 'memcached' => '', 'zend' => '', 'laravel' => '', 'servers' => ''];
        $found = ChildProcess::run('tags', TagClients::class, [
            'design' => 'shared-memory', 'items' => 100, 'clients' => 2, 'operations' => 20_000, 'milliseconds' => 120_000, 'milliseconds of cleans' => 60_000, 'milliseconds afterwards' => 60_000, 'milliseconds of reads' => 1, 'in requests' => 0,
            'place' => json_encode($place, JSON_THROW_ON_ERROR), 'few' => json_encode([...$place, 'pool' => basename($this->directory) . '-few'], JSON_THROW_ON_ERROR), 'few items' => 20,
        ]);

        // Each client cleans twenty of the 2,000 tags; an item has seven of them.
        self::assertGreaterThan(0, $found->int('0 hits'));
        self::assertLessThan($found->int('0 reads'), $found->int('0 hits'));
        // Then another 208 tags are cleaned, one after the other.
        foreach (['many 0', 'few 0', 'many 15', 'few 15'] as $block) {
            self::assertGreaterThan(0.0, $found->float($block));
            self::assertSame(0.0, $found->float("server cpu of {$block}"), 'shared memory has no server');
        }
        $missing = $found->int('0 refills') + $found->int('1 refills');
        self::assertGreaterThan(40, $missing);
        self::assertLessThan(90, $missing, 'An item with other tags is still there.');
        self::assertSame([], glob('/dev/shm/larder-*/' . basename($this->directory) . '-*'), 'No pool is left beside the one that the test removes.');
    }

    public function testATrialOfATierLeavesNoPool(): void
    {
        mkdir("{$this->directory}/few");
        $place = ['directory' => $this->directory, 'pool' => basename($this->directory), 'bytes' => 8 << 20, 'redis' => '', 'memcached' => '', 'zend' => '', 'laravel' => '', 'servers' => ''];
        ChildProcess::run('tags', TagClients::class, [
            'design' => 'cache-tier-shared-memory', 'items' => 20, 'clients' => 1, 'operations' => 1_001, 'milliseconds' => 120_000, 'milliseconds of cleans' => 60_000, 'milliseconds afterwards' => 60_000, 'milliseconds of reads' => 1, 'in requests' => 0,
            'place' => json_encode($place, JSON_THROW_ON_ERROR), 'few' => json_encode([...$place, 'directory' => "{$this->directory}/few", 'pool' => basename($this->directory) . '-few'], JSON_THROW_ON_ERROR), 'few items' => 20,
        ]);

        self::assertSame([], glob('/dev/shm/larder-*/' . basename($this->directory) . '*'));
    }

    #[TestWith(['laravel-shared-memory'])]
    #[TestWith(['laravel-redis-near'])]
    #[TestWith(['laravel-own-apcu'])]
    public function testLaravelsStoresAreMeasuredWhereLaravelIsAndNamedWhereItIsNot(string $design): void
    {
        // Where tools/integration has put it.
        $laravel = dirname(__DIR__, 4) . '/build/integrations/laravel';
        if (LaravelTags::autoloaders($laravel) === []) {
            self::assertStringContainsString('give --laravel the folder of an application', (string) Design::from($design)->lack(null, $laravel));

            return;
        }
        self::assertNull(Design::from($design)->lack(null, $laravel));
        $place = ['directory' => $this->directory, 'pool' => basename($this->directory), 'bytes' => 8 << 20, 'redis' => $this->redisFor($design), 'memcached' => '', 'zend' => '', 'laravel' => $laravel, 'servers' => ''];
        $found = ChildProcess::run('tags', TagClients::class, [
            'design' => $design, 'items' => 100, 'clients' => 1, 'operations' => 3_000, 'milliseconds' => 120_000, 'milliseconds of cleans' => 60_000, 'milliseconds afterwards' => 60_000, 'milliseconds of reads' => 1, 'in requests' => 1,
            'place' => json_encode($place, JSON_THROW_ON_ERROR), 'few' => json_encode([...$place, 'pool' => basename($this->directory) . '-few', 'redis' => $this->redisFor($design)], JSON_THROW_ON_ERROR), 'few items' => 20,
        ]);

        self::assertSame([3, 3], [$found->int('0 writes'), $found->int('0 cleans')]);
        self::assertGreaterThan(2_000, $found->int('0 hits'));
        self::assertGreaterThan(0, $found->int('0 hits time'));
    }

    public function testTheEndOfARequestIsThatOfTheFramework(): void
    {
        $reader = SymfonyTags::overApcu();
        $reader->save('item', 'value', ['tag'], 100);
        self::assertSame('value', $reader->load('item'));
        SymfonyTags::overApcu()->clean(['tag']);

        $reader->endRequest();

        // Within one request, Symfony's adapter takes what it knows of a tag for true, for a while.
        self::assertNull($reader->load('item'));
    }

    public function testWhatServesRequestsSaysWhenOneIsOver(): void
    {
        $place = new Fields(['pool' => basename($this->directory), 'bytes' => 16 << 20, 'directory' => $this->directory, 'redis' => '', 'memcached' => '', 'cluster' => '', 'zend' => '', 'laravel' => ''], 'place');
        foreach ([Design::SymfonySharedMemory, Design::SymfonyOwnApcu, Design::SharedMemory, Design::MagentoSharedMemory] as $design) {
            self::assertSame($design->servesRequests(), $design->open($place) instanceof ServesRequests, $design->value);
        }
    }

    public function testLaravelIsFoundInAnApplicationAndWhereDebianPutsIt(): void
    {
        self::assertSame([], LaravelTags::autoloaders($this->directory));
        mkdir("{$this->directory}/app/vendor/laravel/framework", 0o700, true);
        touch("{$this->directory}/app/vendor/autoload.php");
        foreach (['Cache', 'Redis'] as $part) {
            mkdir("{$this->directory}/debian/Illuminate/{$part}", 0o700, true);
            touch("{$this->directory}/debian/Illuminate/{$part}/autoload.php");
        }

        self::assertSame(["{$this->directory}/app/vendor/autoload.php"], LaravelTags::autoloaders("{$this->directory}/app"));
        self::assertSame(["{$this->directory}/app/vendor/autoload.php"], LaravelTags::autoloaders("{$this->directory}/app/vendor"));
        self::assertSame([], LaravelTags::autoloaders("{$this->directory}/debian"), 'Version 8 of Laravel is too old.');
        touch("{$this->directory}/debian/Illuminate/Cache/RedisTagSet.php");
        self::assertSame(["{$this->directory}/debian/Illuminate/Cache/autoload.php", "{$this->directory}/debian/Illuminate/Redis/autoload.php"], LaravelTags::autoloaders("{$this->directory}/debian"));
    }

    public function testALaravelThatFlushesNothingWithThisPhpredisIsNotMeasured(): void
    {
        $old = "\$cursor = \$defaultCursorValue = '0';";
        foreach (['debian' => '', 'application' => 'vendor/laravel/framework/src/', 'packages' => 'vendor/'] as $name => $folder) {
            $cache = $name === 'packages' ? 'illuminate/cache' : 'Illuminate/Cache';
            $place = "{$this->directory}/{$name}";
            mkdir("{$place}/{$folder}{$cache}", 0o700, true);
            mkdir("{$place}/Illuminate/Redis", 0o700, true);
            touch("{$place}/" . ($folder === '' ? 'Illuminate/Cache' : 'vendor') . '/autoload.php');
            foreach ($folder === '' ? [$place] : [$place, "{$place}/vendor"] as $given) {
                file_put_contents("{$place}/{$folder}{$cache}/RedisTagSet.php", $old);
                self::assertStringContainsString('Before version 12', (string) LaravelTags::lack($given, true, '6.2.0'), $given);
                self::assertNull(LaravelTags::lack($given, true, '5.3.7'), $given);
                self::assertNull(LaravelTags::lack($given, false, '6.2.0'), $given);
                file_put_contents("{$place}/{$folder}{$cache}/RedisTagSet.php", '$cursor = $defaultCursorValue;');
                self::assertNull(LaravelTags::lack($given, true, '6.2.0'), $given);
            }
        }
    }

    public function testAPoolHasRoomForOneAndAQuarterTimesItsItems(): void
    {
        $place = Fields::ofJson(json_encode(['directory' => $this->directory, 'pool' => basename($this->directory), 'redis' => '', 'memcached' => '', 'zend' => '', 'laravel' => '', 'servers' => ''], JSON_THROW_ON_ERROR), 'place');
        $catalogue = new Catalogue(40_000);
        $room = Room::times(Design::SharedMemory, $place, $catalogue, 1.25);
        $pool = SharedMemory::open($room->string('pool'), $room->int('bytes'));
        for ($number = 0; $number < $catalogue->items; $number++) {
            $pool->set($catalogue->id($number), $catalogue->value($number), null, $catalogue->tags($number));
        }
        $statistics = $pool->statistics();

        self::assertSame($catalogue->items, $statistics['items']);
        self::assertEqualsWithDelta(1.25, $statistics['capacity'] / $statistics['bytes'], 0.05);
    }

    public function testThePoolInFrontOfAServerHasRoomTooAndTheServerNoItemOfTheTrial(): void
    {
        $place = Fields::ofJson(json_encode(['directory' => $this->directory, 'pool' => basename($this->directory), 'redis' => "{$this->directory}/nothing", 'memcached' => '', 'zend' => '', 'laravel' => '', 'servers' => ''], JSON_THROW_ON_ERROR), 'place');
        foreach ([Design::LibrarySharedMemoryTier, Design::LibrarySharedMemoryRedisTier] as $design) {
            $room = Room::times($design, $place, new Catalogue(1_000), 1.25);
            self::assertGreaterThan(0, $room->int('bytes'));
            self::assertSame("{$this->directory}/nothing", $room->string('redis'), 'The rest of the place stays as it is.');
        }
    }

    public function testTheTagsThatAreComparedAreCleanedBeforeTheFewItemsAreStored(): void
    {
        $place = json_encode(['directory' => $this->directory, 'pool' => 'none', 'bytes' => 0, 'redis' => '', 'memcached' => '', 'zend' => '', 'laravel' => '', 'servers' => ''], JSON_THROW_ON_ERROR);
        $catalogue = new Catalogue(20);
        $few = Companion::start(FewItems::class, ['design' => 'cache-file', 'place' => $place, 'items' => $catalogue->items], []);
        $few->ask(['cleans' => 0, 'warm' => 0]);

        $cache = Design::LibraryFile->open(Fields::ofJson($place, 'place'));
        $numbers = range(0, $catalogue->items - 1);
        self::assertSame(array_map($catalogue->value(...), $numbers), array_map(static fn(int $number): ?string => $cache->load($catalogue->id($number)), $numbers));
        $slots = $this->slots();
        self::assertGreaterThan(100, count($slots));
        $few->ask(['tags' => Cleans::allTags($catalogue)]);
        // One more is of the tag that no item has.
        self::assertLessThanOrEqual(1, count(array_diff($this->slots(), $slots)), 'A compared tag had no slot before.');
    }

    /** @return list<string> the files that a directory keeps tags in */
    private function slots(): array
    {
        return glob("{$this->directory}/cache/tags/???") ?: [];
    }

    public function testDesignsThatLeaveThousandsOfFilesComeAfterThoseThatDoNot(): void
    {
        $first = [];
        $ownFiles = [Design::LibraryFile, Design::LibraryPhpFile];
        $othersFiles = [Design::Files, Design::MemcachedFiles, Design::ZendFile, Design::ZendMemcachedFile, Design::SymfonyOwnFiles];
        $withoutFiles = count(Design::cases()) - count($ownFiles) - count($othersFiles);
        // That one of 27 is never the first of 1,400 has a chance of 10^-21.
        for ($run = 0; $run < 1_400; $run++) {
            $designs = Design::inTurn(Design::cases());
            self::assertEqualsCanonicalizing($ownFiles, array_slice($designs, $withoutFiles, 2));
            self::assertEqualsCanonicalizing($othersFiles, array_slice($designs, $withoutFiles + 2));
            $first[$designs[0]->value ?? ''] = true;
        }

        self::assertCount($withoutFiles, $first);
    }

    public function testWhatWentWrongWithTheFewItemsIsSaid(): void
    {
        $few = Companion::start(FewItems::class, ['design' => 'tag-sets', 'place' => '{"directory":"","pool":"none","redis":"/nowhere","memcached":"","servers":""}', 'items' => 1], []);

        $this->expectException(\RuntimeException::class);
        $this->expectExceptionMessage('RedisException');
        $few->ask(['tags' => ['red']]);
    }

    public function testTheItemsOfACatalogueAreAlwaysTheSame(): void
    {
        [$one, $other] = [new Catalogue(100), new Catalogue(100)];
        $tags = $bytes = $ownLifetimes = 0;
        for ($number = 0; $number < 1_000; $number++) {
            self::assertSame([$one->value($number), $one->tags($number), $one->lifetime($number)], [$other->value($number), $other->tags($number), $other->lifetime($number)]);
            self::assertLessThanOrEqual(15, count($one->tags($number)));
            $tags += count($one->tags($number));
            $bytes += strlen($one->value($number));
            $ownLifetimes += (int) ($one->lifetime($number) !== 7_200);
        }
        self::assertEqualsWithDelta(7.5, $tags / 1_000, 0.5);
        self::assertEqualsWithDelta(512, $bytes / 1_000, 30);
        self::assertEqualsWithDelta(1 / 6, $ownLifetimes / 1_000, 0.04);
        self::assertSame(md5('7'), $one->id(7));
    }

    public function testABackEndOfTheReadersIsCalledByItsDocumentedMethods(): void
    {
        mkdir("{$this->directory}/Own/Cache", 0o700, true);
        file_put_contents("{$this->directory}/Own/Cache/Backend.php", <<<'CODE'
            <?php
            final class Own_Cache_Backend
            {
                private array $items = [];
                public function __construct(private array $options) {}
                public function load($id, $doNotTestCacheValidity = false) { return $this->items[$id][0] ?? false; }
                public function save($data, $id, $tags = [], $specificLifetime = false) { $this->items[$id] = [$data, $tags]; return true; }
                public function clean($mode = 'all', $tags = [])
                {
                    if ($mode !== 'matchingAnyTag' || $this->options !== ['a' => 1]) { throw new LogicException($mode); }
                    $this->items = array_filter($this->items, static fn (array $item): bool => array_intersect($item[1], $tags) === []);
                }
            }
            CODE);
        $level = error_reporting();
        $path = get_include_path();
        try {
            $cache = ZendTags::open($this->directory, 'Own_Cache_Backend', ['a' => 1]);
            $cache->save('one', 'first', ['red'], 100);
            $cache->save('two', 'second', ['blue'], 100);
            $cache->clean(['red']);

            self::assertNull($cache->load('one'));
            self::assertSame('second', $cache->load('two'));
            $this->expectExceptionMessage('give --zend the folder that has');
            ZendTags::open($this->directory, 'Own_Cache_Other', []);
        } finally {
            error_reporting($level);
            set_include_path($path);
        }
    }

    /**
     * How often the server found something to read: once for what is sent in one piece.
     *
     * @param \Closure(): mixed $what
     */
    private static function roundTrips(string $socket, \Closure $what): int
    {
        $observer = new \Redis();
        $observer->connect($socket);
        $reads = static function () use ($observer): int {
            $statistics = $observer->info('stats');
            $count = is_array($statistics) ? $statistics['total_reads_processed'] ?? null : null;
            self::assertIsNumeric($count);

            return (int) $count;
        };
        $before = $reads();
        $what();

        // The second look at the statistics is a read of the server's, too.
        return $reads() - $before - 1;
    }

    private function design(string $name): TaggedCache
    {
        return match ($name) {
            'shared memory' => new SharedMemoryTags(basename($this->directory), 8 << 20),
            'files' => new TagFiles($this->directory),
            'sets' => new TagSets($this->redisSocket()),
            'memcached over files' => new TwoLevels($this->memcachedSocket(), new TagFiles($this->directory)),
            'memcached over sets' => new TwoLevels($this->memcachedSocket(), new TagSets($this->redisSocket())),
            default => Design::from($name)->open(new Fields([
                'directory' => $this->directory, 'pool' => basename($this->directory), 'bytes' => 8 << 20, 'memcached' => '', 'zend' => '', 'laravel' => '',
                'redis' => $this->redisFor($name),
                'cluster' => $name === 'cache-redis-cluster' ? $this->cluster() : '',
            ], 'place')),
        };
    }

    /** @return string the socket of a server of its own; '': the design needs none */
    private function redisFor(string $name): string
    {
        $design = Design::from($name);

        return in_array('redis', $design->needs(), true) ? $this->redisSocket($design->redisOptions()) : '';
    }

    private function cluster(): string
    {
        $this->servers[] = $server = RedisClusterServer::start(RedisFlavour::installed() ?? self::lack('redis-server or valkey-server'), 64);

        return $server->endpoint()['hosts'];
    }

    /** @param list<string> $options */
    private function redisSocket(array $options = []): string
    {
        $this->servers[] = $server = self::redis(options: $options);

        return $server->socket;
    }

    private function memcachedSocket(): string
    {
        self::need('memcached');
        $this->servers[] = $server = MemcachedServer::onSocket(64);

        return (string) $server->socket;
    }
}
