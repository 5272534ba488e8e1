--TEST--
A key is 1 to 65,535 bytes; every method says so
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
$pool->set('k', 'v');
$before = $pool->token('k')->version;
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
--EXPECTF--
ValueError: Larder\SharedMemory::get(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::get(): Argument #1 ($key) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::set(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::set(): Argument #1 ($key) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::add(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::add(): Argument #1 ($key) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::replace(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::replace(): Argument #1 ($key) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::delete(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::delete(): Argument #1 ($key) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::has(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::has(): Argument #1 ($key) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::increment(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::increment(): Argument #1 ($key) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::touch(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::touch(): Argument #1 ($key) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::token(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::token(): Argument #1 ($key) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::get(): Argument #1 ($key) must not contain a key of 5242880 bytes; a key has 1 to 65535 bytes

Deprecated: Larder\SharedMemory::get(): Passing null to parameter #1 ($key) of type string is deprecated in %s on line %d
ValueError: Larder\SharedMemory::get(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
nothing was thrown
ArgumentCountError: Larder\SharedMemory::get() expects at least 1 argument, 0 given
ArgumentCountError: Larder\SharedMemory::get() expects at most 2 arguments, 3 given
ArgumentCountError: Larder\SharedMemory::set() expects at least 2 arguments, 1 given
Error: Unknown named parameter $nothing
