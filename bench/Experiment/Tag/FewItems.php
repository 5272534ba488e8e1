<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Report\Fields;
use Larder\SharedMemory;

/** A tagged cache with few items, in a process of its own that cleans what it is told to, until nobody tells it any more. */
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
            $cache = Design::from($arguments->string('design'))->open($place);
            for ($number = 0; $number < $catalogue->items; $number++) {
                $cache->save($catalogue->id($number), $catalogue->value($number), $catalogue->tags($number), $catalogue->lifetime($number));
            }
            Cleans::warm($cache, $catalogue, $arguments->int('warm'));
            while (($line = fgets(STDIN)) !== false) {
                $tags = Fields::ofJson($line, 'order')->strings('tags');
                $answer = $tags === [] ? throw new \UnexpectedValueException('There are no tags to clean.') : Cleans::time($cache, $tags, $place);
                fwrite(STDOUT, json_encode(['took' => $answer], JSON_THROW_ON_ERROR) . "\n");
            }
        } finally {
            if (class_exists(SharedMemory::class)) {
                SharedMemory::remove($place->string('pool'));
            }
        }

        return [];
    }
}
