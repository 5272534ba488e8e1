--TEST--
remember() computes what is missing once, early if it was costly, and serves what is stale where it was asked to
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$pool = fresh_pool();
$calls = 0;
$count = function () use (&$calls): array {
    return ['call' => ++$calls];
};

same($pool->remember('k', $count), ['call' => 1], 'computed');
same($pool->remember('k', $count), ['call' => 1], 'kept');
same($pool->get('k'), ['call' => 1], 'there');
$pool->delete('k');
same($pool->remember('k', $count, 60, ['t']), ['call' => 2], 'computed again');
$pool->invalidateTags(['t']);
same($pool->remember('k', $count, 60, ['t']), ['call' => 3], 'its tag is kept');
same($pool->remember('null', fn () => null), null, 'null');
same($pool->remember('null', fn () => 1), null, 'is a value');
same($pool->remember('dead', $count, 0), ['call' => 4], 'a TTL of zero');
same($pool->has('dead'), false, 'keeps nothing');
$reference = [1];
same($pool->remember('reference', function &() use (&$reference) { return $reference; }), [1], 'a reference');
same($pool->get('reference'), [1], 'is stored as what it refers to');
same($pool->remember('outer', fn () => $pool->remember('inner', fn () => 'deep') . 'er'), 'deeper', 'nested');
same($pool->remember('itself', fn () => $pool->remember('itself', fn () => 'inside') . ' out'), 'inside out', 'of the same key');
same($pool->remember('itself', fn () => 'no'), 'inside out', 'the outer one stays');

$pool->remember('slow', function () use (&$end): string {
    for ($begin = microtime(true); ($end = microtime(true)) < $begin + 1.1;) {
        usleep(10_000);
    }

    return 'computed';
}, 1000);
check($pool->fetch(['slow'])['slow'][1] >= $end + 999.9, 'what took long is kept for its TTL from its end on');

echo "-- what it throws\n";
echo thrown(fn () => $pool->remember('k2', fn () => throw new DomainException('sorry'))), "\n";
echo thrown(fn () => $pool->remember('k2', fn () => STDIN)), "\n";
echo thrown(fn () => $pool->remember('k2', fn () => 1, null, [''])), "\n";
echo thrown(fn () => $pool->remember('k2', fn () => 1, null, [], -1)), "\n";
echo thrown(fn () => $pool->remember('k2', 'no such function')), "\n";
same($pool->remember('k2', fn () => 'fine'), 'fine', 'its lease was given back');

echo "-- invalidated while it is computed\n";
foreach (['delete' => '$pool->delete("race");', 'set' => '$pool->set("race", "newer");'] as $what => $code) {
    $pool->delete('race');
    $made = $pool->remember('race', function () use ($code): string {
        same(run_php('$pool = Larder\SharedMemory::open(pool_name()); ' . $code), '', 'elsewhere');

        return 'stale';
    });
    same($made, 'stale', 'the caller gets what it computed');
    same($pool->get('race'), $what === 'set' ? 'newer' : null, "the $what was later");
}

echo "-- early\n";
$early = fn (float $beta): bool => $pool->remember('early', fn () => 'new', 100, [], $beta) === 'new';
$old = fn () => $pool->fill('early', 'old', $pool->token('early'), 100, [], 50.0);
$old();
same($early(0.0), false, 'beta 0: never');
same($early(0.0001), false, 'a small one: hardly');
$soon = 0;
for ($i = 0; $i < 1_000; $i++) {
    $old();
    $soon += $early(1.0);
}
check($soon > 70 && $soon < 200, "cost 50, expiry in 100, beta 1: in e^-2 = 13.5 % of cases ($soon of 1,000)");
$old();
same($early(1e9), true, 'a large one: always');
$old();
same($pool->remember('early', fn () => throw new RuntimeException(), 100, [], 1e9, retry: 0.0), 'old', 'what is there makes up for an exception');
echo thrown(fn () => $pool->remember('early', fn () => intdiv(1, 0), 100, [], 1e9)), "\n";

