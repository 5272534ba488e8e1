--TEST--
Code that runs inside a read or a store may use the pool, change it, empty it, and fail: where values are copied
--EXTENSIONS--
posix
--INI--
larder.zero_copy=off
--FILE--
<?php
$mode = 'copy';
require __DIR__ . '/nested.inc';
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-other');
?>
--EXPECT--
read others, then churn: works
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
get: a default
getMany: before, after
fetch: before, after
set: Larder\Exception\Unstorable: The value of the key "before" was not stored: $value[0] could not be serialised: while storing
setMany: Larder\Exception\Unstorable: The value of the key "k" was not stored: $value[0] could not be serialised: while storing
add: Larder\Exception\Unstorable: The value of the key "new" was not stored: $value[0] could not be serialised: while storing
-- an autoloader
[{"a":[1,2]},[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99,100]] Late
[{"c":{"a":[1,2]}}] Late2
-- exit inside
bye
bye
bye
bye
