--TEST--
A fill that began before a write, a delete, an invalidation or a clear by another process never survives it; what a request did itself does not count
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;
use Larder\Token;

$pool = fresh_pool();

/** Another request does it, meanwhile. */
function elsewhere(string $code): void
{
    same(run_php('$pool = Larder\SharedMemory::open(pool_name()); ' . $code), '', 'elsewhere');
}

const READERS = ['get', 'getMany', 'fetch', 'has'];

/** Whether it finds it. */
function finds(SharedMemory $pool, string $reader, string $key): bool
{
    return (bool) $pool->$reader($reader === 'get' || $reader === 'has' ? $key : [$key]);
}

foreach ([
    'a write' => ['$pool->set("k", "newer");', 'newer'],
    'a delete' => ['$pool->delete("k");', null],
    'a count' => ['$pool->delete("k"); $pool->increment("k");', 1],
    'a tag' => ['$pool->invalidateTags(["t"]);', null],
    'a clear' => ['$pool->clear();', null],
] as $what => [$code, $left]) {
    foreach (READERS as $reader) {
        same(finds($pool, $reader, 'k'), false, 'a miss');
        elsewhere($code);
        same($pool->set('k', 'stale', null, ['t']), false, "$what refuses a set after $reader");
        same($pool->get('k'), $left, 'and what is there stays');
        same($pool->set('k', 'fresh', null, ['t']), true, 'the next is taken');
        same($pool->get('k'), 'fresh', 'and there');
        $pool->delete('k');
        if ($reader !== 'get') {
            continue;
        }
        $token = $pool->token('k');
        elsewhere($code);
        same($pool->fill('k', 'stale', $token, null, ['t']), false, "$what refuses a fill");
        same($pool->get('k') === 'stale', false, 'which is not there');
        // One of others may share a bucket with it, hardly two do.
        $others = array_filter(['l', 'm', 'n'], fn (string $key) => $pool->add($key, 'stale', null, ['t'], $token));
        same($others !== [], $what !== 'a tag' && $what !== 'a clear', "$what and an add of another key");
        $pool->deleteMany(['k', 'l', 'm', 'n']);
        $pool->set('k', 'first', null, ['t']);
        $token = $pool->token('k');
        elsewhere($code);
        $before = $pool->get('k');
        same($pool->replace('k', 'stale', null, ['t'], $token) || $pool->set('k', 'stale', null, ['t'], $token), false, "$what refuses a write");
        same($pool->get('k'), $before, 'and what is there stays');
        $pool->delete('k');
    }
}
check($pool->statistics()['conflicts'] > 20, 'conflicts are counted');

echo "-- what was read since\n";
foreach ([...READERS, 'remember'] as $reader) {
    $pool->delete('k');
    same($pool->get('k'), null, 'a miss');
    elsewhere('$pool->set("k", 1); $pool->set("k", 2);');
    same($reader === 'remember' ? $pool->remember('k', fn() => 0) === 2 : finds($pool, $reader, 'k'), true, "$reader finds it");
    elsewhere('$pool->set("k", 3);');
    same($pool->set('k', 4), true, "what is set after $reader is a write");
    same($pool->get('k'), 4, 'and there');
}
$pool->delete('k');
same([$pool->get('k'), $pool->get('l')], [null, null], 'two misses');
elsewhere('$pool->set("k", 1); $pool->set("l", 1);');
same($pool->get('l'), 1, 'a hit of the one');
same([$pool->set('k', 'stale'), $pool->get('k')], [false, 1], 'leaves the miss of the other');
$pool->deleteMany(['k', 'l']);

same($pool->get('k'), null, 'a miss');
elsewhere('$pool->set("k", "newer");');
$pool->beginRequest();
same($pool->set('k', 'a write', null, ['t']), true, 'in another request of the same process it judges nothing');
same($pool->lease('k'), true, 'a lease');
$pool->beginRequest();
same($pool->lease('k'), true, 'ends with its request');
$pool->release('k');
$pool->delete('k');

echo "-- what leaves what refuses it\n";
foreach (['$pool->set("k", "newer");' => 'newer', '$pool->delete("k");' => null, '$pool->invalidateTags(["t"]);' => 'first'] as $code => $left) {
    $pool->set('k', 'first');
    $token = $pool->token('k');
    elsewhere($code);
    foreach (['replace', 'set'] as $method) {
        same($pool->$method('k', 'stale', null, ['t'], $token), false, "$code refuses $method");
        same($pool->get('k'), $left, 'and what is there stays');
    }
    same($pool->set('k', 'dead', 0, ['t'], $token), false, 'also if it would be dead at once');
    same($pool->get('k'), $left, 'and what is there stays');
}
same($pool->set('k', 'ours', null, [], $pool->token('k')), true, 'what nothing refuses is stored');
same($pool->get('k'), 'ours', 'and there');
same($pool->set('k', 'dead', 0, [], $pool->token('k')), true, 'also if it is dead at once');
same([$pool->get('k'), $pool->has('k')], [null, false], 'and not there');
same($pool->set('k', 'of nothing', null, [], $pool->token('k'), null, -1), true, 'what is made from nothing');
same($pool->set('k', 'of nothing', null, [], $pool->token('k'), null, -1), false, 'is not stored in place of something');
$version = $pool->fetch(['k'])['k'][2];
elsewhere('$pool->set("k", "newer");');
same($pool->set('k', 'of the old', null, [], $pool->token('k'), null, $version), false, 'nor what is made from what has gone');
same($pool->get('k'), 'newer', 'what is there stays');
same($pool->set('k', 'of the new', null, [], $pool->token('k'), null, $pool->fetch(['k'])['k'][2]), true, 'what is made from what is there');
same($pool->get('k'), 'of the new', 'takes its place');
same(str_contains(thrown(fn () => $pool->set('k', 'of something', version: 7)), 'must be null without a token'), true, 'a version without a token');
$pool->delete('k');

