--TEST--
When a request has ended its process goes on making room for the next one
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
$code = <<<'PHP'
    $pool = Larder\SharedMemory::open(pool_name());
    for ($i = 0; $i < 4000; $i++) {
        $pool->set("item $i", str_repeat('x', 3000));
    }
    ['evictions' => $evictions, 'items' => $items] = $pool->statistics();
    echo "$evictions $items";
    PHP;
[$evictions, $items] = explode(' ', run_php($code));
['evictions' => $after, 'items' => $left] = $pool->statistics();
check((int) $evictions > 0, 'the pool was full');
check($after > (int) $evictions, "$after evictions, of which $evictions while the request ran");
check($left < (int) $items, "$left of $items items are left");
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
