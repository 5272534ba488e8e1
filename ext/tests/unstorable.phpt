--TEST--
What cannot be stored is refused with the path inside the value, and changes nothing
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
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
$open = fopen('php://memory', 'r');
$closed = fopen('php://memory', 'r');
fclose($closed);
$referenced = ['x' => 1, 'bad' => $generator];
$values = [
    'closure' => fn () => 1, 'resource' => $open, 'closed resource' => $closed, 'generator' => $generator,
    'first class callable' => strlen(...), 'in an array' => ['a' => [3 => $open]], 'in an object' => (object) ['p' => ['q' => fn () => 1]],
    'in a private property' => new Holder($generator), 'in an array of many' => [1, 2, 3, ['x' => 'y', 'z' => [$open, 1]]],
    'by reference' => ['r' => &$referenced], 'anonymous class' => new class {}, 'weak map' => new WeakMap(), 'reflection' => new ReflectionClass('stdClass'),
    'beside what is serialised' => [new DateTime('@0'), ['file' => $open]], 'file object' => ['splfile' => new SplFileObject('php://memory')],
    'throws' => [new Throws()],
];
foreach ($values as $name => $value) {
    $pool->set('k', 'kept');
    $pool->delete('absent');
    $clock = $pool->token('k')->clock;
    foreach (['set', 'replace', 'add'] as $method) {
        $message = thrown(fn () => $pool->$method($method === 'add' ? 'absent' : 'k', $value));
        if ($method === 'set') {
            echo "$name: $message\n";
        } else {
            same($message, $first, "$method, $name");
        }
        $first = $message;
    }
    same([$pool->get('k'), $pool->has('absent'), $pool->token('k')->clock], ['kept', false, $clock], "nothing happened, $name");
}
try {
    $pool->set('k', ['a' => fn () => 1]);
} catch (Larder\Exception\Unstorable $e) {
    check($e instanceof RuntimeException && $e instanceof Larder\Exception, 'what it is');
}
echo '__sleep: ', thrown(fn () => @$pool->set('k', new Sleeps())), "\n";
$deep = $open;
for ($i = 0; $i < 100_000; $i++) {
    $deep = [$deep];
}
same(strlen($message = thrown(fn () => $pool->set('k', $deep))) < 600, true, 'a deep one has a short message');
echo substr($message, 0, 60), "\n";
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
closure: Larder\Exception\Unstorable: the value is a Closure, which cannot be stored; store what it returns, or the name of a function
resource: Larder\Exception\Unstorable: the value is a resource, which cannot be stored; store what was read from it
closed resource: Larder\Exception\Unstorable: the value is a resource, which cannot be stored; store what was read from it
generator: Larder\Exception\Unstorable: the value is a Generator, which cannot be stored; store plain data taken from it
first class callable: Larder\Exception\Unstorable: the value is a Closure, which cannot be stored; store what it returns, or the name of a function
in an array: Larder\Exception\Unstorable: the value at ['a'][3] is a resource, which cannot be stored; store what was read from it
in an object: Larder\Exception\Unstorable: the value at ->p['q'] is a Closure, which cannot be stored; store what it returns, or the name of a function
in a private property: Larder\Exception\Unstorable: the value at ->inner['deep'][0] is a Generator, which cannot be stored; store plain data taken from it
in an array of many: Larder\Exception\Unstorable: the value at [3]['z'][0] is a resource, which cannot be stored; store what was read from it
by reference: Larder\Exception\Unstorable: the value at ['r']['bad'] is a Generator, which cannot be stored; store plain data taken from it
anonymous class: Larder\Exception\Unstorable: the value is an object of an anonymous class, which cannot be stored; store plain data taken from it
weak map: Larder\Exception\Unstorable: the value is a WeakMap, which cannot be stored; store plain data taken from it
reflection: Larder\Exception\Unstorable: the value is a ReflectionClass, which cannot be stored; store plain data taken from it
beside what is serialised: Larder\Exception\Unstorable: the value at [1]['file'] is a resource, which cannot be stored; store what was read from it
file object: Larder\Exception\Unstorable: the value at ['splfile'] is a SplFileObject, which cannot be stored; store plain data taken from it
throws: DomainException: no
__sleep: nothing was thrown
Larder\Exception\Unstorable: the value at [0][0][0][0][0][0]
done
