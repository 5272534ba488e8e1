<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Experiment\Tag\Design;
use Larder\Bench\Experiment\Tag\Invalidations;
use Larder\Bench\Experiment\Tag\TagClients;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\FileSystem;
use Larder\Bench\Subject\WorkerFailed;

/** A shop's cache with tags: how fast it is read, written, and cleaned by tag. */
final class Tags implements Experiment
{
    public const INVALIDATE = 'time to invalidate a tag';
    public const FIRST = 'time to invalidate a tag of live items';
    private const MANY = 1_000_000;
    private const CLIENTS = 4;
    private const MEGABYTES = 1_024;
    private const KINDS = ['reads' => 'reads', 'writes' => 'writes', 'cleans' => 'cleans by tag'];

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
            . 'shown, because what cleans often misses often. No cache is full here, so that no write pays for what a clean left. The classic designs are re-created '
            . 'plainly; --zend=DIRECTORY measures the real back ends.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(1100, 3_072, $profile === Profile::Quick ? 29 : 470);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $items = $isQuick ? 5_000 : 200_000;
        $seconds = $isQuick ? 1.5 : 5.0;
        $runs = 1;
        $outcome->parameters = ['items' => $items, 'tags' => 2_000, 'clients' => self::CLIENTS, 'operations of each client' => 50_000, 'seconds at most' => (string) $seconds, 'runs' => $runs, Placement::PARAMETER => Placement::ON_ALL];
        $redis = RawStores::flavour()->title();
        $designs = array_values(array_filter(Design::cases(), static fn(Design $design): bool => !$design->isZend() || $laboratory->zend !== null));
        foreach ($designs as $design) {
            $outcome->titles[$design->value] = $design->title($redis);
        }
        $progress->begin($this->title(), $runs * count($designs) + 1);
        for ($run = 0; $run < $runs; $run++) {
            foreach (Shuffled::of($designs) as $design) {
                $progress->advance($outcome->titles[$design->value] ?? $design->value);
                if (isset($outcome->leftOut[$design->value]) || !$this->canRun($outcome, $laboratory, $design)) {
                    continue;
                }
                try {
                    $this->measure($outcome, $laboratory, $design, $run, $items, $seconds);
                } catch (WorkerFailed|ServerFailed $failure) {
                    $outcome->fail($design->value, $failure);
                }
            }
        }
        $progress->advance('invalidating tags of one and of many items');
        $this->invalidate($laboratory, $outcome, $runs + 2);
        $progress->end();
    }

    /** The extension's own call, with one item and with a million that have the tag. */
    private function invalidate(Laboratory $laboratory, Outcome $outcome, int $runs): void
    {
        if (!isset($laboratory->subjects['shared-memory']) || $laboratory->subjects['shared-memory']->missing() !== null) {
            return;
        }
        try {
            for ($run = 0; $run < $runs; $run++) {
                $found = $laboratory->task('Larder shared memory', Invalidations::class, ['many' => self::MANY, 'bytes' => self::MEGABYTES << 18]);
                foreach ($found->all() as $what => $time) {
                    [$tag, $block] = explode(' ', $what);
                    $case = ['tagged items' => $tag === 'one' ? '1' : number_format(self::MANY)];
                    $metric = $block === 'first' ? self::FIRST : self::INVALIDATE;
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
                'redis' => RawStores::flavour()->value . '-unix',
                'memcached' => 'memcached-unix',
                default => $need,
            };
            if (!$outcome->includes($laboratory, $design->value, $subject)) {
                return false;
            }
        }

        return true;
    }

    private function measure(Outcome $outcome, Laboratory $laboratory, Design $design, int $run, int $items, float $seconds): void
    {
        $directory = FileSystem::onDisk() . '/larder-bench-' . bin2hex(random_bytes(6));
        mkdir($directory, 0o700);
        $pool = basename($directory);
        /** @var array<string, Server> $servers */
        $servers = [];
        try {
            foreach (array_intersect($design->needs(), ['redis', 'memcached']) as $need) {
                $server = RawStores::server($need === 'redis' ? RawStores::flavour()->value : RawStores::MEMCACHED, $laboratory, self::MEGABYTES);
                if ($server !== null) {
                    $servers[$need] = $server;
                }
            }
            $socket = static fn(string $need): string => (string) (($servers[$need] ?? null)?->endpoint()['socket'] ?? '');
            $found = $laboratory->task($outcome->titles[$design->value] ?? $design->value, TagClients::class, [
                'design' => $design->value, 'items' => $items, 'clients' => self::CLIENTS, 'operations' => 50_000, 'milliseconds' => (int) (1000 * $seconds),
                'place' => json_encode([
                    'directory' => $directory, 'pool' => $pool, 'bytes' => self::MEGABYTES << 20, 'redis' => $socket('redis'),
                    'memcached' => $socket('memcached'), 'zend' => (string) $laboratory->zend,
                ], JSON_THROW_ON_ERROR),
            ], ['apc.shm_size' => self::MEGABYTES . 'M', 'apc.serializer' => 'php'], false);
        } finally {
            array_map(static fn(Server $server) => $server->stop(), $servers);
            FileSystem::remove($directory);
        }
        $case = ['items' => number_format($items)];
        for ($client = 0; $client < self::CLIENTS; $client++) {
            // What cleans quickly cleans more often in the same time, and then misses more often, which is fast.
            $outcome->measurement($case, 'reads that hit', 'share of reads', Direction::HigherIsBetter, $design->value, columns: ['operations'])
                ->add($run, $client, $found->int("{$client} hits") / max(1, $found->int("{$client} reads")), $found->int("{$client} reads"));
            foreach (self::KINDS as $kind => $metric) {
                if ($found->int("{$client} {$kind}") === 0) {
                    continue;
                }
                // The rates of the clients add up, so that the mean over the clients is the rate of one; there are four.
                $rate = self::CLIENTS * $found->int("{$client} {$kind}") / max(1, $found->int("{$client} {$kind} time")) * 1e9;
                $outcome->measurement($case, $metric, "{$kind} per second", Direction::HigherIsBetter, $design->value, columns: ['operations'])
                    ->add($run, $client, $rate, $found->int("{$client} {$kind}"));
            }
        }
    }
}
