--TEST--
A process that has closed its standard streams prints nothing into a pool
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$code = <<<'CODE'
    ignore_user_abort(true); // what cannot be printed would end it
    fclose(STDIN);
    fclose(STDOUT);
    fclose(STDERR);
    [$names, $rounds] = [%s, 3];
    $pools = array_map(fn (string $name) => Larder\SharedMemory::open($name, 8 << 20), $names);
    for ($i = 0; $i < $rounds; $i++) {
        echo str_repeat('printed ', 2000);
        error_log(str_repeat('logged ', 2000));
        flush();
        foreach ($pools as $pool) {
            $pool->set("in round $i", [$i]);
        }
    }
    CODE;
$pool = fresh_pool();
$pool->set('precious', ['kept']);
$id = $pool->statistics()['id'];
SharedMemory::remove(pool_name('-made'));
run_php(sprintf($code, var_export([pool_name(), pool_name('-made')], true)), ['error_log' => '', 'log_errors' => 1]);
same($pool->get('precious'), ['kept'], 'what was there');
foreach ([$pool, SharedMemory::open(pool_name('-made'))] as $which => $one) {
    same($one->getMany(['in round 0', 'in round 1', 'in round 2']), ['in round 0' => [0], 'in round 1' => [1], 'in round 2' => [2]], "what the process stored in pool $which");
}
same(SharedMemory::open(pool_name())->statistics()['id'], $id, 'the pool was not damaged');

echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-made');
?>
--EXPECT--
done
