<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Experiment\Tag\AdapterReads;
use Larder\Bench\Experiment\Tag\Cleans;
use Larder\Bench\Experiment\Tag\CleansLeave;
use Larder\Bench\Experiment\Tag\Design;
use Larder\Bench\Experiment\Tag\Invalidations;
use Larder\Bench\Experiment\Tag\OtherTags;
use Larder\Bench\Experiment\Tag\TagClients;
use Larder\Bench\Experiment\Tag\TagPlace;
use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\WorkerFailed;

/** A shop's cache with tags: how fast it is read, written, and cleaned by tag. */
final class Tags implements Experiment
{
    public const INVALIDATE = 'time to invalidate a tag';
    public const LIVE = 'time to invalidate a tag that living items have';
    public const REFILLS = 'writes after half was cleaned';
    public const HITS = 'reads, of those that hit';
    /** Reads of those that hit, where a request has 20 to 200 operations. */
    public const HITS_IN_REQUESTS = 'hits in requests';
    /** Of a pool. Its clients are long requests, of which few values are used in place. */
    public const COPIED = 'reads that copied the value, rather than use it in place';
    public const CLEAN = 'time to clean a tag';
    public const LEFT = 'items that are left after invalidations of other tags';
    public const GET = 'time of a get through an interface';
    public const ONE_ITEM = ['read' => 'one item'];
    public const TAKEN = 'memory of the items after cleans';
    public const MANY_CLEANS = 1_000;
    public const AFTER_CLEANS = ['cleans' => '1,000'];
    /** Tags that are invalidated, which other items carry. */
    public const CARRIED = 50_000;
    /** Tags that are invalidated, which no item has carried. */
    public const UNCARRIED = 100_000;
    /** Of the mix of reads, writes and cleans, without the benchmark's own loop. */
    public const CPU = 'processor time of an operation of the mix, client and server';
    /** Items of the store that cleaning a tag is compared with. */
    public const FEW = 200;
    private const MANY = 1_000_000;
    /** Of each number of tags. */
    private const ITEMS_THAT_STAY = 20_000;
    private const MEGABYTES_OF_THEM = 64;
    private const POOLS_OF_THEM = 6;
    private const CLIENTS = 4;
    private const OPERATIONS = 50_000;
    private const PLACEMENTS = 3;
    /** So often a design does the mix, each time in a store of its own, if it does all of it in half of the time that it has. */
    private const STARTS = 3;
    private const MEGABYTES = 1_024;
    private const MEGABYTES_OF_FEW = 32;
    private const KINDS = ['reads' => 'reads', 'hits' => self::HITS, 'writes' => 'writes', 'cleans' => 'cleans by tag', 'refills' => self::REFILLS];

    public function name(): string
    {
        return 'tags';
    }

    public function title(): string
    {
        return 'Cleaning by tag, as a shop does';
    }

