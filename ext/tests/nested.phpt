--TEST--
Code that runs inside a read or a store may use the pool, change it, empty it, and fail
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$pool = fresh_pool(4 << 20);

class Busy
{
    public static ?Closure $reading = null;
    public static ?Closure $writing = null;
    public array $parts = [];

    public function __construct(mixed ...$parts)
    {
        $this->parts = $parts;
    }

    public function __serialize(): array
    {
        self::$writing !== null && (self::$writing)();

        return $this->parts;
    }

    public function __unserialize(array $parts): void
    {
        $this->parts = $parts;
        self::$reading !== null && (self::$reading)();
    }
}

class Wakes
{
    public string $text = '';

    public function __wakeup(): void
    {
        Busy::$reading !== null && (Busy::$reading)();
    }
}

$value = [new Busy(range(1, 500), str_repeat('x', 6000)), (object) ['a' => range(1, 50)], new Busy('second')];
$wakes = new Wakes();
$wakes->text = str_repeat('w', 7000);
$churn = function () use ($pool): void {
    for ($i = 0; $i < 2000; $i++) {
        $pool->set("churn $i", str_repeat("churn $i ", 500));
    }
};
$actions = [
    'get itself' => function () use ($pool) {
        $reading = Busy::$reading;
        Busy::$reading = null;
        check($pool->get('k') !== null, 'get inside');
        Busy::$reading = $reading;
    },
    'overwrite itself' => fn () => $pool->set('k', 'overwritten'),
    'delete itself' => fn () => $pool->delete('k'),
    'clear' => fn () => $pool->clear(),
    'churn' => $churn,
    'remove' => fn () => SharedMemory::remove(pool_name()) && $pool->set('other', 1),
    'getMany' => fn () => $pool->getMany(['a', 'b', 'churn 1999']),
    'increment' => fn () => $pool->increment('inside'),
    'statistics' => fn () => $pool->statistics(),
    'another pool' => fn () => SharedMemory::open(pool_name('-other'), 4 << 20)->set('k', range(1, 100)),
];
foreach ($actions as $what => $action) {
    foreach (['value' => $value, 'wakes' => $wakes] as $kind => $stored) {
        Busy::$reading = Busy::$writing = null;
        $pool->set('k', $stored);
        $expected = serialize($stored);
        Busy::$reading = $action;
        $read = $pool->get('k');
        Busy::$reading = null;
        check(serialize($read) === $expected, "reading $kind: $what");
        $pool->set('k', $stored);
        $pool->set('l', $stored);
        Busy::$reading = $action;
        $many = $pool->getMany(['k', 'l']);
        $fetched = $pool->fetch(['l', 'k']);
        Busy::$reading = null;
        check(!isset($many['k']) || $what === 'overwrite itself' || serialize($many['k']) === $expected, "getMany $kind: $what");
        Busy::$writing = $action;
        check($pool->set('k', $stored), "writing $kind: $what");
        Busy::$writing = null;
        check(serialize($pool->get('k')) === $expected, "after writing $kind: $what");
        Busy::$writing = $action;
        check($pool->setMany(['l' => 1, 'm' => $stored]) === [], "setMany $kind: $what");
        Busy::$writing = null;
        check(serialize($pool->get('m')) === $expected, "after setMany $kind: $what");
    }
    echo "$what: works\n";
}

echo "-- exceptions\n";
Busy::$reading = Busy::$writing = null;
$pool->setMany(['k' => $value, 'before' => 1, 'after' => 2]);
Busy::$reading = function () {
    static $calls = 0;
    if ($calls++ % 2) {
        throw new DomainException('in the second');
    }
};
foreach (['get' => ['k'], 'getMany' => [['before', 'k', 'after']], 'fetch' => [['before', 'k', 'after']]] as $method => $arguments) {
    echo "$method: ", thrown(fn () => $pool->$method(...$arguments)), "\n";
}
Busy::$writing = fn () => throw new DomainException('while storing');
echo 'set: ', thrown(fn () => $pool->set('before', $value)), "\n";
echo 'setMany: ', thrown(fn () => $pool->setMany(['before' => 5, 'k' => $value, 'after' => 5])), "\n";
echo 'add: ', thrown(fn () => $pool->add('new', $value)), "\n";
Busy::$reading = Busy::$writing = null;
same([$pool->get('before'), $pool->get('after'), $pool->has('new')], [5, 2, false], 'what was stored');
check(serialize($pool->get('k')) === serialize($value), 'the old value stays');

echo "-- an autoloader\n";
$child = 'class_alias("Late", "Unused") || 1;';
run_php('class Late { public $a = [1, 2]; private $b = "bee"; } class Late2 { public $c; function __wakeup() {} }
    $l = new Late2; $l->c = new Late; Larder\SharedMemory::open(pool_name(), 4 << 20)->setMany(["late" => [new Late, range(1, 100)], "late2" => [$l]]);');
foreach (['late', 'late2'] as $key) {
    echo run_php('$pool = Larder\SharedMemory::open(pool_name(), 4 << 20);
        spl_autoload_register(function (string $class) use ($pool) {
            $pool->set("loading", "$class");
            $pool->delete("' . $key . '");
            for ($i = 0; $i < 3000; $i++) { $pool->set("churn $i", str_repeat("churn $i ", 500)); }
            eval("class Late { public \$a = [1, 2]; private \$b = \'bee\'; } class Late2 { public \$c; function __wakeup() {} }");
        });
        echo json_encode($pool->get("' . $key . '")), " ", $pool->get("loading"), "\n";'), "\n";
    // The other one is still there for the second round, unless the churn took it.
    run_php('class Late { public $a = [1, 2]; private $b = "bee"; } class Late2 { public $c; function __wakeup() {} }
        $l = new Late2; $l->c = new Late; Larder\SharedMemory::open(pool_name(), 4 << 20)->set("late2", [$l]);');
}

echo "-- exit inside\n";
foreach (['$pool->get("exits");', '$pool->getMany(["exits", "k"]);', '$pool->fetch(["exits"]);'] as $call) {
    $pool->set('exits', new ArrayObject([new Wakes()]));
    echo run_php('class Wakes { public string $text; function __wakeup() { echo "bye\n"; exit; } } $pool = Larder\SharedMemory::open(pool_name(), 4 << 20);
        ' . $call . ' echo "not reached";'), "\n";
}
echo run_php('class Sleeps { function __sleep() { echo "bye\n"; exit; } } $pool = Larder\SharedMemory::open(pool_name(), 4 << 20);
    $pool->set("k", [new Sleeps]); echo "not reached";'), "\n";
$pool->set('k', 'works');
same([$pool->get('k'), $pool->statistics()['processes']], ['works', 1], 'after all');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-other');
?>
--EXPECT--
get itself: works
overwrite itself: works
delete itself: works
clear: works
churn: works
remove: works
getMany: works
increment: works
statistics: works
another pool: works
-- exceptions
get: DomainException: in the second
getMany: DomainException: in the second
fetch: DomainException: in the second
set: DomainException: while storing
setMany: DomainException: while storing
add: DomainException: while storing
-- an autoloader
[{"a":[1,2]},[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99,100]] Late
[{"c":{"a":[1,2]}}] Late2
-- exit inside
bye
bye
bye
bye