echo "-- what cannot be made again\n";
class Broken
{
    public function __serialize(): array
    {
        return [];
    }

    public function __unserialize(array $parts): void
    {
        throw new DomainException('each time');
    }
}
class BrokenAndTheEnd extends Broken
{
    public function __unserialize(array $parts): void
    {
        SharedMemory::remove(pool_name());
        parent::__unserialize($parts);
    }
}
foreach ([new Broken(), [new Broken()], new BrokenAndTheEnd()] as $value) {
    foreach (['get', 'getMany', 'fetch'] as $reader) {
        $pool->set('k', $value);
        same((bool) $pool->$reader($reader === 'get' ? 'k' : ['k']), false, 'a miss');
        elsewhere('$pool->delete("k");');
        same($pool->set('k', 'stale'), false, "a delete refuses a set after $reader");
        same($pool->get('k'), null, 'and there is nothing');
        same($pool->set('k', 'fresh'), true, 'the next is taken');
    }
}
$pool->delete('k');

echo "-- one's own doings\n";
same($pool->get('k'), null, 'a miss');
$pool->clear();
$pool->invalidateTags(['t', 'u']);
for ($i = 0; $i < 3000; $i++) {
    $pool->set("other-$i", $i);
}
same($pool->set('k', 'v', null, ['t', 'u']), true, 'a clear and an invalidation of its own');
same($pool->get('k'), 'v', 'do not kill it');
$pool->delete('k');
$token = $pool->token('k');
$pool->invalidateTags(['t']);
same($pool->fill('k', 'v', $token, 60, ['t']), true, 'nor a fill');
same($pool->get('k'), 'v', 'which is there');

echo "-- tokens\n";
$token = $pool->token('k');
same($pool->set('k', 'next', null, [], $token), true, 'read, change, write');
same($pool->set('k', 'again', null, [], new Token($token->epoch, $token->version)), true, "a token is what it says, and one's own write does not count");
same($pool->set('k', 'never', null, [], new Token(str_repeat('0', 32), $token->version)), false, 'of another epoch');
same($pool->get('k'), 'again', 'and what is there stays');
$pool->set('k', 'here');
same($pool->fill('k', 'never', new Token('', 0)), false, 'a fill');
same($pool->add('m', 'never', null, [], new Token('', 0)), false, 'an add');
same($pool->fill('k', 'never', new Token($token->epoch, PHP_INT_MAX)), false, 'of the future');
same($pool->get('k'), 'here', 'change nothing');
same($pool->setMany(['k' => 1, 'l' => 2], null, [], new Token('', 0)), ['k', 'l'], 'setMany names the refused');

$token = $pool->token('k');
SharedMemory::remove(pool_name());
same(run_php('fresh_pool()->set("k", "of the new pool");'), '', 'it was replaced');
same($pool->fill('k', 'of the old one', $token), false, 'which the fill itself finds out');
same($pool->get('k'), 'of the new pool', 'and leaves');

echo "-- fifty at once\n";
/* All of them miss the keys, compute and set them, over and over, while these are deleted now and then. What is set after
 * a miss is a fill; what another request sets is a write, of which the last wins. Both have the same luck with the
 * processor. That fills are as good where the order of the steps is given: engine-tests/overlap_test.c. */
const LOOPS = 50, ROUNDS = 200, DELETES = 10;
$pool->clear();
$children = [];
for ($i = 0; $i < LOOPS; $i++) {
    $children[] = fork(function () use ($pool, $i) {
        $hits = ['fill' => 0, 'write' => 0];
        for ($j = 0; $j < ROUNDS; $j++) {
            foreach (['fill', 'write'] as $verb) {
                $pool->beginRequest();
                if ($i === 0 && $j % (ROUNDS / DELETES) === 0) {
                    $pool->delete($verb);
                }
                if ($pool->get($verb) !== null) {
                    $hits[$verb]++;
                    usleep(25);
                    continue;
                }
                usleep(mt_rand(0, 300));
                if ($verb === 'write') {
                    $pool->beginRequest(); // which has missed nothing
                }
                $pool->set($verb, [1, 2, 3]);
            }
        }
        foreach ($hits as $verb => $count) {
            $pool->increment("$verb hits", $count);
        }
    });
}
same(await(...$children), array_fill(0, LOOPS, '0'), 'how the loops ended');
$hits = fn(string $verb): float => $pool->get("$verb hits") / (LOOPS * ROUNDS);
check($hits('write') > 0.8, "if the last write wins, {$hits('write')} of the reads are hits");
check($hits('fill') > 0.97 * $hits('write'), "of overlapping fills {$hits('fill')}, and {$hits('write')} if the last write wins");
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- what was read since
-- what leaves what refuses it
-- what cannot be made again
-- one's own doings
-- tokens
-- fifty at once
