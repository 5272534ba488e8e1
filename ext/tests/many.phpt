--TEST--
getMany(), fetch(), setMany() and deleteMany() do for many keys what the others do for one
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();

echo "-- setMany\n";
same($pool->setMany(['a' => 1, 'b' => [2, [3]], 7 => 'seven', -3 => null, 'o' => (object) ['p' => 1]]), [], 'all stored');
same($pool->setMany([]), [], 'nothing to store');
same([$pool->get('a'), $pool->get('b'), $pool->get('7'), $pool->get('-3', 'd'), $pool->get('o')->p], [1, [2, [3]], 'seven', null, 1], 'each');
same($pool->setMany(values: ['t' => 1], ttl: 100), [], 'named arguments');
check(abs($pool->fetch(['t'])['t'][1] - time() - 100) <= 2, 'a TTL for all');
same($pool->setMany(['t' => 2]), [], 'no TTL');
same($pool->fetch(['t'])['t'][1], null, 'no TTL replaces one');
$value = 'v';
$values = ['r' => &$value];
$pool->setMany($values);
$value = 'changed';
same($pool->get('r'), 'v', 'a reference is stored as its value');

// A value that contains itself is written twice, and so is what a variable in it refers to that is another of the many.
$text = str_repeat('text', mt_rand(2, 2));
$list = [[mt_rand(1, 1)], 'of a list'];
$itself = ['text' => &$text, 'list' => &$list];
$itself['self'] = &$itself;
$word = str_repeat('two hold this', mt_rand(1, 1));
$itself['last'] = [$word];
same($pool->setMany(['itself' => $itself, 'text' => &$text, 'list' => &$list]), [], 'variables of one another');
$read = $pool->get('itself');
same([$read['text'], $read['list'], $read['last']], ['texttext', [[1], 'of a list'], ['two hold this']], 'as it was');
$within = $read['self']['self'];
same([$within['text'], $within['list'], $within['last']], ['texttext', [[1], 'of a list'], ['two hold this']], 'and within itself');
same([$pool->get('text'), $pool->get('list')], ['texttext', [[1], 'of a list']], 'and the others');
unset($itself['self'], $read['self']['self'], $read, $within);

same($pool->setMany(['a' => 5, 'gone' => 6], 0), [], 'TTL 0');
same([$pool->has('a'), $pool->has('gone')], [false, false], 'TTL 0 deletes');
$pool->set('a', 1);

echo "-- getMany\n";
same($pool->getMany(['a', 'missing', 'b', 7, '-3']), ['a' => 1, 'b' => [2, [3]], 7 => 'seven', -3 => null], 'found only, in the order asked');
same($pool->getMany([]), [], 'nothing asked');
same($pool->getMany(['missing']), [], 'nothing found');
$mark = "\0mark";
$pool->setMany(['m' => [$mark, 1], 'n' => [1 => $mark], 'p' => [1, $mark], 'q' => [$mark . 's'], 's' => $mark, 'k' => ['key' => 1, 0 => &$mark], 'e' => []]);
same(array_keys($pool->getMany(['m', 'n', 'missing', 'p', 'q', 's', 'k', 'e'], $mark)), ['n', 'p', 'q', 's', 'e'], 'all but those that begin with the mark');
same(count($pool->getMany(['m', 'n', 'k'], null)), 3, 'no mark');
same($pool->getMany(['a', 'b'], ''), ['a' => 1, 'b' => [2, [3]]], 'an empty mark');
same($pool->deleteMany(['m', 'n', 'p', 'q', 's', 'k', 'e']), 7, 'away with them');
same($pool->getMany(['a', 'a', 'a']), ['a' => 1], 'the same key again');
same($pool->getMany(['x' => 'a', 'y' => 'r']), ['a' => 1, 'r' => 'v'], 'the keys of the list do not matter');
$key = 'a';
$keys = [&$key, 'r'];
same($pool->getMany($keys), ['a' => 1, 'r' => 'v'], 'keys that are references');
same($pool->getMany([PHP_INT_MIN]), [], 'the least int');
$many = [];
for ($i = 0; $i < 5000; $i++) {
    $many["key $i"] = [$i, "value $i"];
}
same($pool->setMany($many), [], 'five thousand');
same($pool->getMany(array_keys($many)), $many, 'five thousand at once');

echo "-- fetch\n";
$pool->set('forever', 'f');
$pool->set('limited', ['l'], 60);
$fetched = $pool->fetch(['forever', 'missing', 'limited', 7]);
same(array_keys($fetched), ['forever', 'limited', 7], 'found only');
same(array_map('count', $fetched), ['forever' => 3, 'limited' => 3, 7 => 3], 'three things each');
same([$fetched['forever'][0], $fetched['forever'][1], $fetched['limited'][0], $fetched[7][0]], ['f', null, ['l'], 'seven'], 'values');
check(abs($fetched['limited'][1] - time() - 60) <= 2, 'an expiry as Unix time');
check($fetched['limited'][2] > $fetched['forever'][2] && $fetched['forever'][2] > $fetched[7][2], 'versions grow with every write');
check($fetched['limited'][2] <= $pool->token('x')->version, 'no version is in the future');
same($pool->fetch([]), [], 'nothing asked');

