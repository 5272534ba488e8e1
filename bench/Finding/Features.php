<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

/** What the stores can do that no time tells. */
final class Features
{
    public const HEADINGS = [
        'store', 'memory of dead items', 'hard limit kept', 'survives its own restart', 'several hosts', 'when full', 'largest value', 'tags', 'shared with the command line', 'needs a server',
    ];

    /** @return list<list<string>> */
    public static function rows(): array
    {
        return [
            ['Larder shared memory', 'reused at once, by segment', 'yes, the pool\'s size', 'yes, with every process; a reboot with a snapshot', 'no', 'S3-FIFO, or refuses', 'half the pool', 'natively', 'yes, same user', 'no'],
            ['APCu', 'when found dead, or when full', 'yes, apc.shm_size', 'no', 'no', 'removes what is dead, then everything', 'what fits into its memory', 'by the library', 'no', 'no'],
            ['SQLite', 'reused by later writes', 'by the library', 'yes', 'no', 'by the library', '1 GB', 'by the library', 'yes', 'no'],
            ['files', 'when deleted', 'by the library', 'yes', 'no', 'by the library', 'what the disk holds', 'by the library', 'yes', 'no'],
            ['a PHP file in opcache', 'when opcache restarts', 'no; opcache refuses what is more', 'yes', 'no', 'opcache restarts', 'what opcache holds', 'by the library', 'files yes, opcache no', 'no'],
            ['Redis, Valkey', 'given back', 'for items; the process takes more', 'with a snapshot or a log', 'yes, cluster', 'LRU, LFU, random, TTL, or refuses', '512 MB', 'by the library', 'yes', 'yes'],
            ['Memcached', 'kept by the process; pages move between classes of sizes', 'for items; the process takes more', 'with a memory file (-e), since 1.5.18', 'by its clients', 'segmented LRU in each class of sizes', '1 MB unless configured', 'by the library', 'yes', 'yes'],
        ];
    }
}
