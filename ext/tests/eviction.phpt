--TEST--
A pool filled ten times over keeps serving, never wipes and never exceeds its size
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

/** A value that says whose it is. */
function described(string $key, int $version, int $length): array
{
    $body = substr(str_repeat(md5("$key $version"), intdiv($length, 32) + 1), 0, $length);

    return ['key' => $key, 'version' => $version, 'body' => $body, 'sum' => crc32("$key $version $body")];
}

function is_sound(array $value, string $key): bool
{
    return $value['key'] === $key && $value['sum'] === crc32("$key {$value['version']} {$value['body']}");
}

$size = 8 << 20;
$pool = fresh_pool($size);
$stored = 0;
$most = $least = 0;
$refused = 0;
// Short strings, which are copied: arrays would be pinned by being read, and stay for that.
$hot = array_map(fn (int $i): string => ["hot $i", "heiß $i", "\xff\x80$i"][$i % 3], range(0, 19));
foreach ($hot as $key) {
    check($pool->set($key, str_repeat("$key ", 40)), 'set');
}
$hits = $asked = 0;
mt_srand(7);
for ($i = 0; $stored < 10 * $size; $i++) {
    $length = [20, 100, 500, 2_000, 10_000, 60_000][mt_rand(0, 5)];
    $value = described("key $i", $i, $length);
    $stored += $length + 100;
    if (!$pool->set("key $i", $value)) {
        $refused++;
    } else {
        same($pool->get("key $i"), $value, 'what was just stored is there');
    }
    foreach ($i % 5 ? [] : $hot as $key) {
        $read = $pool->get($key);
        $asked++;
        $hits += $read !== null;
        $read === null ? $pool->set($key, str_repeat("$key ", 40)) : same($read, str_repeat("$key ", 40), 'a sound value');
    }
    unset($read);
    if ($i % 50 === 0) {
        $s = $pool->statistics();
        check($s['bytes'] <= $s['capacity'] && $s['size'] === $size, 'it stays within its size');
        $most = max($most, $s['bytes']);
        if ($most > $s['capacity'] / 2) {
            $least = $least === 0 ? $s['bytes'] : min($least, $s['bytes']);
        }
    }
}
clearstatcache();
$s = $pool->statistics();
same([filesize(pool_path()), stat(pool_path())['blocks'] * 512], [$size, $size], 'the file has its size');
check($s['evictions'] > 1000, 'it evicts');
check($least > $s['capacity'] / 2, "it never wipes: at the least $least of {$s['capacity']} bytes were in use");
same([$refused, array_sum($s['refused'])], [0, 0], 'nothing was refused, though this process pins what it reads');
check($asked - $hits <= 5, "what is used again and again stays: $hits of $asked");
$alive = 0;
for ($j = 0; $j < $i; $j++) {
    $value = $pool->get("key $j");
    if ($value !== null) {
        check(is_sound($value, "key $j"), 'a sound value');
        $alive++;
    }
}
check($alive > 100, 'many are alive');

echo "-- rewriting the same keys does not fill it\n";
$pool = fresh_pool($size);
for ($round = 0; $round < 400; $round++) {
    for ($k = 0; $k < 10; $k++) {
        check($pool->set("same $k", described("same $k", $round, 40_000)), 'set');
    }
}
for ($k = 0; $k < 10; $k++) {
    same($pool->get("same $k")['version'], 399, 'the last one is there');
}

echo "-- large values\n";
$pool = fresh_pool($size);
check($pool->setMany(['small' => 1, 'other' => range(1, 100)]) === [], 'set');
for ($i = 0; $i < 3; $i++) {
    check($pool->set("run $i", str_repeat('r', 1 << 20)), 'set');
}
same([$pool->get('small'), count($pool->get('other')), $pool->statistics()['evictions']], [1, 100, 0], 'a large value takes what is free');
$pool = fresh_pool($size);
$segment = $pool->statistics()['segments']['bytes'];
foreach ([1, 2] as $segments) {
    $value = str_repeat('x', $segments * $segment - 1000);
    for ($i = 0; $i < 100; $i++) {
        check($pool->set("large $i", $value), "a value of nearly $segments segments");
    }
    same(strlen($pool->get('large 99')), strlen($value), 'is there');
}
check($pool->set('half', str_repeat('h', intdiv($size, 4))), 'a quarter of the pool');
same($pool->get('half'), str_repeat('h', intdiv($size, 4)), 'is there');
$pool->set('too large', 'old');
same($pool->set('too large', str_repeat('x', $size)), false, 'more than the pool');
same($pool->has('too large'), false, 'a refusal deletes the old value');
same($pool->statistics()['refused']['large'], 1, 'and is counted');
same($pool->setMany(['fits' => 1, 'too large' => str_repeat('x', $size), 5 => str_repeat('x', $size)]), ['too large', '5'], 'and said, with the keys as strings');
same($pool->add('too large', str_repeat('x', $size)), false, 'add');
$pool->set('too large', 'old');
same($pool->add('too large', str_repeat('x', $size)), false, 'add');
same($pool->get('too large'), 'old', 'an add that could not be deletes nothing');
same($pool->replace('too large', str_repeat('x', $size)), false, 'replace');
same($pool->has('too large'), false, 'a replace that could not be deletes the old value');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- rewriting the same keys does not fill it
-- large values
done
