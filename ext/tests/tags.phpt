--TEST--
Tags: what carries one dies with it, in every process, whatever is stored at the same time
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$pool = fresh_pool();
$values = ['string' => 'x', 'int' => 7, 'array' => range(1, 5), 'object' => (object) ['a' => [1]], 'null' => null, 'long' => str_repeat('l', 100000)];
foreach ($values as $key => $value) {
    check($pool->set($key, $value, null, ["of-$key", 'all', 7]), "set $key");
    check($pool->set("$key-free", $value), "set $key without tags");
}
foreach ($values as $key => $value) {
    check($pool->get($key) == $value && $pool->get($key) == $value, "get $key");
    $pool->invalidateTags(['something else', 'of-', '8']);
    check($pool->get($key) == $value, "$key lives on");
    $pool->invalidateTags(["of-$key"]);
    same($pool->get($key, 'gone'), 'gone', "$key is dead");
    same($pool->has($key), false, "$key is not there");
    same($pool->delete($key), false, "$key was not there");
    check($pool->get("$key-free") == $value, "$key-free lives");
}
foreach (['set', 'add', 'replace'] as $method) {
    $pool->set('k', 'old');
    if ($method === 'add') {
        $pool->delete('k');
    }
    check($pool->$method('k', [1], 60, ['all']), $method);
    $pool->invalidateTags([]);
    same($pool->getMany(['k']), ['k' => [1]], "$method stored it");
    $pool->invalidateTags(['none', 'all']);
    same($pool->getMany(['k']), [], "$method kept the tag");
}
same($pool->setMany(['a' => 1, 'b' => [2]], null, ['batch']), [], 'setMany');
$pool->invalidateTags(['batch']);
same($pool->getMany(['a', 'b']), [], 'setMany kept the tag');
check($pool->set('7', 'seven', null, [7]) && $pool->get('7') === 'seven', 'an int is a name');
$pool->invalidateTags(['7']);
same($pool->get('7'), null, 'its decimal string');
check($pool->set('binary', 1, null, ["\0\xff"]), 'a binary name');
$pool->invalidateTags(["\0\xff"]);
same($pool->has('binary'), false, 'is one');
check($pool->set('many', range(1, 100), null, range(1, 4096)), '4,096 tags');
same($pool->get('many'), range(1, 100), 'are kept');
$pool->invalidateTags([4096]);
same($pool->get('many'), null, 'and the last one kills');
$pool->increment('counter');
$pool->clear();

echo "-- bad input\n";
echo thrown(fn () => $pool->set('k', 1, null, [''])), "\n";
echo thrown(fn () => $pool->set('k', 1, null, [str_repeat('x', 65536)])), "\n";
echo thrown(fn () => $pool->set('k', 1, null, [[]])), "\n";
echo thrown(fn () => $pool->set('k', 1, null, range(1, 4097))), "\n";
echo thrown(fn () => $pool->setMany(['k' => 1], null, [1.5])), "\n";
echo thrown(fn () => $pool->invalidateTags(['fine', null])), "\n";
echo thrown(fn () => $pool->invalidateTags('all')), "\n";
same($pool->keys(), [], 'nothing was stored');

echo "-- several processes\n";
/* Each value says when its tag was last invalidated before it was made; nothing older may be seen after an invalidation. */
$children = [];
for ($child = 0; $child < 4; $child++) {
    if (($children[] = pcntl_fork()) === 0) {
        mt_srand($child);
        for ($i = 0; $i < 4000; $i++) {
            $tag = mt_rand(0, 3);
            $floor = $pool->get("floor-$tag", 0);
            if (mt_rand(0, 9) === 0) {
                $next = $pool->increment("made-$tag");
                $pool->invalidateTags(["tag-$tag"]);
                $pool->set("invalidated-$child-$tag", $next);
            } elseif (mt_rand(0, 1) === 0) {
                $began = $pool->token("item-$tag");
                $pool->fill("item-$tag", ['made' => $pool->increment("made-$tag", 0)], $began, null, ["tag-$tag"]);
            } else {
                $least = max([0, ...$pool->getMany(array_map(fn (int $c): string => "invalidated-$c-$tag", range(0, 3)))]);
                $item = $pool->get("item-$tag");
                if ($item !== null && $item['made'] < $least) {
                    echo "stale: made at {$item['made']}, invalidated at $least\n";
                    exit(1);
                }
            }
        }
        exit(0);
    }
}
foreach ($children as $child) {
    pcntl_waitpid($child, $status);
    same($status, 0, 'a child ended well');
}
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- bad input
ValueError: Larder\SharedMemory::set(): Argument #4 ($tags) must not contain a tag of 0 bytes; a tag has 1 to 65535 bytes
ValueError: Larder\SharedMemory::set(): Argument #4 ($tags) must not contain a tag of 65536 bytes; a tag has 1 to 65535 bytes
TypeError: Larder\SharedMemory::set(): Argument #4 ($tags) must be a list of strings or ints, array given in it
ValueError: Larder\SharedMemory::set(): Argument #4 ($tags) must not contain more than 4096 tags, 4097 given
TypeError: Larder\SharedMemory::setMany(): Argument #3 ($tags) must be a list of strings or ints, float given in it
TypeError: Larder\SharedMemory::invalidateTags(): Argument #1 ($tags) must be a list of strings or ints, null given in it
TypeError: Larder\SharedMemory::invalidateTags(): Argument #1 ($tags) must be of type array, string given
-- several processes
