--TEST--
A process that makes and removes pool after pool, and keeps what it read, does not keep their memory
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

/** Bytes of the files that this process has mapped and that have no name any more, as far as they have memory. */
function removed(string $of): int
{
    $bytes = 0;
    $counts = false;
    foreach (file('/proc/self/smaps') as $line) {
        if (preg_match('/^[0-9a-f]+-[0-9a-f]+ /', $line)) {
            $counts = str_contains($line, $of) && str_contains($line, '(deleted)');
        } elseif ($counts && preg_match('/^Rss: +(\d+) kB/', $line, $size)) {
            $bytes += 1024 * (int) $size[1];
        }
    }

    return $bytes;
}

$kept = [];
for ($i = 0; $i < 20; $i++) {
    $pool = fresh_pool(32 << 20);
    $pool->setMany(array_fill_keys(array_map(fn (int $n): string => "key $n", range(1, 60)), str_repeat('x', 200_000)));
    if ($i % 2 === 0) {
        $pool->set('kept', range($i, $i + 500));
        $kept[$i] = $pool->get('kept');
    }
    same($pool->statistics()['mode'], 'zero-copy', 'the mode');
}
SharedMemory::remove(pool_name());
foreach ($kept as $i => $list) {
    same($list, range($i, $i + 500), 'what was read from a pool that was removed');
}
check(removed(pool_name()) < 100 << 20, 'the memory of removed pools: ' . removed(pool_name()));
same($pool->get('kept'), null, 'the next one is empty');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
done