    public function recreates(): string
    {
        return 'Source D measures four back ends of Magento 1 with a public benchmark of its cache and 200,000 keys; it shows charts '
            . 'only. Ours re-creates that benchmark\'s parameters: 2,000 tags, up to 15 on an item, values of up to 1,024 bytes, one '
            . 'item in six with a lifetime of its own, four clients, of 1,001 operations one clean by a tag and one write, the '
            . 'rest reads of popular items. A rate is operations over the time they took together, summed over the clients. How many reads hit is '
            . 'shown, because what cleans often misses often. Then the same tags are cleaned in this store and in one of ' . self::FEW . ' items, in turns, until half of '
            . 'the items are dead. The missing items are stored again, which pays for what the cleans left. A pool has room for 1.25 times the items, and for 16 MiB at least, which the items of a quick run do not fill. The classic designs are re-created '
            . 'plainly; --zend=DIRECTORY measures the real back ends. Larder\'s adapters of frameworks are called through the interfaces of Zend, Symfony and Laravel, beside '
            . 'the tagged caches that Symfony and Laravel bring. These do the mix once as one long request, and once in requests of 20 to 200 operations. --laravel=DIRECTORY says where Laravel is.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(500, 3_072, $profile === Profile::Quick ? 160 : 1_700);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $items = $isQuick ? 5_000 : 200_000;
        $seconds = $isQuick ? 1.5 : 5.0;
        $cleans = $isQuick ? 1.0 : 3.0;
        $afterwards = $isQuick ? 0.4 : 3.0;
        $outcome->parameters = ['items' => $items, 'tags' => 2_000, 'clients' => self::CLIENTS, 'operations of each client' => self::OPERATIONS, 'operations of a request, where the framework ends one' => implode(' to ', TagClients::REQUEST), 'seconds at most' => (string) $seconds, 'seconds at most of the cleans that are compared' => (string) $cleans, 'seconds at most of the writes after them' => (string) $afterwards, 'runs' => 'one, and ' . self::STARTS . ' of what does all operations in half of that time', 'runs of the extension\'s own call, each in a pool of its own' => $isQuick ? 2 : 3, 'items of the store that cleans are compared with' => self::FEW, 'items of each kind beside which other tags are invalidated' => self::ITEMS_THAT_STAY, 'MiB of their pool' => self::MEGABYTES_OF_THEM, 'pools of each, one after the other' => self::POOLS_OF_THEM, 'places in which cleans in files are compared' => $isQuick ? self::PLACEMENTS : 1, Placement::PARAMETER => Placement::ON_ALL, 'placement of the cleans that are compared' => $laboratory->placement->description];
        $redis = RawStores::flavour()->title();
        $designs = array_values(array_filter(Design::cases(), static fn(Design $design): bool => !$design->isZend() || $laboratory->zend !== null));
        foreach ($designs as $design) {
            $outcome->titles[$design->value] = $design->title($redis);
        }
        $progress->begin($this->title(), count($designs) + 3);
        foreach (Design::inTurn($designs) as $design) {
            $progress->advance($outcome->titles[$design->value] ?? $design->value);
            if (!$this->canRun($outcome, $laboratory, $design)) {
                continue;
            }
            try {
                $this->measure($outcome, $laboratory, $design, intdiv($items, $design->fewerBy()), $seconds, $cleans, $afterwards);
            } catch (WorkerFailed|ServerFailed $failure) {
                $outcome->fail($design->value, $failure);
            }
        }
        $progress->advance('invalidating tags of one and of many items');
        $this->invalidate($laboratory, $outcome, $isQuick ? 2 : 3);
        $progress->advance('invalidating tags of other items');
        $this->invalidateOthers($laboratory, $outcome);
        $progress->advance('reading and cleaning through the adapters of frameworks');
        $this->askAdapters($laboratory, $outcome, $items);
        $progress->end();
    }

    private function askWhatCleansLeave(Laboratory $laboratory, Outcome $outcome, Design $design, int $items, int $run): void
    {
        $directory = TemporaryDirectory::make(FileSystem::inMemory());
        $place = TagPlace::make($design, $laboratory, self::MEGABYTES, $directory->part('cleans'), "{$directory->name()}-cleans");
        try {
            $found = $laboratory->task($outcome->titles[$design->value] ?? $design->value, CleansLeave::class, ['design' => $design->value, 'items' => $items, 'cleans' => self::MANY_CLEANS, 'place' => $place->toJson()]);
        } finally {
            $place->close();
            $directory->remove();
        }
        $outcome->measurement(self::AFTER_CLEANS, self::TAKEN, 'of that before', Direction::LowerIsBetter, $design->value)
            ->add($run, 0, $found->int('after') / max(1, $found->int('before')));
    }

