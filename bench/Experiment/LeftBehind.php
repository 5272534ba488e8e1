<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\SharedMemory;

/**
 * What runs that were killed have left: directories, and the pools of workers, crowds and tagged caches. Their names begin with
 * that of a directory in /dev/shm, which is there for as long as a process may use the pool.
 */
final class LeftBehind implements Task
{
    /** @return int how many directories and pools were removed */
    public static function remove(): int
    {
        $removed = count(TemporaryDirectory::removeLeftBehind(...FileSystem::places()));
        $pools = glob(sprintf('/dev/shm/larder-%d/%s*', posix_geteuid(), TemporaryDirectory::PREFIX)) ?: [];

        // The extension is loaded in the processes of tasks.
        return $removed + ($pools === [] ? 0 : ChildProcess::run('the leftovers of killed runs', self::class, [])->int('pools'));
    }

    public function run(Fields $arguments): array
    {
        $removed = 0;
        foreach (class_exists(SharedMemory::class) ? SharedMemory::names() : [] as $name) {
            if (preg_match('/^' . TemporaryDirectory::PREFIX . '[0-9a-f]+/', $name, $match) === 1 && !is_dir(FileSystem::inMemory() . "/{$match[0]}")) {
                SharedMemory::remove($name);
                $removed++;
            }
        }

        return ['pools' => $removed];
    }
}
