<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;
use Larder\SharedMemory;

/** How much of a pool its items take before many cleans and after, when what was cleaned is stored again. */
final class CleansLeave implements Task
{
    public function run(Fields $arguments): array
    {
        $design = Design::from($arguments->string('design'));
        $catalogue = new Catalogue($arguments->int('items'));
        $place = Room::times($design, Fields::ofJson($arguments->string('place'), 'place'), $catalogue, 1.25);
        try {
            $cache = $design->open($place);
            $pool = SharedMemory::open($place->string('pool'));
            $this->storeWhatIsMissing($design, $cache, $catalogue);
            $before = $pool->statistics();
            for ($clean = 0; $clean < $arguments->int('cleans'); $clean++) {
                $cache->clean([$catalogue->tag($clean)]);
            }
            $stored = $this->storeWhatIsMissing($design, $cache, $catalogue);
            $after = $pool->statistics();
        } finally {
            SharedMemory::remove($place->string('pool'));
        }
        if ($stored < $catalogue->items / 10) {
            throw new \UnexpectedValueException("Only {$stored} of {$catalogue->items} items were gone after the cleans: the figures would be worth nothing.");
        }

        return ['before' => $before['bytes'], 'after' => $after['bytes'], 'items before' => $before['items'], 'items after' => $after['items'], 'stored again' => $stored];
    }

    /** @return int how many there were */
    private function storeWhatIsMissing(Design $design, TaggedCache $cache, Catalogue $catalogue): int
    {
        $stored = 0;
        for ($number = 0; $number < $catalogue->items; $number++) {
            $id = $catalogue->id($number);
            if ($cache->load($id, $catalogue->tagsToReadUnder($design, $number)) === null) {
                // None ends meanwhile: that is not what is asked.
                $cache->save($id, $catalogue->value($number), $catalogue->tags($number), 86_400);
                $stored++;
            }
        }

        return $stored;
    }
}
