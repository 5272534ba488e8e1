<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\SharedMemory;

/** Makes and fills a pool, reads much of it while no other process has it open, and holds that until it ends. */
final class LoneReader implements Task
{
    public function run(Fields $arguments): array
    {
        $pool = SharedMemory::open($arguments->string('pool'), $arguments->int('megabytes') << 20);
        $keys = $arguments->int('keys');
        mt_srand($arguments->int('seed'));
        for ($key = 0; $key < $keys; $key++) {
            $pool->set("k{$key}", range(1, mt_rand(100, 500)));
        }
        $held = [];
        for ($read = 0; $read < $arguments->int('reads'); $read++) {
            $held[] = $pool->get('k' . mt_rand(0, $keys - 1));
        }
        while (fgets(STDIN) !== false) {
            echo json_encode(['held' => count($held)]), "\n";
        }

        return [];
    }
}
