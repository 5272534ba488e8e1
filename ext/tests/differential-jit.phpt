--TEST--
PHP's functions see ordinary values: compiled by opcache's JIT
--EXTENSIONS--
posix
--INI--
memory_limit=512M
opcache.blacklist_filename={PWD}/interpreted.txt
opcache.enable=1
opcache.enable_cli=1
opcache.jit=tracing
opcache.jit_buffer_size=32M
opcache.jit_hot_loop=1
opcache.jit_hot_func=1
opcache.jit_hot_return=1
opcache.jit_hot_side_exit=1
--SKIPIF--
<?php
if (!function_exists('opcache_get_status')) {
    die('skip needs opcache');
}
?>
--FILE--
<?php
require __DIR__ . '/differential.inc';
check(opcache_get_status(false)['jit']['on'] === true, 'the JIT is on');
differential('zero-copy', 2000);
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-elsewhere');
?>
--EXPECT--
zero-copy: done
