--TEST--
Random values, changed in every way PHP has, are ordinary values to a reader and unchanged to the next one, in any process
--EXTENSIONS--
posix
--INI--
memory_limit=512M
--FILE--
<?php
require __DIR__ . '/pool.inc';
require __DIR__ . '/../engine-tests/image/tests/values.inc';
require __DIR__ . '/../engine-tests/image/tests/walk.inc';

set_error_handler(fn () => true);
$pool = fresh_pool(64 << 20);
check($pool->statistics()['mode'] === 'zero-copy', 'values are used in place');

$stored = [];
for ($seed = 1; $seed <= 300; $seed++) {
    $value = make($seed);
    $serialized = serialize($value);
    if (strlen($serialized) <= 100_000) {
        check($pool->set("key$seed", $value), "set, seed $seed");
        check(serialize($value) === $serialized, "storing leaves the value alone, seed $seed");
        $stored[$seed] = $serialized;
    }
}

function walk_all(Larder\SharedMemory $pool, array $stored, int $start): void
{
    foreach ($stored as $seed => $serialized) {
        $read = $pool->get("key$seed");
        check(serialize($read) === $serialized, "read, seed $seed");
        $ordinary = make($seed);
        check(walk($read, $seed + $start) === walk($ordinary, $seed + $start), "a walk, seed $seed + $start");
        check(serialize($pool->get("key$seed")) === $serialized, "read after the walk, seed $seed + $start");
    }
}

// Together: what one changes, the others must not see.
$children = [
    fork(fn () => walk_all($pool, $stored, 1000)),
    fork(fn () => walk_all($pool, $stored, 2000)),
];
walk_all($pool, $stored, 0);
check(await(...$children) === ['0', '0'], 'the children walked as well');
foreach ($stored as $seed => $serialized) {
    check(serialize($pool->get("key$seed")) === $serialized, "after all, seed $seed");
}
check(count($stored) > 250, 'there were values to walk');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
done
