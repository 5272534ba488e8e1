--TEST--
A request that begins right after another notices that the pool was removed or replaced, and soon that it was renamed
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

/** What a request of a server's finds under the key, and stores there if nothing. */
function request(string $address): string
{
    return (string) file_get_contents("http://$address/");
}

[$address, $end_serving] = serve(sprintf(
    '<?php $pool = Larder\SharedMemory::open(%s, 4 << 20); $found = $pool->get("key"); if ($found === null) { $pool->set("key", "stored"); } echo $found ?? "nothing";',
    var_export(pool_name(), true),
));
for ($end = hrtime(true) + 30_000_000_000; ($found = @file_get_contents("http://$address/")) === false && hrtime(true) < $end; usleep(10_000));
same($found, 'nothing', 'the first request');

$ways = [
    'removed' => fn () => SharedMemory::remove(pool_name()),
    'removed by rm' => fn () => unlink(pool_path()),
    'replaced by mv' => fn () => copy(pool_path(), pool_path('-other')) && chmod(pool_path('-other'), 0600) && rename(pool_path('-other'), pool_path()),
];
try {
    foreach ($ways as $what => $remove) {
        for ($round = 0; $round < 3; $round++) {
            same(request($address), 'stored', "$what: it is there");
            if ($what === 'replaced by mv') {
                // The copy has nothing of what is stored from now on.
                run_php('Larder\SharedMemory::open(pool_name(), 4 << 20)->clear();');
            }
            $remove();
            same(request($address), 'nothing', "$what: the next request");
        }
        echo "$what: noticed\n";
    }

    rename(pool_path(), pool_path('-away'));
    for ($end = hrtime(true) + 30_000_000_000; request($address) !== 'nothing' && hrtime(true) < $end; usleep(1_000));
    same(request($address), 'stored', 'renamed: the pool that was made in its place');
    echo "renamed: noticed\n";
} finally {
    $end_serving();
}
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
@unlink(pool_path('-away'));
@unlink(pool_path('-other'));
?>
--EXPECT--
removed: noticed
removed by rm: noticed
replaced by mv: noticed
renamed: noticed