    /** What an adapter costs a read of one item, and what cleans leave in a pool that is used through one. */
    private function askAdapters(Laboratory $laboratory, Outcome $outcome, int $items): void
    {
        if (!$outcome->includes($laboratory, Design::SymfonySharedMemory->value, 'cache-shared-memory')) {
            return;
        }
        $outcome->titles += ['symfony-array' => 'Symfony: ArrayAdapter that serialises nothing'];
        $lacks = $outcome->leftOut;
        $adapters = array_filter(Design::ADAPTERS, static fn(Design $design): bool => !isset($lacks[$design->value]));
        $design = Design::SymfonySharedMemory;
        try {
            for ($run = 0; $run < self::STARTS; $run++) {
                $found = $laboratory->task('adapters', AdapterReads::class, ['bytes' => self::MEGABYTES_OF_FEW << 20, 'laravel' => (string) $laboratory->laravel]);
                foreach ($found->all() as $what => $time) {
                    [$subject, $block] = explode(' ', $what);
                    $outcome->measurement(self::ONE_ITEM, self::GET, 'ns per get', Direction::LowerIsBetter, $subject)->add($run, (int) $block, (float) $time);
                }
            }
            foreach ($adapters as $design) {
                for ($run = 0; $run < self::STARTS; $run++) {
                    $this->askWhatCleansLeave($laboratory, $outcome, $design, $items, $run);
                }
            }
        } catch (WorkerFailed $failure) {
            $outcome->fail($design->value, $failure);
        }
    }

    /**
     * What invalidations leave of items that carry none of their tags.
     *
     * @return array<string, string>
     */
    public static function caseOfLeft(int $tags, bool $isCarried): array
    {
        return [
            'tags of an item' => (string) $tags,
            'invalidated' => number_format($isCarried ? self::CARRIED : self::UNCARRIED) . ($isCarried ? ' tags that other items carry' : ' tags that no item has carried'),
        ];
    }

    private function invalidateOthers(Laboratory $laboratory, Outcome $outcome): void
    {
        if (!self::hasExtension($laboratory)) {
            return;
        }
        try {
            for ($run = 0; $run < self::POOLS_OF_THEM; $run++) {
                foreach ([true, false] as $isCarried) {
                    $found = $laboratory->task('Larder shared memory', OtherTags::class, [
                        'items' => self::ITEMS_THAT_STAY, 'bytes' => self::MEGABYTES_OF_THEM << 20,
                        'carried' => $isCarried ? self::CARRIED : 0, 'uncarried' => $isCarried ? 0 : self::UNCARRIED,
                    ]);
                    foreach (OtherTags::NUMBERS as $tags) {
                        $outcome->measurement(self::caseOfLeft($tags, $isCarried), self::LEFT, 'share of items', Direction::HigherIsBetter, Design::SharedMemory->value)
                            ->add($run, 0, $found->float("with {$tags}"));
                    }
                }
            }
        } catch (WorkerFailed $failure) {
            $outcome->fail(Design::SharedMemory->value, $failure);
        }
    }

    private static function hasExtension(Laboratory $laboratory): bool
    {
        return isset($laboratory->subjects['shared-memory']) && $laboratory->subjects['shared-memory']->missing() === null;
    }

    /** The extension's own call, with one item and with a million that have the tag. */
    private function invalidate(Laboratory $laboratory, Outcome $outcome, int $runs): void
    {
        if (!self::hasExtension($laboratory)) {
            return;
        }
        try {
            for ($run = 0; $run < $runs; $run++) {
                $found = $laboratory->task('Larder shared memory', Invalidations::class, ['many' => self::MANY, 'bytes' => self::MEGABYTES << 18]);
                foreach ($found->all() as $what => $time) {
                    [$tag, $state, $block] = explode(' ', $what);
                    $case = ['tagged items' => $tag === 'one' ? '1' : number_format(self::MANY)];
                    $metric = $state === 'live' ? self::LIVE : self::INVALIDATE;
                    $outcome->measurement($case, $metric, 'ns per call', Direction::LowerIsBetter, Design::SharedMemory->value)
                        ->add($run, (int) $block, (float) $time);
                }
            }
        } catch (WorkerFailed $failure) {
            $outcome->fail(Design::SharedMemory->value, $failure);
        }
    }

