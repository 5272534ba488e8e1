<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Forked;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Fields;

/** What storing again takes what cleans removed: a design that leaves dead items where they are pays for it here. */
final class Refill
{
    /**
     * @param int $nanoseconds after which a client stores nothing more
     * @return list<array<string, int|float>> of each client: how many items were missing and are stored again, and how long that took
     */
    public static function afterHalfWasCleaned(Design $design, Fields $place, Catalogue $catalogue, int $clients, int $nanoseconds): array
    {
        // All of them at once: a subject that had no time for one after the other has the same items cleaned as the others.
        Forked::all(1, static function () use ($design, $place, $catalogue): array {
            $design->open($place)->clean(Cleans::allTags($catalogue));

            return [];
        });

        return Forked::all($clients, static function (int $client) use ($design, $place, $catalogue, $clients, $nanoseconds): array {
            Placement::stay($client);

            return self::refill($design, $design->open($place), $catalogue, $client, $clients, $nanoseconds);
        });
    }

    /** @return array<string, int> */
    private static function refill(Design $design, TaggedCache $cache, Catalogue $catalogue, int $client, int $clients, int $nanoseconds): array
    {
        $refills = $time = 0;
        $end = hrtime(true) + $nanoseconds;
        for ($number = $client; $number < $catalogue->items && hrtime(true) < $end; $number += $clients) {
            $id = $catalogue->id($number);
            if ($cache->load($id, $catalogue->tagsToReadUnder($design, $number)) !== null) {
                continue;
            }
            [$value, $tags, $lifetime] = [$catalogue->value($number), $catalogue->tags($number), $catalogue->lifetime($number)];
            $begin = hrtime(true);
            $cache->save($id, $value, $tags, $lifetime);
            $time += hrtime(true) - $begin;
            $refills++;
        }

        return ['refills' => $refills, 'refills time' => $time];
    }
}
