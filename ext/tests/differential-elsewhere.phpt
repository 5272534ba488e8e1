--TEST--
PHP's functions see ordinary values: the pool's address is taken, so they are copied
--EXTENSIONS--
posix
--INI--
memory_limit=512M
opcache.blacklist_filename={PWD}/interpreted.txt
--FILE--
<?php
require __DIR__ . '/differential.inc';

differential('elsewhere', 1500);
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-elsewhere');
?>
--EXPECT--
elsewhere: done