    private function canRun(Outcome $outcome, Laboratory $laboratory, Design $design): bool
    {
        foreach ($design->needs() as $need) {
            $subject = match ($need) {
                'redis', 'cluster' => RawStores::flavour()->value . '-unix',
                'memcached' => 'memcached-unix',
                default => $need,
            };
            if (!$outcome->includes($laboratory, $design->value, $subject)) {
                return false;
            }
        }
        $lack = $design->lack($laboratory->zend, $laboratory->laravel);
        if ($lack !== null && $design->readsUnderTags() && $laboratory->laravel === null) {
            // Laravel is nothing that a reader has to have.
            $outcome->leftOut[$design->value] = $lack;
        } elseif ($lack !== null) {
            $outcome->lack($design->value, $lack);
        }

        return $lack === null;
    }

    private function measure(Outcome $outcome, Laboratory $laboratory, Design $design, int $items, float $seconds, float $cleans, float $afterwards): void
    {
        $title = $outcome->titles[$design->value] ?? $design->value;
        $directories = $places = $cleaned = $mixed = $inRequests = [];
        $measure = function (int $operations, float $cleans, float $afterwards, bool $isInRequests = false) use (&$directories, &$places, $laboratory, $design, $title, $items, $seconds): Fields {
            // The many and the few share one directory, so that they share its luck, too (see Cleans).
            $directories[] = $disk = TemporaryDirectory::make(FileSystem::onDisk());
            $directories[] = $named = $design->isPool() ? TemporaryDirectory::make(FileSystem::inMemory()) : $disk;
            $places[] = $many = TagPlace::make($design, $laboratory, self::MEGABYTES, $disk->part('many'), "{$named->name()}-many");
            $places[] = $few = TagPlace::make($design, $laboratory, self::MEGABYTES_OF_FEW, $disk->part('few'), "{$named->name()}-few");

            return $laboratory->task($title, TagClients::class, [
                'design' => $design->value, 'items' => $items, 'clients' => self::CLIENTS, 'operations' => $operations, 'milliseconds' => (int) (1000 * $seconds), 'milliseconds of cleans' => (int) (1000 * $cleans), 'milliseconds afterwards' => (int) (1000 * $afterwards), 'milliseconds of reads' => (int) (300 * $afterwards),
                'place' => $many->toJson(), 'few' => $few->toJson(), 'few items' => self::FEW, 'in requests' => (int) $isInRequests,
            ], ['apc.shm_size' => self::MEGABYTES . 'M', 'apc.serializer' => 'php', 'apc.entries_hint' => (string) $items], false);
        };
        // What files take is a matter of where their directories lie, which is luck. None is deleted before the last: that would slow the next.
        $placements = $design->makesFilesToClean() && $laboratory->profile === Profile::Quick ? self::PLACEMENTS : 1;
        try {
            $cleaned[] = $mixed[] = $measure(self::OPERATIONS, $cleans, $afterwards);
            while (count($cleaned) < $placements) {
                $cleaned[] = $measure(0, $cleans, 0.0);
            }
            while (count($mixed) < self::STARTS && self::wasOverSoon($mixed[0], $seconds / 2)) {
                $mixed[] = $measure(self::OPERATIONS, 0.0, 0.0);
            }
            while ($design->servesRequests() && count($inRequests) < self::STARTS && ($inRequests === [] || self::wasOverSoon($inRequests[0], $seconds / 2))) {
                $inRequests[] = $measure(self::OPERATIONS, 0.0, 0.0, true);
            }
        } finally {
            array_map(static fn(TagPlace $place) => $place->close(), $places);
            array_map(static fn(TemporaryDirectory $directory) => $directory->remove(), $directories);
        }
        $case = ['items' => number_format($items)];
        if ($design->isPool()) {
            $outcome->parameters["MiB of the pool, {$title}"] = $mixed[0]->int('bytes') >> 20;
        }
        foreach ($mixed as $start => $found) {
            $this->addMix($outcome, $case, $design, $start, $found);
        }
        foreach ($inRequests as $start => $found) {
            $this->addRequests($outcome, $case, $design, $start, $found);
        }
        foreach ($cleaned as $placement => $found) {
            foreach (['many' => $items, 'few' => self::FEW] as $which => $count) {
                for ($block = 0; $block < Cleans::BLOCKS && $found->has("{$which} {$block}"); $block++) {
                    $outcome->measurement(['items in the store' => number_format($count)], self::CLEAN, 'ns per clean', Direction::LowerIsBetter, $design->value, columns: CpuMeter::COLUMNS)
                        ->add($placement, $block, $found->float("{$which} {$block}"), $found->float("client cpu of {$which} {$block}"), $found->float("server cpu of {$which} {$block}"));
                }
            }
        }
    }

