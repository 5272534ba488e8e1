--TEST--
What cannot be stored is refused with the path inside the value, and changes nothing
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
error_reporting(E_ALL & ~E_DEPRECATED); // PHP 8.5 deprecates an ArrayObject of an object, but still makes it
$generator = (function () {
    yield 1;
})();
class Throws
{
    public function __serialize(): array
    {
        throw new DomainException('no');
    }
}
class Sleeps
{
    public $a = 1;

    public function __sleep()
    {
        return ['a', 'nothing'];
    }
}
class Holder
{
    private array $inner = [];

    public function __construct(mixed $value)
    {
        $this->inner['deep'] = [$value];
    }
}
final class Container extends ArrayObject
{
    public function __construct(private mixed $inner)
    {
        parent::__construct([1]);
    }
}
$open = fopen('php://memory', 'r');
$closed = fopen('php://memory', 'r');
fclose($closed);
$storage = new SplObjectStorage();
$storage[new stdClass()] = 1;
$storage[new stdClass()] = ['file' => $open];
$keys = new SplObjectStorage();
$keys[fn () => 1] = 1;
$list = new SplQueue();
$list[] = 1;
$list[] = ['log' => $open];
$referenced = ['x' => 1, 'bad' => $generator];
$values = [
    'closure' => fn () => 1, 'resource' => $open, 'closed resource' => $closed, 'generator' => $generator,
    'first class callable' => strlen(...), 'in an array' => ['a' => [3 => $open]], 'in an object' => (object) ['p' => ['q' => fn () => 1]],
    'in a private property' => new Holder($generator), 'in an array of many' => [1, 2, 3, ['x' => 'y', 'z' => [$open, 1]]],
    'by reference' => ['r' => &$referenced], 'anonymous class' => new class {}, 'its class is not there' => [unserialize('O:7:"Missing":0:{}')], 'weak map' => new WeakMap(), 'reflection' => new ReflectionClass('stdClass'),
    'beside what is serialised' => [new DateTime('@0'), ['file' => $open]], 'file object' => ['splfile' => new SplFileObject('php://memory')],
    'throws' => [new Throws()], 'ArrayObject' => ['a' => new ArrayObject(['x' => $open])], 'ArrayObject of an object' => new ArrayObject((object) ['w' => fn () => 1]),
    'a property of an ArrayObject' => new Container($open), 'ArrayIterator' => new ArrayIterator([1, [$closed]]), 'SplObjectStorage' => $storage,
    'a key of SplObjectStorage' => [$keys], 'SplDoublyLinkedList' => $list, 'SplFixedArray' => SplFixedArray::fromArray([1, $open]),
    'one in another' => new ArrayObject([SplFixedArray::fromArray([$storage])]),
];
foreach ($values as $name => $value) {
    $pool->set('k', 'kept');
    $pool->delete('absent');
    $version = $pool->token('k')->version;
    foreach (['set', 'replace', 'add'] as $method) {
        $message = str_replace('"absent"', '"k"', thrown(fn () => $pool->$method($method === 'add' ? 'absent' : 'k', $value)));
        if ($method === 'set') {
            echo "$name: $message\n";
        } else {
            same($message, $first, "$method, $name");
        }
        $first = $message;
    }
    same([$pool->get('k'), $pool->has('absent'), $pool->token('k')->version], ['kept', false, $version], "nothing happened, $name");
}
try {
    $pool->set('k', ['a' => fn () => 1]);
} catch (Larder\Exception\Unstorable $e) {
    check($e instanceof RuntimeException && $e instanceof Larder\Exception, 'what it is');
}
try {
    $pool->setMany(['first' => 1, "odd \n\"key\"" => [new Throws()], 'last' => 2]);
} catch (Larder\Exception\Unstorable $e) {
    echo $e->getMessage(), "\n";
    check($e->getPrevious() instanceof DomainException && $e->getPrevious()->getMessage() === 'no', 'what was thrown is the reason');
}
echo '__sleep: ', thrown(fn () => @$pool->set('k', new Sleeps())), "\n";
$deep = $open;
for ($i = 0; $i < 100_000; $i++) {
    $deep = [$deep];
}
same(strlen($message = thrown(fn () => $pool->set('k', $deep))) < 700, true, 'a deep one has a short message');
echo substr($message, 0, 94), "\n";
$pool->set('k', 'after all');
same($pool->get('k'), 'after all', 'the pool works');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
closure: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a Closure, which cannot be stored; store what it returns, or the name of a function.
resource: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a resource, which cannot be stored; store what was read from it.
closed resource: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a resource, which cannot be stored; store what was read from it.
generator: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a Generator, which cannot be stored; store plain data taken from it.
first class callable: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a Closure, which cannot be stored; store what it returns, or the name of a function.
in an array: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value['a'][3] is a resource, which cannot be stored; store what was read from it.
in an object: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value->p['q'] is a Closure, which cannot be stored; store what it returns, or the name of a function.
in a private property: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value->inner['deep'][0] is a Generator, which cannot be stored; store plain data taken from it.
in an array of many: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value[3]['z'][0] is a resource, which cannot be stored; store what was read from it.
by reference: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value['r']['bad'] is a Generator, which cannot be stored; store plain data taken from it.
anonymous class: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is an object of an anonymous class, which cannot be stored; store plain data taken from it.
its class is not there: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value[0] is a Missing without its class, which cannot be stored; load the class before the object is unserialised.
weak map: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a WeakMap, which cannot be stored; store plain data taken from it.
reflection: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a ReflectionClass, which cannot be stored; store plain data taken from it.
beside what is serialised: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value[1]['file'] is a resource, which cannot be stored; store what was read from it.
file object: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value['splfile'] is a SplFileObject, which cannot be stored; store plain data taken from it.
throws: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value[0] could not be serialised: no
ArrayObject: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value['a']->storage['x'] is a resource, which cannot be stored; store what was read from it.
ArrayObject of an object: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value->storage->w is a Closure, which cannot be stored; store what it returns, or the name of a function.
a property of an ArrayObject: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value->inner is a resource, which cannot be stored; store what was read from it.
ArrayIterator: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value->storage[1][0] is a resource, which cannot be stored; store what was read from it.
SplObjectStorage: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value->storage[1]['inf']['file'] is a resource, which cannot be stored; store what was read from it.
a key of SplObjectStorage: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value[0]->storage[0]['obj'] is a Closure, which cannot be stored; store what it returns, or the name of a function.
SplDoublyLinkedList: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value->dllist[1]['log'] is a resource, which cannot be stored; store what was read from it.
SplFixedArray: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value[1] is a resource, which cannot be stored; store what was read from it.
one in another: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value->storage[0][0]->storage[1]['inf']['file'] is a resource, which cannot be stored; store what was read from it.
The value of the key "odd \n\"key\"" was not stored: $value[0] could not be serialised: no
__sleep: nothing was thrown
Larder\Exception\Unstorable: The value of the key "k" was not stored: $value[0][0][0][0][0][0]
done
