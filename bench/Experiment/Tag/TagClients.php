<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Companion;
use Larder\Bench\Experiment\Forked;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;
use Larder\Bench\Pools;
use Larder\Bench\Server\CpuMeter;
use Larder\SharedMemory;
use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/**
 * Fills a tagged cache and lets several processes read, write and clean it at the same time.
 *
 * Each operation is timed on its own. The rate of a kind is the number of operations over the time they took together, in each
 * client. The re-created tool does the same.
 */
final class TagClients implements Task
{
    /** Of so many operations one is a clean and one a write. */
    private const WINDOW = 1_001;
    /** Operations of a cache that does nothing: what they take is the benchmark's own. */
    private const IDLE = 20_000;
    /** Operations of a request, at least and at most. */
    public const REQUEST = [20, 200];
    /** Items that are looked at after the last clean. */
    private const CHECKED = 500;

    public function run(Fields $arguments): array
    {
        try {
            return $this->measure($arguments);
        } finally {
            Pools::remove(Fields::ofJson($arguments->string('place'), 'place')->string('pool'));
        }
    }

    /** @return array<string, int|float> */
    private function measure(Fields $arguments): array
    {
        $design = Design::from($arguments->string('design'));
        $catalogue = new Catalogue($arguments->int('items'));
        $place = self::place($design, $arguments, $catalogue);
        $clients = $arguments->int('clients');
        // In a process of its own, so that what follows is not forked with a connection open.
        Forked::all(1, static function () use ($design, $place, $catalogue): array {
            $design->open($place)->clean(Cleans::allTags($catalogue));

            return [];
        });
        $beside = Companion::start(FewItems::class, ['design' => $design->value, 'place' => self::placeOfFew($design, $arguments, $place), 'items' => $arguments->int('few items')], FewItems::settings());
        // It answers when it has its items.
        $beside->ask(['cleans' => 0, 'warm' => 0]);
        // Each fills its part, and opens the cache itself, as processes of a site do.
        Forked::all($clients, static function (int $client) use ($design, $place, $catalogue, $clients): array {
            $cache = $design->open($place);
            for ($number = $client; $number < $catalogue->items; $number += $clients) {
                $cache->save($catalogue->id($number), $catalogue->value($number), $catalogue->tags($number), $catalogue->lifetime($number));
            }

            return [];
        });
        if ($design->isTier()) {
            // A write goes to the far store alone. All that is read again and again lies near on a host that has run for a while.
            Forked::all(1, static function () use ($design, $place, $catalogue): array {
                $cache = $design->open($place);
                for ($number = 0; $number < $catalogue->items; $number++) {
                    $cache->load($catalogue->id($number), $catalogue->tagsToReadUnder($design, $number));
                }

                return [];
            });
        }
        $operations = $arguments->int('operations');
        $nanoseconds = $arguments->int('milliseconds') * 1_000_000;
        $afterwards = $arguments->int('milliseconds afterwards') * 1_000_000;
        $meter = CpuMeter::among($place->string('servers'));
        $copies = self::copies($design, $place);
        $isInRequests = $arguments->int('in requests') === 1;
        $answers = Forked::all($clients, static function (int $client) use ($design, $place, $catalogue, $operations, $nanoseconds, $isInRequests): array {
            Placement::stay($client);
            $answer = self::work($design, $design->open($place), $catalogue, $client, $operations, $nanoseconds, $isInRequests);
            $loop = self::work($design, new Idle(), $catalogue, $client, self::IDLE, PHP_INT_MAX >> 1, false)['client cpu'];

            return [...$answer, 'client cpu' => max(0.0, $answer['client cpu'] - $loop), 'loop cpu' => $loop];
        });
        [, $server] = $meter->perOperation((int) array_sum(array_column($answers, 'operations')));
        $copied = self::copies($design, $place) - $copies;
        // A process of its own, so that what follows is not forked with a connection open.
        $cleans = (int) array_sum(array_column($answers, 'cleans'));
        [$found] = Forked::all(1, static fn(): array => Cleans::compare($design, $place, $catalogue, $beside, $arguments->int('milliseconds of reads') * 1_000_000, $cleans, $arguments->int('milliseconds of cleans') * 1_000_000));
        unset($beside);
        $found += ['copies' => $copied, 'server cpu' => $server, 'bytes' => $place->int('bytes')];
        foreach (Refill::afterHalfWasCleaned($design, $place, $catalogue, $clients, $afterwards) as $client => $answer) {
            $answers[$client] += $answer;
        }
        foreach ($answers as $client => $answer) {
            foreach ($answer as $what => $figure) {
                $found["{$client} {$what}"] = $figure;
            }
        }
        $this->check($design, $design->open($place), $catalogue);

        return $found;
    }

    /** Where the items are kept; a pool has 1.25 times the room that they take, so that a refill must reclaim what cleans left. */
    private static function place(Design $design, Fields $arguments, Catalogue $catalogue): Fields
    {
        $place = Fields::ofJson($arguments->string('place'), 'place');

        return $design->isPool() ? Room::times($design, $place, $catalogue, 1.25) : $place;
    }

