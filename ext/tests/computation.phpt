--TEST--
A computation that remember() asks for may say how its item is kept, and what stands in for it
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\Computation;

$pool = fresh_pool();
$none = new stdClass();

echo "-- what it is told\n";
$pool->remember('k', function (Computation $its) use ($none): int {
    same([$its->key, $its->ttl, $its->tags, $its->isStored, $its->hasFailed], ['k', 60, ['t'], true, false], 'what was given');
    same([$its->old(), $its->old($none)], [null, $none], 'there is nothing old');

    return 1;
}, 60, ['t']);
$pool->remember('plain', fn (Computation $its) => same([$its->ttl, $its->tags], [null, []], 'for ever, without tags'));

echo "-- what it says\n";
$over = null;
same($pool->remember('ttl', function (Computation $its) use (&$over): string {
    $its->ttl = 5;
    $over = $its;

    return 'short';
}, 60, ['t']), 'short', 'the value');
check(in_array($pool->fetch(['ttl'])['ttl'][1] - time(), [4, 5, 6], true), 'its TTL');
foreach (['given', 'learnt'] as $tag) {
    $pool->remember($tag, function (Computation $its): int {
        $its->tags[] = 'learnt';

        return 1;
    }, 60, ['given']);
    check($pool->has($tag), 'kept');
    $pool->invalidateTags([$tag]);
    check(!$pool->has($tag), "the tag is $tag");
}
same($pool->remember('many', function (Computation $its): int {
    $its->tags = range(1, 100);

    return 1;
}), 1, 'many');
$pool->invalidateTags([100]);
same($pool->get('many'), null, 'tags');
$pool->remember('forever', function (Computation $its): int {
    $its->ttl = null;

    return 1;
}, 60);
same($pool->fetch(['forever'])['forever'][1], null, 'for ever');
$pool->remember('dead', function (Computation $its): int {
    $its->ttl = 0;

    return 1;
}, 60);
same($pool->remember('dropped', function (Computation $its): int {
    $its->isStored = false;

    return 1;
}, 60), 1, 'is handed out');
same($pool->getMany(['dead', 'dropped']), [], 'and not kept');
same(await(fork(fn () => check($pool->lease('dropped'), 'its lease was given back'))), ['0'], 'another process');

echo "-- what stands in for it\n";
$pool->remember('stale', fn () => 'old', 1, [], 0.0, 1_000);
usleep(1_100_000);
$fails = function (Computation $its): string {
    $its->hasFailed = true;

    return 'in place of ' . $its->old();
};
same($pool->remember('stale', $fails, 60, [], 1.0, 1_000, retry: 600.0), 'in place of old', 'what expired');
same($pool->get('stale'), null, 'is as it was');
$again = fn () => same($pool->remember('stale', fn () => 'new', 60, [], 1.0, 1_000), 'old', 'no process tries it again');
same(await(fork($again)), ['0'], 'another process');

// What is not to be tried again keeps its place in the table of leases, and another key may want the same one.
$pool = fresh_pool();
$pool->fill('early', 'good', $pool->token('early'), 100, [], 50.0);
same($pool->remember('early', $fails, 60, [], 1e9, retry: 600.0), 'in place of good', 'what is there');
same($pool->get('early'), 'good', 'is as it was');
$again = fn () => same($pool->remember('early', fn () => 'new', 60, [], 1e9), 'good', 'no process tries it again');
same(await(fork($again)), ['0'], 'another process');

$pool = fresh_pool();
$pool->fill('later', 'good', $pool->token('later'), 100, [], 50.0);
same($pool->remember('later', function (Computation $its): mixed {
    $its->isStored = false;

    return $its->old();
}, 60, [], 1e9), 'good', 'deferred');
same(await(fork(fn () => same($pool->remember('later', fn () => 'new', 60, [], 1e9), 'new', 'another does it'))), ['0'], 'another process');
$pool->remember('deleted', fn () => 'old', 1, [], 0.0, 1_000);
usleep(1_100_000);
same($pool->remember('deleted', function (Computation $its) use ($pool, $none): string {
    same($its->old(), 'old', 'it may be served');
    $pool->delete('deleted');
    same($its->old($none), $none, 'but not when it was deleted');

    return 'made';
}, 60, [], 1.0, 1_000), 'made', 'the value');

echo "-- called through another\n";
$compute = fn (string $what): string => "made of $what";
$through = function (callable $of, Computation $its) use ($compute): string {
    same($of, $compute, 'the computation');

    return $of($its->key);
};
same($pool->remember('through', $compute, through: $through), 'made of through', 'as it was called');
same($pool->get('through'), 'made of through', 'and kept');
echo thrown(fn () => $pool->remember('thrown', 'strtoupper', through: fn () => throw new DomainException('sorry'))), "\n";
same($pool->remember('named', 'strtoupper', through: fn (callable $of, Computation $its) => $of($its->key)), 'NAMED', 'by name');

echo "-- when it is over\n";
same([$over->old(), $over->old('none')], [null, 'none'], 'there is nothing old');
echo thrown(fn () => clone $over), "\n";
echo thrown(fn () => serialize($over)), "\n";
echo thrown(fn () => new Computation()), "\n";
echo thrown(fn () => $over->key = 'other'), "\n";
echo thrown(fn () => $over->ttl = 'long'), "\n";
echo thrown(fn () => $pool->remember('wrong', function (Computation $its): int {
    $its->tags = [''];

    return 1;
})), "\n";
same($pool->get('wrong'), null, 'not kept');
$pool->remember('referred', function (Computation $its): int {
    $ttl = &$its->ttl;
    $tags = &$its->tags;
    $ttl = 5;
    $tags = ['referred'];

    return 1;
});
check($pool->fetch(['referred'])['referred'][1] !== null, 'a reference to its TTL');
$pool->invalidateTags(['referred']);
same($pool->get('referred'), null, 'and to its tags');
$pool->remember('unset', function (Computation $its): int {
    unset($its->ttl, $its->tags, $its->isStored, $its->hasFailed);

    return 1;
}, 60, ['unset']);
same($pool->get('unset'), null, 'what does not say that it is stored is not');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- what it is told
-- what it says
-- what stands in for it
-- called through another
DomainException: sorry
-- when it is over
Error: Trying to clone an uncloneable object of class Larder\Computation
Exception: Serialization of 'Larder\Computation' is not allowed
Error: Call to private Larder\Computation::__construct() from global scope
Error: Cannot modify readonly property Larder\Computation::$key
TypeError: Cannot assign string to property Larder\Computation::$ttl of type ?int
ValueError: Larder\SharedMemory::remember(): Argument #4 ($tags) must not contain a tag of 0 bytes; a tag has 1 to 65535 bytes
