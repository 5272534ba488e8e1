--TEST--
A date that a request reads has a time zone of its own, whatever the request before it has read
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

[$address, $end_serving] = serve(sprintf(
    '<?php $found = Larder\SharedMemory::open(%s, 4 << 20)->get($_GET["key"]); echo serialize($found), "\n", $found["date"]->format("c T"), "\n", serialize($found["zone"]->getTransitions(0, 1_700_000_000));',
    var_export(pool_name(), true),
));

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
    $end_serving();
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
