--TEST--
What cannot be stored is refused with the path to it and what to do
--FILE--
<?php
require __DIR__ . '/values.inc';

function refuse(mixed $value): void
{
    try {
        $image = new Image($value);
        echo "stored as {$image->kind()}\n";
    } catch (Throwable $e) {
        echo $e->getMessage(), "\n";
    }
}

class Handler
{
    private array $callbacks = [];
    public $callback;

    public function __construct(mixed $callback)
    {
        $this->callback = $callback;
    }
}

class PrivateHandler extends Handler
{
    public function __construct(mixed $callback, protected mixed $inner = null)
    {
        parent::__construct(1);
        $this->inner = [$callback];
    }
}

$closure = fn () => 1;
$generator = (function () {
    yield 1;
})();
refuse($closure);
refuse(STDIN);
refuse(['config' => ['handler' => new Handler($closure)]]);
refuse([1, [2, [-3 => STDIN]]]);
refuse((object) ['a' => (object) ['b' => [$generator]]]);
refuse(new PrivateHandler($closure));
refuse(['x' => new class {}]);
// Objects of a class that was not there when they were unserialised, and one that does not even know which.
refuse(['from' => ['elsewhere' => unserialize('O:7:"Missing":1:{s:1:"a";i:1;}')]]);
refuse(new __PHP_Incomplete_Class());
refuse([[new WeakMap()], 1]);
refuse(WeakReference::create($generator));
$point = new Point();
$point->dynamic = ['d' => $closure];
refuse([$point]);
refuse([str_repeat('long', 100) => STDIN]);
$deep = STDIN;
for ($i = 0; $i < 200; $i++) {
    $deep = ["level$i" => $deep];
}
refuse($deep);
// Also where the value would be serialised, and PHP would store a number instead.
refuse(['date' => new DateTime('@0'), 'file' => STDIN]);
$a = [1];
$a['self'] = &$a;
$a['file'] = STDIN;
refuse($a);
?>
--EXPECTF--
$value is a Closure, which cannot be stored; store what it returns, or the name of a function
$value is a resource, which cannot be stored; store what was read from it
$value['config']['handler']->callback is a Closure, which cannot be stored; store what it returns, or the name of a function
$value[1][1][-3] is a resource, which cannot be stored; store what was read from it
$value->a->b[0] is a Generator, which cannot be stored; store plain data taken from it
$value->inner[0] is a Closure, which cannot be stored; store what it returns, or the name of a function
$value['x'] is an object of an anonymous class, which cannot be stored; store plain data taken from it
$value['from']['elsewhere'] is a Missing without its class, which cannot be stored; load the class before the object is unserialised
$value is a something without its class, which cannot be stored; load the class before the object is unserialised
$value[0][0] is a WeakMap, which cannot be stored; store plain data taken from it
$value is a WeakReference, which cannot be stored; store plain data taken from it
$value[0]->dynamic['d'] is a Closure, which cannot be stored; store what it returns, or the name of a function
$value['longlonglonglonglonglonglonglonglonglonglonglonglonglonglong…'] is a resource, which cannot be stored; store what was read from it
$value['level199']['level198']%s… is a resource, which cannot be stored; store what was read from it
$value['file'] is a resource, which cannot be stored; store what was read from it
$value['file'] is a resource, which cannot be stored; store what was read from it
