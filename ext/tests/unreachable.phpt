--TEST--
A pool that cannot be reached any more is a cache without items, and says so where silence would lose something
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;
use Larder\Token;

/** Its name belongs to a directory from now on, and this process has noticed. */
function lose(SharedMemory $pool): void
{
    SharedMemory::remove(pool_name());
    mkdir(pool_path());
    same($pool->has('k'), false, 'it is lost');
}

/** Stores as soon as the pool can be reached again; others may be making theirs in its directory. */
function set_when_reached(SharedMemory $pool, string $key, mixed $value): bool
{
    while (true) {
        try {
            return $pool->set($key, $value);
        } catch (PoolUnusable) {
            usleep(1_000);
        }
    }
}

$answers = [
    'get' => fn (SharedMemory $pool) => $pool->get('k', 'default'),
    'getMany' => fn (SharedMemory $pool) => $pool->getMany(['k']),
    'fetch' => fn (SharedMemory $pool) => $pool->fetch(['k']),
    'has' => fn (SharedMemory $pool) => $pool->has('k'),
    'keys' => fn (SharedMemory $pool) => $pool->keys(),
    'set' => fn (SharedMemory $pool) => $pool->set('k', [1], 60, ['t']),
    'set with a token' => fn (SharedMemory $pool, Token $token) => $pool->set('k', [1], 60, ['t'], $token),
    'set with a strange token' => fn (SharedMemory $pool) => $pool->set('k', [1], 60, ['t'], new Token('', 0)),
    'setMany' => fn (SharedMemory $pool, Token $token) => $pool->setMany(['k' => 1, 'l' => 2], null, [], $token),
    'add' => fn (SharedMemory $pool) => $pool->add('k', 1),
    'add with a token' => fn (SharedMemory $pool, Token $token) => $pool->add('k', 1, null, [], $token),
    'replace' => fn (SharedMemory $pool) => $pool->replace('k', 1),
    'fill' => fn (SharedMemory $pool, Token $token) => $pool->fill('k', 1, $token),
    'fill with a strange token' => fn (SharedMemory $pool) => $pool->fill('k', 1, new Token('', 0)),
    'touch' => fn (SharedMemory $pool) => $pool->touch('k', 60),
    'remember' => fn (SharedMemory $pool) => $pool->remember('k', fn () => 'computed', 60, ['t'], 1.0, 60),
    'lease' => fn (SharedMemory $pool) => $pool->lease('k'),
    'release' => fn (SharedMemory $pool) => $pool->release('k'),
    'awaitLease' => fn (SharedMemory $pool) => $pool->awaitLease('k', 0.01),
    'delete' => fn (SharedMemory $pool) => $pool->delete('k'),
    'deleteMany' => fn (SharedMemory $pool) => $pool->deleteMany(['k']),
    'invalidateTags' => fn (SharedMemory $pool) => $pool->invalidateTags(['t']),
    'clear' => fn (SharedMemory $pool) => $pool->clear(),
    'increment' => fn (SharedMemory $pool) => $pool->increment('k'),
    'token' => fn (SharedMemory $pool) => $pool->token('k'),
    'statistics' => fn (SharedMemory $pool) => $pool->statistics(),
    'set, and expired at once' => fn (SharedMemory $pool) => $pool->set('k', 1, 0),
    'remember, lost inside' => null,
    'lease, then lost' => null,
];
foreach ($answers as $what => $ask) {
    $pool = fresh_pool(4 << 20);
    $token = $pool->token('k');
    $pool->set('k', range(1, 100));
    $child = fork(function () use ($pool, $token, $what, $ask): void {
        $held = str_contains($what, 'lost') || $what === 'fill' ? $pool->get('k') : null;
        if ($what === 'remember, lost inside') {
            $ask = fn () => $pool->remember('new', fn () => lose($pool) ?? 'computed');
        } elseif ($what === 'lease, then lost') {
            $pool->lease('k');
            $ask = fn () => lose($pool) ?? $pool->release('k');
        } else {
            lose($pool);
        }
        $answer = null;
        $thrown = thrown(function () use ($pool, $token, $ask, &$answer): void {
            $answer = $ask($pool, $token);
        });
        echo "$what: ", $thrown === 'nothing was thrown' ? json_encode($answer) : preg_replace('/"phpt-.*/s', '…', $thrown), "\n";
        if ($held !== null) {
            same($held, range(1, 100), 'what was read before');
            rmdir(pool_path());
            same(set_when_reached($pool, 'again', 'here') && $pool->get('again') === 'here', true, 'it can be reached again');
        }
    });
    same(await($child), ['0'], "$what ends well");
    @rmdir(pool_path());
}

// What is computed because of a miss meanwhile may be untrue before it can be stored.
foreach (['get' => 'm', 'getMany' => ['m'], 'fetch' => ['m'], 'has' => 'm'] as $reader => $argument) {
    $pool = fresh_pool(4 << 20);
    lose($pool);
    same((bool) $pool->$reader($argument), false, 'a miss');
    rmdir(pool_path());
    same(run_php('Larder\SharedMemory::open(pool_name(), 4 << 20)->delete("m");'), '', 'deleted in the next pool');
    same(set_when_reached($pool, 'm', 'stale'), false, "a set after $reader is refused when the pool can be reached again");
    same($pool->get('m'), null, 'and leaves nothing');
    same($pool->set('m', 'fresh'), true, 'the next one is taken');
}
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
@rmdir(pool_path());
remove_pools();
?>
--EXPECT--
get: "default"
getMany: []
fetch: []
has: false
keys: []
set: Larder\Exception\PoolUnusable: The pool …
set with a token: Larder\Exception\PoolUnusable: The pool …
set with a strange token: Larder\Exception\PoolUnusable: The pool …
setMany: Larder\Exception\PoolUnusable: The pool …
add: false
add with a token: false
replace: Larder\Exception\PoolUnusable: The pool …
fill: false
fill with a strange token: false
touch: Larder\Exception\PoolUnusable: The pool …
remember: "computed"
lease: true
release: null
awaitLease: true
delete: Larder\Exception\PoolUnusable: The pool …
deleteMany: Larder\Exception\PoolUnusable: The pool …
invalidateTags: Larder\Exception\PoolUnusable: The pool …
clear: Larder\Exception\PoolUnusable: The pool …
increment: Larder\Exception\PoolUnusable: The pool …
token: Larder\Exception\PoolUnusable: The pool …
statistics: Larder\Exception\PoolUnusable: The pool …
set, and expired at once: Larder\Exception\PoolUnusable: The pool …
remember, lost inside: "computed"
lease, then lost: null
