--TEST--
A value whose own code throws while it is read is a miss, and is freed once, however often it is read
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

fresh_pool(4 << 20);
$code = <<<'CODE'
class Throws
{
    public int $number = 0;

    public function __serialize(): array
    {
        return [1];
    }

    public function __unserialize(array $parts): void
    {
        throw new DomainException('each time');
    }
}

$pool = Larder\SharedMemory::open(pool_name());
$pool->set('k', new Throws());
$reads = [
    'get' => [fn () => $pool->get('k', 'a miss'), 'a miss'],
    'getMany' => [fn () => $pool->getMany(['k']), []],
    'fetch' => [fn () => $pool->fetch(['k']), []],
];
foreach ($reads as $name => [$read, $miss]) {
    $made = [];
    for ($i = 0; $i < 50; $i++) {
        same($read(), $miss, $name);
        $made[$i] = new Throws();
        $made[$i]->number = $i;
    }
    // Memory that is freed twice is handed out twice.
    foreach ($made as $i => $one) {
        same($one->number, $i, 'what was made meanwhile');
    }
}
same($pool->add('k', 'added'), true, 'it is in the way of no add');
same($pool->get('k'), 'added', 'what add stored');
same($pool->add('k', 'again'), false, 'there is something now');
$pool->set('k', ['inside' => [new Throws()]]);
$token = $pool->token('k');
same($pool->add('k', 'dead at once', 0), true, 'add with a TTL of 0');
same($pool->add('k', new Throws(), token: $token), true, 'another of the kind');
same($pool->add('k', new ArrayObject(), token: $token), true, 'a fill by the token of now');
same($pool->add('k', new Throws()), false, 'an object that can be read');
$pool->set('k', new Throws());
same($pool->remember('k', fn () => 'computed'), 'computed', 'remember');
same($pool->get('k'), 'computed', 'what remember stored');
echo 'fine';
CODE;
echo run_php($code), "\n";
echo run_php($code, ['larder.zero_copy' => 'off']), "\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
fine
fine
