--TEST--
PHP's functions see ordinary values: copied
--EXTENSIONS--
posix
--INI--
memory_limit=512M
opcache.blacklist_filename={PWD}/interpreted.txt
larder.zero_copy=off
--FILE--
<?php
require __DIR__ . '/differential.inc';

differential('copy', 1500);
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-elsewhere');
?>
--EXPECT--
copy: done
