<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Fields;
use Larder\SharedMemory;

/** How large a pool must be for items, found by storing some of them in another. */
final class Room
{
    private const ITEMS = 5_000;
    private const MEGABYTES = 64;
    /** Each client fills a segment of its own, which is nothing where there are many. */
    private const LEAST_MEGABYTES = 16;

    /** @param float $times 1.0: the items and nothing more */
    public static function times(Design $design, Fields $place, Catalogue $catalogue, float $times): Fields
    {
        $name = $place->string('pool') . '-room';
        // A store behind the pool takes no room in it, and shall not have these items, either.
        $alone = in_array($design, [Design::LibrarySharedMemoryTier, Design::LibrarySharedMemoryRedisTier], true) ? Design::LibrarySharedMemory : $design;
        $some = min(self::ITEMS, $catalogue->items);
        try {
            $cache = $alone->open(new Fields([...$place->all(), 'pool' => $name, 'bytes' => self::MEGABYTES << 20], 'place'));
            for ($number = 0; $number < $some; $number++) {
                $cache->save($catalogue->id($number), $catalogue->value($number), $catalogue->tags($number), $catalogue->lifetime($number));
            }
            $pool = SharedMemory::open($name, self::MEGABYTES << 20)->statistics();
        } finally {
            SharedMemory::remove($name);
        }
        // A part of a pool is its index.
        $bytes = $times * $catalogue->items * ($pool['bytes'] / $some) * $pool['size'] / $pool['capacity'];

        return new Fields([...$place->all(), 'bytes' => max(self::LEAST_MEGABYTES << 20, (int) $bytes)], 'place');
    }
}