echo "-- deleteMany\n";
same($pool->deleteMany(['forever', 'missing', 7, 'forever']), 2, 'how many existed');
same($pool->getMany(['forever', 7, 'limited']), ['limited' => ['l']], 'they are gone');
same($pool->deleteMany([]), 0, 'nothing to delete');
same($pool->deleteMany(array_keys($many)), 5000, 'five thousand');
same($pool->deleteMany(keys: ['missing']), 0, 'a named argument');

echo "-- wrong keys\n";
foreach ([1.5, true, null, [], new stdClass(), STDOUT] as $wrong) {
    foreach (['getMany', 'fetch', 'deleteMany'] as $method) {
        echo "$method: ", thrown(fn () => $pool->$method(['a', $wrong])), "\n";
    }
}
foreach (['getMany', 'fetch', 'deleteMany'] as $method) {
    echo "$method: ", thrown(fn () => $pool->$method(['a', ''])), "\n";
    echo "$method: ", thrown(fn () => $pool->$method([str_repeat('k', 65536)])), "\n";
    echo "$method: ", thrown(fn () => $pool->$method('a')), "\n";
    echo "$method: ", thrown(fn () => $pool->$method(new ArrayIterator(['a']))), "\n";
    echo "$method: ", thrown(fn () => $pool->$method()), "\n";
}
echo 'setMany: ', thrown(fn () => $pool->setMany(['ok' => 1, '' => 2, 'not' => 3])), "\n";
same($pool->getMany(['ok', 'not']), [], 'nothing is stored beside a wrong key');
echo 'setMany: ', thrown(fn () => $pool->setMany([str_repeat('k', 65536) => 2])), "\n";
echo 'setMany: ', thrown(fn () => $pool->setMany(['one' => 1, 'two' => ['in' => fn () => 1], 'three' => 3])), "\n";
same($pool->getMany(['one', 'two', 'three']), [], 'nothing is stored if something cannot be');
echo 'setMany: ', thrown(fn () => $pool->setMany('a')), "\n";
echo 'setMany: ', thrown(fn () => $pool->setMany(['a' => 1], 'soon')), "\n";
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- setMany
-- getMany
-- fetch
-- deleteMany
-- wrong keys
getMany: TypeError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must be a list of strings or ints, float given in it
fetch: TypeError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must be a list of strings or ints, float given in it
deleteMany: TypeError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must be a list of strings or ints, float given in it
getMany: TypeError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must be a list of strings or ints, bool given in it
fetch: TypeError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must be a list of strings or ints, bool given in it
deleteMany: TypeError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must be a list of strings or ints, bool given in it
getMany: TypeError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must be a list of strings or ints, null given in it
fetch: TypeError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must be a list of strings or ints, null given in it
deleteMany: TypeError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must be a list of strings or ints, null given in it
getMany: TypeError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must be a list of strings or ints, array given in it
fetch: TypeError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must be a list of strings or ints, array given in it
deleteMany: TypeError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must be a list of strings or ints, array given in it
getMany: TypeError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must be a list of strings or ints, stdClass given in it
fetch: TypeError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must be a list of strings or ints, stdClass given in it
deleteMany: TypeError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must be a list of strings or ints, stdClass given in it
getMany: TypeError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must be a list of strings or ints, resource given in it
fetch: TypeError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must be a list of strings or ints, resource given in it
deleteMany: TypeError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must be a list of strings or ints, resource given in it
getMany: ValueError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must not contain an empty key; a key has 1 to 65535 bytes
getMany: ValueError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
getMany: TypeError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must be of type array, string given
getMany: TypeError: Larder\SharedMemory::getMany(): Argument #1 ($keys) must be of type array, ArrayIterator given
getMany: ArgumentCountError: Larder\SharedMemory::getMany() expects at least 1 argument, 0 given
fetch: ValueError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must not contain an empty key; a key has 1 to 65535 bytes
fetch: ValueError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
fetch: TypeError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must be of type array, string given
fetch: TypeError: Larder\SharedMemory::fetch(): Argument #1 ($keys) must be of type array, ArrayIterator given
fetch: ArgumentCountError: Larder\SharedMemory::fetch() expects exactly 1 argument, 0 given
deleteMany: ValueError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must not contain an empty key; a key has 1 to 65535 bytes
deleteMany: ValueError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
deleteMany: TypeError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must be of type array, string given
deleteMany: TypeError: Larder\SharedMemory::deleteMany(): Argument #1 ($keys) must be of type array, ArrayIterator given
deleteMany: ArgumentCountError: Larder\SharedMemory::deleteMany() expects exactly 1 argument, 0 given
setMany: ValueError: Larder\SharedMemory::setMany(): Argument #1 ($values) must not contain an empty key; a key has 1 to 65535 bytes
setMany: ValueError: Larder\SharedMemory::setMany(): Argument #1 ($values) must not contain a key of 65536 bytes; a key has 1 to 65535 bytes
setMany: Larder\Exception\Unstorable: The value of the key "two" was not stored: $value['in'] is a Closure, which cannot be stored; store what it returns, or the name of a function.
setMany: TypeError: Larder\SharedMemory::setMany(): Argument #1 ($values) must be of type array, string given
setMany: TypeError: Larder\SharedMemory::setMany(): Argument #2 ($ttl) must be of type ?int, string given
done
