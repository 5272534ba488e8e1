--TEST--
PHP's functions see ordinary values: read in place
--EXTENSIONS--
posix
--INI--
memory_limit=512M
opcache.blacklist_filename={PWD}/interpreted.txt
--FILE--
<?php
require __DIR__ . '/differential.inc';

differential('zero-copy', 3000);
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-elsewhere');
?>
--EXPECT--
zero-copy: done
