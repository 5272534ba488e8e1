--TEST--
A fatal error in code that a call runs leaves nothing behind that another process has to wait for
--EXTENSIONS--
posix
--FILE--
<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require __DIR__ . '/pool.inc';
require __DIR__ . '/fatal.inc';

use Larder\SharedMemory;

final class NotLoaded
{
}

/** One that may be served until it is computed anew. */
function set_soft(SharedMemory $pool, string $key, mixed $value): void
{
    $pool->set($key, $value, null, ['soft']);
    $pool->invalidateTags(['soft'], 100);
}

function refill(SharedMemory $pool): void
{
    $pool->clear();
    set_soft($pool, 'soft', 'old');
    set_soft($pool, 'soft object', [new Wakes()]);
    $pool->fill('early', 'good', $pool->token('early'), 100, [], 50.0);
    $pool->set('large', range(1, 200_000));
    foreach ([Wakes::class, IsTold::class, NotLoaded::class] as $class) {
        $pool->set($class, [new $class()]);
    }
}

/** While the process is still there that had the error. */
function goes_on(SharedMemory $pool): void
{
    same($pool->get('early'), 'good', 'what is there');
    check($pool->has('Wakes') && $pool->has('IsTold') && $pool->has('NotLoaded'), 'what was not taken');
    same($pool->get('k2'), null, 'of many none was stored');
    foreach (['k', 'k2', 'soft', 'soft object', 'Wakes', 'IsTold', 'NotLoaded'] as $key) {
        check($pool->lease($key), "the lease of $key");
        $pool->release($key);
    }
    same($pool->remember('k', fn () => 'new'), 'new', 'is computed');
    same($pool->remember('soft', fn () => 'new'), 'new', 'is computed anew');
    foreach (['Wakes', 'IsTold', 'NotLoaded'] as $class) {
        check($pool->set($class, 'new'), "$class is replaced");
        same($pool->get($class), 'new', $class);
    }
}

$pool = fresh_pool(16 << 20);
$end_serving = null;
// Also where the test ends at what does not hold.
register_shutdown_function(function () use (&$end_serving): void {
    $end_serving !== null && $end_serving();
});
$page = sprintf(
    "<?php error_reporting(0); require '%1\$s/child.inc'; require '%1\$s/fatal.inc'; request();",
    __DIR__,
);
$context = stream_context_create(['http' => ['ignore_errors' => true]]);
putenv('LARDER_TEST_OF=' . $_SERVER['SCRIPT_FILENAME']);
foreach (['auto', 'off'] as $zero_copy) {
    [$address, $end_serving] = serve($page, ['larder.zero_copy' => $zero_copy]);
    while (@file_get_contents("http://$address/") !== 'lives') {
        usleep(10_000); // it is about to listen
    }
    foreach (array_keys(calls($pool)) as $call) {
        refill($pool);
        $request = @fopen("http://$address/?call=" . rawurlencode($call), 'r', false, $context);
        check($request !== false, "$call is answered");
        same(fgets($request), "over\n", "$call ends its request");
        goes_on($pool);
        $pool->set('let it go', true);
        same(stream_get_contents($request), '', "$call, the end");
        fclose($request);
        same(file_get_contents("http://$address/"), 'lives', "$call, the next request");
        ['pinned_bytes' => $pinned, 'segments' => $segments] = $pool->statistics();
        same([$pinned, $segments['limbo']], [0, 0], "after $call");
    }
    $end_serving();
    $end_serving = null;
}
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
