--TEST--
A process that runs for long and never says that a request begins stores what it never asked for, however much it has missed; what it missed and others wrote since is refused, once
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

foreach ([3000, 10000, 300000] as $misses) {
    $pool = fresh_pool(64 << 20);
    for ($i = 0; $i < $misses; $i++) {
        $pool->get("missed $i");
    }
    same(await(fork(function () use ($pool): void { // the site, meanwhile
        $pool->beginRequest();
        for ($i = 0; $i < 100000; $i++) {
            $pool->set('page ' . $i % 20000, $i);
        }
        for ($i = 0; $i < 1000; $i++) {
            $pool->set("order $i", 'by the site');
            $pool->set("missed $i", 'by the site');
        }
    })), ['0'], 'the site');
    for ($i = 0; $i < 1000; $i++) {
        same($pool->set("order $i", 'by the worker'), true, "order $i after $misses misses");
        same($pool->get("order $i"), 'by the worker', "order $i is there");
        same($pool->set("missed $i", 'stale'), false, "a late fill after $misses misses");
        same($pool->set("missed $i", 'by the worker'), true, 'a write');
    }
    same($pool->statistics()['conflicts'], 1000, 'what was refused');
}

echo "done\n";
?>
--CLEAN--
<?php require __DIR__ . '/pool.inc'; remove_pools(); ?>
--EXPECT--
done
