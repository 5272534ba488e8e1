--TEST--
PHP's functions see ordinary values: what is not pinned cannot be read
--EXTENSIONS--
posix
--INI--
memory_limit=512M
opcache.blacklist_filename={PWD}/interpreted.txt
larder.protect_unpinned=1
--FILE--
<?php
require __DIR__ . '/differential.inc';

differential('zero-copy', 1500);
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-elsewhere');
?>
--EXPECT--
zero-copy: done
