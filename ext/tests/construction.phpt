--TEST--
A SharedMemory comes from open() alone; it is not cloned, serialised, extended or given properties
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;
use Larder\Token;

$pool = fresh_pool();
$pool->set('k', 'v');

echo thrown(fn () => new SharedMemory()), "\n";
echo thrown(fn () => (new ReflectionClass(SharedMemory::class))->newInstanceWithoutConstructor()), "\n";
echo thrown(fn () => (new ReflectionClass(SharedMemory::class))->newInstance()), "\n";
echo thrown(fn () => clone $pool), "\n";
echo thrown(fn () => serialize($pool)), "\n";
echo thrown(fn () => serialize([1, $pool])), "\n";
echo thrown(fn () => unserialize('O:19:"Larder\SharedMemory":0:{}')), "\n";
echo thrown(fn () => @unserialize('C:19:"Larder\SharedMemory":0:{}')), "\n";
echo thrown(fn () => $pool->anything = 1), "\n";
echo thrown(function () use ($pool) {
    $pool->{'a list'}[] = 1;
}), "\n";
echo thrown(fn () => $pool->set('pool', $pool)), "\n";
echo thrown(fn () => $pool->set('pool', ['a' => [$pool]])), "\n";
var_dump(isset($pool->anything), json_encode($pool), (array) $pool, $pool == SharedMemory::open(pool_name()), $pool->get('k'));
var_export($pool);
echo "\n";
var_dump($pool);
echo run_php('class Mine extends Larder\SharedMemory {}'), "\n";
echo run_php('class Mine extends Larder\Token {}'), "\n";

echo "-- handles\n";
$again = SharedMemory::open(pool_name());
var_dump($again->get('k'), spl_object_id($again) !== spl_object_id($pool));
unset($pool);
var_dump($again->get('k'));
$map = new WeakMap();
$map[$again] = 'kept';
$reference = WeakReference::create($again);
var_dump(count($map), $reference->get() === $again);
unset($again);
gc_collect_cycles();
var_dump(count($map), $reference->get());

echo "-- Token\n";
$token = new Token('epoch', 5);
var_dump($token->epoch, $token->version, $token == new Token('epoch', 5), unserialize(serialize($token)) == $token, clone $token == $token);
echo thrown(fn () => $token->version = 6), "\n";
echo thrown(fn () => $token->__construct('other', 6)), "\n";
echo thrown(fn () => new Token()), "\n";
echo thrown(fn () => new Token('epoch', 'five')), "\n";
$empty = (new ReflectionClass(Token::class));
echo thrown(fn () => $empty->newInstanceWithoutConstructor()->epoch), "\n";
echo thrown(fn () => unserialize('O:12:"Larder\Token":1:{s:5:"epoch";a:0:{}}')), "\n";
var_dump($token->epoch, $token->version);
$pool = SharedMemory::open(pool_name());
$pool->set('token', $token);
var_dump($pool->get('token'));

echo "-- exceptions\n";
foreach (['PoolUnusable', 'Unstorable', 'NotACounter'] as $name) {
    $class = "Larder\\Exception\\$name";
    $e = new $class('why', 3, new Exception('before'));
    var_dump($e instanceof RuntimeException && $e instanceof Larder\Exception, $e->getMessage(), $e->getCode(), $e->getPrevious()->getMessage());
}
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECTF--
Error: Call to private Larder\SharedMemory::__construct() from global scope
ReflectionException: Class Larder\SharedMemory is an internal class marked as final that cannot be instantiated without invoking its constructor
ReflectionException: Access to non-public constructor of class Larder\SharedMemory
Error: Trying to clone an uncloneable object of class Larder\SharedMemory
Exception: Serialization of 'Larder\SharedMemory' is not allowed
Exception: Serialization of 'Larder\SharedMemory' is not allowed
Exception: Unserialization of 'Larder\SharedMemory' is not allowed
Exception: Unserialization of 'Larder\SharedMemory' is not allowed
Error: Cannot create dynamic property Larder\SharedMemory::$anything
Error: Cannot create dynamic property Larder\SharedMemory::$a list
Larder\Exception\Unstorable: The value of the key "pool" was not stored: $value is a Larder\SharedMemory, which cannot be stored; store plain data taken from it.
Larder\Exception\Unstorable: The value of the key "pool" was not stored: $value['a'][0] is a Larder\SharedMemory, which cannot be stored; store plain data taken from it.
bool(false)
string(2) "{}"
array(0) {
}
bool(true)
string(1) "v"
\Larder\SharedMemory::__set_state(array(
))
object(Larder\SharedMemory)#1 (0) {
}

Fatal error: Class Mine cannot extend final class Larder\SharedMemory in %s on line %d

Fatal error: Class Mine cannot extend final class Larder\Token in %s on line %d
-- handles
string(1) "v"
bool(true)
string(1) "v"
int(1)
bool(true)
int(0)
NULL
-- Token
string(5) "epoch"
int(5)
bool(true)
bool(true)
bool(true)
Error: Cannot modify readonly property Larder\Token::$version
Error: Cannot modify readonly property Larder\Token::$epoch
ArgumentCountError: Larder\Token::__construct() expects exactly 2 arguments, 0 given
TypeError: Larder\Token::__construct(): Argument #2 ($version) must be of type int, string given
Error: Typed property Larder\Token::$epoch must not be accessed before initialization
TypeError: Cannot assign array to property Larder\Token::$epoch of type string
string(5) "epoch"
int(5)
object(Larder\Token)#7 (2) {
  ["epoch"]=>
  string(5) "epoch"
  ["version"]=>
  int(5)
}
-- exceptions
bool(true)
string(3) "why"
int(3)
string(6) "before"
bool(true)
string(3) "why"
int(3)
string(6) "before"
bool(true)
string(3) "why"
int(3)
string(6) "before"
