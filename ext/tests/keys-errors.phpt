--TEST--
A key is 1 to 65,535 bytes; every method says so
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
$pool->set('k', 'v');
$before = $pool->token('k')->clock;
$arguments = ['get' => [], 'set' => [1], 'add' => [1], 'replace' => [1], 'delete' => [], 'has' => [], 'increment' => [], 'touch' => [5], 'token' => []];
foreach ($arguments as $method => $rest) {
    echo thrown(fn () => $pool->$method('', ...$rest)), "\n";
    echo thrown(fn () => $pool->$method(str_repeat('k', 65536), ...$rest)), "\n";
    same(substr(thrown(fn () => $pool->$method([], ...$rest)), 0, 9), 'TypeError', $method);
    same(thrown(fn () => $pool->$method(str_repeat('k', 65535), ...$rest)), 'nothing was thrown', $method);
}
echo thrown(fn () => $pool->get(str_repeat('k', 5 << 20))), "\n";
echo thrown(fn () => $pool->get(null)), "\n";
echo thrown(fn () => $pool->get(new class {
    public function __toString(): string
    {
        return 'k';
    }
})), "\n";
echo thrown(fn () => $pool->get()), "\n";
echo thrown(fn () => $pool->get('k', 1, 2)), "\n";
echo thrown(fn () => $pool->set('k')), "\n";
echo thrown(fn () => $pool->get(nothing: 1)), "\n";
same($pool->get('k'), 'v', 'nothing happened to the others');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
