--TEST--
A date that a request reads has a time zone of its own, whatever the request before it has read
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$directory = sys_get_temp_dir() . '/' . pool_name();
@mkdir($directory);
file_put_contents("$directory/index.php", sprintf(
    '<?php $found = Larder\SharedMemory::open(%s, 4 << 20)->get($_GET["key"]); echo serialize($found), "\n", $found["date"]->format("c T"), "\n", serialize($found["zone"]->getTransitions(0, 1_700_000_000));',
    var_export(pool_name(), true),
));
$listening = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($listening, false);
fclose($listening);
$server = proc_open('exec ' . escapeshellarg(PHP_BINARY) . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . " -S $address -t " . escapeshellarg($directory), [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes);

$pool = fresh_pool(4 << 20);
$kept = [];
foreach (['Europe/Paris', 'America/New_York', 'Australia/Sydney', 'EST', '+02:00'] as $name) {
    $zone = new DateTimeZone($name);
    $kept[$name] = ['date' => new DateTimeImmutable('2022-07-01 12:00', $zone), 'zone' => $zone, 'interval' => new DateInterval('P1DT2H')];
    $pool->set($name, $kept[$name]);
}
try {
    for ($end = hrtime(true) + 120_000_000_000; @file_get_contents("http://$address/?key=EST") === false && hrtime(true) < $end; usleep(10_000));
    for ($round = 0; $round < 5; $round++) {
        foreach ($kept as $name => $value) {
            same(
                file_get_contents("http://$address/?key=" . urlencode($name)),
                serialize($value) . "\n" . $value['date']->format('c T') . "\n" . serialize($value['zone']->getTransitions(0, 1_700_000_000)),
                "$name, round $round",
            );
        }
    }
} finally {
    proc_terminate($server);
    proc_close($server);
    unlink("$directory/index.php");
    rmdir($directory);
}
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
done
