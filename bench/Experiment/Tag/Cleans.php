<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Companion;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Fields;
use Larder\Bench\Server\CpuMeter;
use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/**
 * What cleaning a tag takes where there are many items, and where there are few, side by side.
 *
 * The few are kept by a process of their own, because APCu's memory is one for all that a process opens. Both clean
 * the same tags, each tag once, in blocks that take turns. Nothing but the number of items is to differ:
 *
 * - Both run on the processor for clients. Left to the scheduler, one may share its server's and the other not, which
 *   is worth a factor of five.
 * - Pools are equally large, because the table of tags grows with the pool, and with it what processors cannot keep near.
 * - All of these tags are cleaned in both stores before there are items. A slot for tags is a new file or an untouched page of
 *   memory. The clients' cleans would have made some for the many only.
 * - Both keep what they keep in directories of one directory. A clean in files makes files and replaces others. On ext4 without
 *   a journal, a new file takes longer where many were deleted lately in the block group of its directory. (See
 *   recently_deleted() in fs/ext4/ialloc.c.) Equal stores in directories of their own were eight times apart, either way. The
 *   search for files below one directory begins at one group (find_group_orlov(), find_group_other()). So both look through the
 *   same deleted files. Designs that leave many files to delete come last (Design::inTurn()).
 * - The few are cleaned as often as the clients clean the many before both are compared.
 */
final class Cleans
{
    /** So many times TAGS of the 2,000 tags kill half of the items. */
    public const BLOCKS = 16;
    private const TAGS = 13;
    private const NOBODYS = 'nobody has it';

    /**
     * @param int $warm ns for which items are read before
     * @param int $cleans how often the many were cleaned by the clients
     * @param int $nanoseconds after which no block is begun: there are designs that need seconds for a clean
     * @return array<string, int|float> `many 0`, `few 0`, …: ns of a clean; `client cpu of many 0` and so on
     */
    public static function compare(Design $design, Fields $place, Catalogue $catalogue, Companion $beside, int $warm, int $cleans, int $nanoseconds): array
    {
        Placement::stay(0);
        $cache = $design->open($place);
        self::warm($cache, $design, $catalogue, $warm);
        $beside->ask(['cleans' => $cleans, 'warm' => $warm]);
        $found = [];
        $end = hrtime(true) + $nanoseconds;
        for ($block = 0; $block < self::BLOCKS && hrtime(true) < $end; $block++) {
            $tags = self::tags($catalogue, $block);
            $taken = [];
            foreach ($block % 2 === 0 ? ['many', 'few'] : ['few', 'many'] as $which) {
                $taken[$which] = $which === 'many' ? self::time($cache, $tags, $place, $end) : self::answered($beside->ask(['tags' => $tags])->numbers('took'));
            }
            foreach ($taken as $which => [$time, $client, $server]) {
                [$found["{$which} {$block}"], $found["client cpu of {$which} {$block}"], $found["server cpu of {$which} {$block}"]] = [$time, $client, $server];
            }
        }

        return $found;
    }

    /**
     * Reads items at random, as a process does between two cleans: one that has just begun would be charged for the
     * pages that it touches for the first time, of which many items have more.
     */
    public static function warm(TaggedCache $cache, Design $design, Catalogue $catalogue, int $nanoseconds): void
    {
        $random = new Randomizer(new Xoshiro256StarStar(3));
        $end = hrtime(true) + $nanoseconds;
        while (hrtime(true) < $end) {
            $number = $random->getInt(0, $catalogue->items - 1);
            $cache->load($catalogue->id($number), $catalogue->tagsToReadUnder($design, $number));
        }
    }

    /**
     * @param list<float> $took
     * @return array{float, float, float}
     */
    private static function answered(array $took): array
    {
        return [$took[0] ?? NAN, $took[1] ?? NAN, $took[2] ?? NAN];
    }

    /** Cleans so many tags that are not compared, one after the other. */
    public static function others(TaggedCache $cache, Catalogue $catalogue, int $cleans): void
    {
        for ($clean = 0; $clean < $cleans; $clean++) {
            $cache->clean([$catalogue->tag(self::BLOCKS * self::TAGS + $clean)]);
        }
    }

    /** @return non-empty-list<string> that no other block has */
    public static function tags(Catalogue $catalogue, int $block): array
    {
        return array_map($catalogue->tag(...), range($block * self::TAGS, ($block + 1) * self::TAGS - 1));
    }

    /** @return non-empty-list<string> */
    public static function allTags(Catalogue $catalogue): array
    {
        return array_map($catalogue->tag(...), range(0, self::BLOCKS * self::TAGS - 1));
    }

    /**
     * @param non-empty-list<string> $tags
     * @param int $end by hrtime; after it no further tag is cleaned
     * @return array{float, float, float} ns of a clean: on the clock, of this process's and of the servers' processor
     */
    public static function time(TaggedCache $cache, array $tags, Fields $place, int $end = PHP_INT_MAX): array
    {
        // The first clean after something else is one of a tag that no item has.
        $cache->clean([self::NOBODYS]);
        $meter = CpuMeter::among($place->string('servers'));
        $begin = hrtime(true);
        $cleaned = 0;
        foreach ($tags as $tag) {
            $cache->clean([$tag]);
            $cleaned++;
            if (hrtime(true) >= $end) {
                break;
            }
        }
        $time = round((hrtime(true) - $begin) / $cleaned, 1);

        return [$time, ...$meter->perOperation($cleaned)];
    }
}
