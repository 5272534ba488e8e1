<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;
use Larder\Bench\Pools;

/** A tagged cache with few items, in a process of its own. It cleans the tags that it is told, until the other process ends. */
final class FewItems implements Task
{
    /** Room for them and for what cleans leave. */
    private const MEGABYTES = 32;

    /** @return array<string, string> of php.ini */
    public static function settings(): array
    {
        return ['apc.shm_size' => self::MEGABYTES . 'M', 'apc.serializer' => (string) ini_get('apc.serializer')];
    }

    public function run(Fields $arguments): array
    {
        $place = Fields::ofJson($arguments->string('place'), 'place');
        $catalogue = new Catalogue($arguments->int('items'));
        try {
            $design = Design::from($arguments->string('design'));
            $cache = $design->open($place);
            // Where nothing has a tag yet, a store may keep nothing of a clean.
            self::save($cache, $catalogue, 0);
            $cache->clean(Cleans::allTags($catalogue));
            for ($number = 0; $number < $catalogue->items; $number++) {
                self::save($cache, $catalogue, $number);
            }
            while (($line = fgets(STDIN)) !== false) {
                fwrite(STDOUT, json_encode(['took' => self::obey(Fields::ofJson($line, 'order'), $design, $cache, $catalogue, $place)], JSON_THROW_ON_ERROR) . "\n");
            }
        } finally {
            Pools::remove($place->string('pool'));
        }

        return [];
    }

    private static function save(TaggedCache $cache, Catalogue $catalogue, int $number): void
    {
        $cache->save($catalogue->id($number), $catalogue->value($number), $catalogue->tags($number), $catalogue->lifetime($number));
    }

    /**
     * Cleans `tags`; or gets into the state of the many by `cleans` of other tags and `warm` ns of reads.
     *
     * @return list<float> what `Cleans::time()` says
     */
    private static function obey(Fields $order, Design $design, TaggedCache $cache, Catalogue $catalogue, Fields $place): array
    {
        if ($order->has('tags')) {
            $tags = $order->strings('tags');

            return $tags === [] ? throw new \UnexpectedValueException('There are no tags to clean.') : Cleans::time($cache, $tags, $place);
        }
        Placement::stay(0);
        Cleans::others($cache, $catalogue, $order->int('cleans'));
        Cleans::warm($cache, $design, $catalogue, $order->int('warm'));

        return [];
    }
}