    /** Whether each client did all of its operations, and they took no more than these seconds. */
    private static function wasOverSoon(Fields $found, float $seconds): bool
    {
        for ($client = 0; $client < self::CLIENTS; $client++) {
            $time = $found->int("{$client} reads time") + $found->int("{$client} writes time") + $found->int("{$client} cleans time");
            if ($found->int("{$client} operations") < self::OPERATIONS || $time > $seconds * 1e9) {
                return false;
            }
        }

        return true;
    }

    /** @param array<string, string> $case */
    private function addRequests(Outcome $outcome, array $case, Design $design, int $start, Fields $found): void
    {
        for ($client = 0; $client < self::CLIENTS; $client++) {
            if ($found->int("{$client} hits") > 0) {
                $rate = self::CLIENTS * $found->int("{$client} hits") / max(1, $found->int("{$client} hits time")) * 1e9;
                $outcome->measurement($case, self::HITS_IN_REQUESTS, 'hits per second', Direction::HigherIsBetter, $design->value, columns: ['operations'])
                    ->add($start, $client, $rate, $found->int("{$client} hits"));
            }
        }
    }

    /** @param array<string, string> $case */
    private function addMix(Outcome $outcome, array $case, Design $design, int $start, Fields $found): void
    {
        if ($design->isPool()) {
            $reads = array_sum(array_map(static fn(int $client): int => $found->int("{$client} hits"), range(0, self::CLIENTS - 1)));
            $outcome->measurement($case, self::COPIED, 'share of reads that hit', Direction::LowerIsBetter, $design->value)->add($start, 0, $found->int('copies') / max(1, $reads));
        }
        for ($client = 0; $client < self::CLIENTS; $client++) {
            // What cleans quickly cleans more often in the same time, and then misses more often, which is fast.
            $outcome->measurement($case, 'reads that hit', 'share of reads', Direction::HigherIsBetter, $design->value, columns: ['operations'])
                ->add($start, $client, $found->int("{$client} hits") / max(1, $found->int("{$client} reads")), $found->int("{$client} reads"));
            foreach (self::KINDS as $kind => $metric) {
                if ($found->int("{$client} {$kind}") === 0) {
                    continue;
                }
                // The rates of the clients add up, so that the mean over the clients is the rate of one; there are four.
                $rate = self::CLIENTS * $found->int("{$client} {$kind}") / max(1, $found->int("{$client} {$kind} time")) * 1e9;
                $outcome->measurement($case, $metric, "{$kind} per second", Direction::HigherIsBetter, $design->value, columns: ['operations'])
                    ->add($start, $client, $rate, $found->int("{$client} {$kind}"));
            }
            [$ofClient, $ofServer] = [$found->float("{$client} client cpu"), $found->float('server cpu')];
            $outcome->measurement($case, self::CPU, 'ns per operation', Direction::LowerIsBetter, $design->value, columns: [...CpuMeter::COLUMNS, 'loop cpu'])
                ->add($start, $client, round($ofClient + $ofServer, 1), round($ofClient, 1), $ofServer, $found->float("{$client} loop cpu"));
        }
    }
}