    /** Values that the pool has copied out, as no pin of theirs could last (ext/engine/quota.h); 0 where there is no pool. */
    private static function copies(Design $design, Fields $place): int
    {
        if (!$design->isPool()) {
            return 0;
        }
        // In a process of its own: one that opens a pool is one that reads it, to the quotas of the others.
        [$found] = Forked::all(1, static function () use ($place): array {
            return ['copies' => SharedMemory::open($place->string('pool'), $place->int('bytes'))->statistics()['copies']];
        });

        return (int) $found['copies'];
    }

    /** Where the few are kept, as JSON: in a pool as large as that of the many, because a part of each pool is its table of tags. */
    private static function placeOfFew(Design $design, Fields $arguments, Fields $many): string
    {
        $place = $arguments->string('few');

        return $design->isPool() ? json_encode([...Fields::ofJson($place, 'place')->all(), 'bytes' => $many->int('bytes')], JSON_THROW_ON_ERROR) : $place;
    }

    /**
     * @param bool $isInRequests whether the operations are those of many requests, one after the other; else of one
     *
     * @return array<string, int|float>
     */
    private static function work(Design $design, TaggedCache $cache, Catalogue $catalogue, int $client, int $operations, int $nanoseconds, bool $isInRequests): array
    {
        $random = new Randomizer(new Xoshiro256StarStar(100 + $client));
        $lengths = new Randomizer(new Xoshiro256StarStar(200 + $client));
        $requests = $isInRequests && $cache instanceof ServesRequests ? $cache : null;
        $left = $lengths->getInt(...self::REQUEST);
        $counts = ['reads' => 0, 'writes' => 0, 'cleans' => 0];
        $times = ['reads' => 0, 'writes' => 0, 'cleans' => 0];
        $hits = $hitting = 0;
        $meter = CpuMeter::start();
        $end = hrtime(true) + $nanoseconds;
        for ($operation = 0; $operation < $operations && hrtime(true) < $end; $operation++) {
            // The first window begins with a clean and a write, so that a design too slow for a window is measured, too.
            $turn = $operation % self::WINDOW;
            if ($requests !== null && $left-- === 0) {
                $requests->endRequest();
                $left = $lengths->getInt(...self::REQUEST) - 1;
            }
            $kind = $turn === 20 ? 'cleans' : ($turn === 10 ? 'writes' : 'reads');
            $number = $catalogue->popular($random);
            $id = $catalogue->id($number);
            [$value, $tags, $lifetime] = $kind === 'writes' ? [$catalogue->value($number), $catalogue->tags($number), $catalogue->lifetime($number)] : ['', $catalogue->tagsToReadUnder($design, $number), 0];
            $tag = $catalogue->tag($random->getInt(0, 1_999));
            $begin = hrtime(true);
            $found = match ($kind) {
                'reads' => $cache->load($id, $tags),
                'writes' => $cache->save($id, $value, $tags, $lifetime),
                'cleans' => $cache->clean([$tag]),
            };
            $took = hrtime(true) - $begin;
            $times[$kind] += $took;
            $counts[$kind]++;
            if ($kind === 'reads' && $found !== null) {
                $hits++;
                $hitting += $took;
                if ($turn % 50 === 0 && $found !== $catalogue->value($number)) {
                    throw new \UnexpectedValueException("The item {$id} is not the one that was stored: its figures would be worth nothing.");
                }
            }
        }
        [$cpu] = $meter->perOperation($operation);
        $figures = ['hits' => $hits, 'hits time' => $hitting, 'operations' => $operation, 'client cpu' => $cpu];
        foreach ($counts as $kind => $count) {
            $figures[$kind] = $count;
            $figures["{$kind} time"] = $times[$kind];
        }

        return $figures;
    }

    /** Whether a clean removes what has the tag, and nothing else. */
    private function check(Design $design, TaggedCache $cache, Catalogue $catalogue): void
    {
        $tag = $catalogue->tag(7);
        $others = [];
        $numbers = range(0, min($catalogue->items, self::CHECKED) - 1);
        foreach ($numbers as $number) {
            $cache->save($catalogue->id($number), $catalogue->value($number), $catalogue->tags($number), 3600);
        }
        $cache->clean([$tag]);
        foreach ($numbers as $number) {
            $isThere = $cache->load($catalogue->id($number), $catalogue->tagsToReadUnder($design, $number)) !== null;
            $hasTag = in_array($tag, $catalogue->tags($number), true);
            if ($isThere && $hasTag) {
                throw new \UnexpectedValueException('An item outlived the clean of its tag: the figures would be worth nothing.');
            }
            if (!$isThere && !$hasTag) {
                $others[] = $number;
            }
        }
        if (count($others) > count($numbers) / 10) {
            throw new \UnexpectedValueException(sprintf('%d of %d items were gone that did not have the cleaned tag: the figures would be worth nothing.', count($others), count($numbers)));
        }
    }
}
