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

$directory = sys_get_temp_dir() . '/' . pool_name();
@mkdir($directory);
file_put_contents("$directory/index.php", sprintf(
    '<?php $pool = Larder\SharedMemory::open(%s, 4 << 20); $found = $pool->get("key"); if ($found === null) { $pool->set("key", "stored"); } echo $found ?? "nothing";',
    var_export(pool_name(), true),
));
$listening = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($listening, false);
fclose($listening);
$server = proc_open('exec ' . escapeshellarg(PHP_BINARY) . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . " -S $address -t " . escapeshellarg($directory), [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes);
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
    proc_terminate($server);
    proc_close($server);
    unlink("$directory/index.php");
    rmdir($directory);
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
