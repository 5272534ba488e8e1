--TEST--
A read copies nothing and writes nothing: an array of 100,000 elements costs no memory, and the pool's bytes stay
--EXTENSIONS--
posix
--INI--
memory_limit=512M
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool(128 << 20); // a quarter of it may be in use, and all of these values are at once
same($pool->statistics()['mode'], 'zero-copy', 'mode');

$values = ['ten' => range(1, 10), 'many' => range(1, 100_000), 'nested' => [], 'text' => str_repeat('text ', 200_000), 'map' => []];
for ($i = 0; $i < 100_000; $i++) {
    $values['map']["name $i"] = "value $i";
}
for ($i = 0; $i < 2_000; $i++) {
    $values['nested'][] = ['id' => $i, 'tags' => ['a', 'b', "c$i"], 'body' => str_repeat("line $i\n", 20)];
}
$sums = [];
foreach ($values as $key => $value) {
    check($pool->set($key, $value), "set $key");
    $sums[$key] = md5(serialize($value));
}
unset($values, $value);
gc_collect_cycles();
$warm = [$pool->get('ten'), memory_get_usage()];

echo "-- memory\n";
foreach (array_keys($sums) as $key) {
    $before = memory_get_usage();
    $read = $pool->get($key);
    $used = memory_get_usage() - $before;
    same($used, 0, "bytes that get('$key') takes");
    $again = [$read, $pool->get($key)];
    check(memory_get_usage() - $before < 1000, 'nor does passing it on');
    unset($again);
    same(md5(serialize($read)), $sums[$key], 'it is the value');
    unset($read);
}
$before = memory_get_usage();
$all = $pool->getMany(array_keys($sums));
check(memory_get_usage() - $before < 2_000, 'getMany takes the list only');
$list = $pool->fetch(array_keys($sums));
check(memory_get_usage() - $before < 8_000, 'fetch takes the lists only');
unset($all, $list);

// Reading inside copies nothing either; writing copies one level, and gives it back.
$before = memory_get_usage();
$read = $pool->get('nested');
$found = 0;
foreach ($read as $row) {
    $found += strlen($row['body']) + count($row['tags']);
}
check(memory_get_usage() - $before < 1_000, 'a walk takes nothing');
$read[5]['tags'][] = 'changed';
$used = memory_get_usage() - $before;
check($used > 30_000 && $used < 100_000, "a change copies the levels above it, not what is inside: $used bytes");
unset($read, $row);
check(memory_get_usage() - $before < 1_000, 'and they are let go');

echo "-- an object takes its properties only\n";
class Row
{
    public array $many;
    public string $text;
    public int $id = 1;
}
$row = new Row();
$row->many = range(1, 50_000);
$row->text = str_repeat('x', 100_000);
$pool->set('row', $row);
unset($row);
$pool->get('row');
$before = memory_get_usage();
$read = $pool->get('row');
check(memory_get_usage() - $before < 1_000, 'an object with a large array inside');
same([count($read->many), strlen($read->text)], [50_000, 100_000], 'it is the value');

echo "-- statistics\n";
$before = $pool->statistics();
for ($i = 0; $i < 1_000; $i++) {
    $pool->get('map');
}
$after = $pool->statistics();
same($after['hits'] - $before['hits'], 1_000, 'hits');
$but = array_flip(['hits', 'oldest_pin_seconds']);
same(array_diff_key($after, $but), array_diff_key($before, $but), 'nothing else changes');
same($after['copies'], 0, 'nothing was copied');
$version = $pool->token('map')->version;
$pool->get('map');
same($pool->token('map')->version, $version, 'no tick of the clock');

echo "-- the pool's bytes\n";
$pool = fresh_pool(4 << 20, suffix: '-small');
for ($i = 0; $i < 200; $i++) {
    $pool->set("array $i", range($i, $i + 50));
    $pool->set("short $i", "value $i");
    $pool->set("object $i", (object) ['i' => $i]);
}
$read = function () use ($pool): void {
    for ($i = 0; $i < 200; $i++) {
        check($pool->get("array $i")[50] === $i + 50 && $pool->get("short $i") === "value $i" && $pool->get("object $i")->i === $i, 'get');
        check($pool->has("array $i") && !$pool->has("no $i") && $pool->get("missing $i") === null, 'has');
    }
};
$read(); // pins, and marks what is used
$before = file_get_contents(pool_path('-small'));
$read();
$after = file_get_contents(pool_path('-small'));
$differing = [];
for ($at = strspn($before ^ $after, "\0"); $at < strlen($before); $at++) {
    if ($before[$at] !== $after[$at]) {
        $differing[] = $at;
    }
}
check($differing !== [], 'hits and misses are counted');
check(end($differing) - $differing[0] < 192 && count($differing) < 32, 'and nothing else is written than these two figures of this process');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-small');
?>
--EXPECT--
-- memory
-- an object takes its properties only
-- statistics
-- the pool's bytes
done