echo "-- grace\n";
$pool->remember('graced', fn () => 'stale', 1, [], 0.0, 60);
$pool->remember('ungraced', fn () => 'stale', 1, ['t'], 0.0);
$pool->remember('tagged', fn () => 'stale', 1, ['t'], 0.0, 60);
usleep(1_100_000);
$pool->invalidateTags(['t']);
same($pool->get('graced'), null, 'get serves nothing stale');
same($pool->remember('graced', fn () => throw new RuntimeException('down'), 1, [], 1.0, 60), 'stale', 'within its grace');
echo thrown(fn () => $pool->remember('graced', fn () => throw new RuntimeException('down'), 1)), "\n";
echo thrown(fn () => $pool->remember('tagged', fn () => throw new RuntimeException('invalidated'), 1, ['t'], 1.0, 60)), "\n";

echo "-- leases\n";
check($pool->lease('l'), 'taken');
check($pool->lease('l'), 'ours');
$child = pcntl_fork();
if ($child === 0) {
    check(!$pool->lease('l'), 'held');
    check(!$pool->awaitLease('l', 0.05), 'not free in a moment');
    $pool->set('tried', true);
    same($pool->remember('graced', fn () => 'fresh', 60, [], 1.0, 60), 'fresh', 'another key');
    check($pool->awaitLease('l', 60), 'given back');
    check($pool->lease('l'), 'next');
    exit(0);
}
while ($pool->get('tried') === null) {
    usleep(1_000);
}
$pool->release('l');
pcntl_waitpid($child, $status);
same($status, 0, 'the child had it');
check($pool->lease('l', 5), 'its end was its end');
$pool->release('l');
echo thrown(fn () => $pool->lease('l', -1)), "\n";

echo "-- fifty at once\n";
$pool->delete('once');
$gate = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$children = [];
for ($i = 0; $i < 50; $i++) {
    if (($children[] = pcntl_fork()) === 0) {
        fclose($gate[0]);
        fread($gate[1], 1);
        $value = SharedMemory::open(pool_name())->remember('once', function () use ($pool): string {
            usleep(50_000);

            return 'computed ' . $pool->increment('computations');
        }, 60);
        exit($value === 'computed 1' ? 0 : 1);
    }
}
fclose($gate[1]);
usleep(200_000);
fclose($gate[0]);
foreach ($children as $child) {
    pcntl_waitpid($child, $status);
    same($status, 0, 'all got what one computed');
}
same($pool->get('computations'), 1, 'one computation');

echo "-- who dies in the middle\n";
$child = pcntl_fork();
if ($child === 0) {
    $pool->remember('killed', function () use ($pool): void {
        $pool->set('computing', true);
        sleep(60);
    });
    exit(0);
}
while ($pool->get('computing') === null) {
    usleep(1000);
}
posix_kill($child, SIGKILL);
pcntl_waitpid($child, $status);
same($pool->remember('killed', fn () => 'alive'), 'alive', 'leaves its lease');
$child = pcntl_fork();
if ($child === 0) {
    $pool->remember('exited', fn () => exit(0));
}
pcntl_waitpid($child, $status);
same($pool->remember('exited', fn () => 'alive'), 'alive', 'exit(), too');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- what it throws
DomainException: sorry
Larder\Exception\Unstorable: The value of the key "k2" was not stored: $value is a resource, which cannot be stored; store what was read from it.
ValueError: Larder\SharedMemory::remember(): Argument #4 ($tags) must not contain a tag of 0 bytes; a tag has 1 to 65535 bytes
ValueError: Larder\SharedMemory::remember(): Argument #5 ($beta) must be 0 or more
TypeError: Larder\SharedMemory::remember(): Argument #2 ($compute) must be a valid callback, function "no such function" not found or invalid function name
-- invalidated while it is computed
-- early
DivisionByZeroError: Division by zero
-- grace
RuntimeException: down
RuntimeException: invalidated
-- leases
ValueError: Larder\SharedMemory::lease(): Argument #2 ($seconds) must be between 0 and 3600 seconds
-- fifty at once
-- who dies in the middle
