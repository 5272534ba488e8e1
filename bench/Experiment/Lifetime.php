<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Fields;
use Larder\SharedMemory;

/** One step in the life of a store: fill it, delete or flush everything, or count what is there. */
final class Lifetime implements Task
{
    public function run(Fields $arguments): array
    {
        $name = $arguments->string('store');
        $store = RawStores::open($name, $arguments->string('endpoint'), $arguments->int('megabytes'));
        $value = str_repeat('v', $arguments->int('length'));
        $found = ['items' => 0];
        foreach (explode(' ', $arguments->string('steps')) as $step) {
            foreach ($step === 'flush' ? [] : Fill::batches($arguments->int('items')) as $keys) {
                match ($step) {
                    'fill' => $store->fill($keys, $value),
                    'delete' => $store->delete($keys),
                    'count' => $found['items'] += $store->count($keys),
                    default => throw new \OutOfBoundsException("There is no step {$step}."),
                };
            }
            if ($step === 'flush') {
                $store->clear();
            }
            $found["resident after {$step}"] = $name === RawStores::SHARED_MEMORY ? self::pool($arguments->string('endpoint')) : Resident::memory([(int) getmypid()], true);
        }
        unset($store);
        if ($name === RawStores::SHARED_MEMORY && $arguments->string('last') === 'yes') {
            SharedMemory::remove($arguments->string('endpoint'));
        }

        return $found;
    }

    /** What the pool's file takes: it is given all its memory when it is made. */
    private static function pool(string $name): int
    {
        clearstatcache();
        $bytes = 0;
        foreach (glob(sprintf('/dev/shm/larder-%d/%s@*', posix_geteuid(), $name)) ?: [] as $file) {
            $bytes += 512 * (stat($file)['blocks'] ?? 0);
        }

        return $bytes;
    }
}
