--TEST--
The settings: larder.size with suffixes, larder.zero_copy, larder.protect_unpinned, and what is no such thing
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$code = 'Larder\SharedMemory::remove(pool_name());
    try {
        $pool = Larder\SharedMemory::open(pool_name());
        $pool->set("k", range(1, 100));
        $s = $pool->statistics();
        echo $s["size"], " ", $s["mode"], " ", $pool->get("k") === range(1, 100) ? "works" : "broken", " ", $pool->statistics()["copies"];
    } catch (Throwable $e) {
        echo get_class($e), ": ", $e->getMessage();
    }';
foreach (['0', '', '4M', '4m', '5000000', '8192K', '0x800000', '16M', ' 8M ', '3M', '1', '-1', '-8M', 'large', '8MB', '8 M', '2000G', '1e9', '99999999999999999999'] as $size) {
    echo "larder.size=$size: ", run_php($code, ['larder.size' => $size]), "\n";
}
foreach (['auto', 'on', 'off', '1', '0', '', 'On', 'OFF', 'no', 'yes', 'true', 'perhaps', 'autos'] as $mode) {
    echo "larder.zero_copy=$mode: ", run_php($code, ['larder.zero_copy' => $mode, 'larder.size' => '4M']), "\n";
}
foreach (['0', '1', 'on', 'off'] as $protect) {
    echo "larder.protect_unpinned=$protect: ", run_php($code, ['larder.protect_unpinned' => $protect, 'larder.size' => '4M']), "\n";
}
// An argument is stronger than a setting, and a pool that is there than both.
echo run_php('echo Larder\SharedMemory::open(pool_name("-b"), 8 << 20)->statistics()["size"];', ['larder.size' => '4M']), "\n";
echo run_php('echo Larder\SharedMemory::open(pool_name("-b"))->statistics()["size"];'), "\n";
echo run_php('echo Larder\SharedMemory::open(pool_name("-b"))->statistics()["size"];', ['larder.size' => '4M', 'error_log' => '/dev/null']), "\n";
// phpinfo() tells the settings and the pools, and makes none.
$info = run_php('Larder\SharedMemory::open(pool_name("-c")); Larder\SharedMemory::remove(pool_name("-c")); phpinfo(INFO_MODULES);', ['larder.size' => '8M']);
check(str_contains($info, pool_path('-c')) && str_contains($info, 'Pool => removed'), $info);
same(file_exists(pool_path('-c')), false, 'made by phpinfo()');
$info = run_php('$pool = Larder\SharedMemory::open(pool_name("-b")); $pool->set("k", 1); $pool->get("k"); $pool->get("k"); $pool->get("x"); phpinfo(INFO_MODULES);', ['larder.size' => '8M']);
foreach (['Larder => enabled', 'larder.size => 8M => 8M', pool_path('-b'), 'Pool => 8388608 bytes, zero-copy, evicts', 'Items => 1', 'Hits => 2', 'Misses => 1', 'Stores => 1', 'Refused, full => 0', 'Processes => 1'] as $line) {
    check(str_contains($info, $line), $line);
}
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-b', '-c');
?>
--EXPECTF--
larder.size=0: %d zero-copy works 0
larder.size=: %d zero-copy works 0
larder.size=4M: 4194304 zero-copy works 0
larder.size=4m: 4194304 zero-copy works 0
larder.size=5000000: 5001216 zero-copy works 0
larder.size=8192K: 8388608 zero-copy works 0
larder.size=0x800000: 8388608 zero-copy works 0
larder.size=16M: 16777216 zero-copy works 0
larder.size= 8M : 8388608 zero-copy works 0
larder.size=3M: Larder\Exception\PoolUnusable: The ini setting larder.size must be between 4M (4194304) and 1024G; set it to 0 for an automatic choice.
larder.size=1: Larder\Exception\PoolUnusable: The ini setting larder.size must be between 4M (4194304) and 1024G; set it to 0 for an automatic choice.
larder.size=-1: Larder\Exception\PoolUnusable: The ini setting larder.size is "-1"; set it to a number of bytes such as 256M, or 0.
larder.size=-8M: Larder\Exception\PoolUnusable: The ini setting larder.size is "-8M"; set it to a number of bytes such as 256M, or 0.
larder.size=large: Larder\Exception\PoolUnusable: The ini setting larder.size is "large"; set it to a number of bytes such as 256M, or 0.
larder.size=8MB: Larder\Exception\PoolUnusable: The ini setting larder.size is "8MB"; set it to a number of bytes such as 256M, or 0.
larder.size=8 M: 8388608 zero-copy works 0
larder.size=2000G: Larder\Exception\PoolUnusable: The ini setting larder.size must be between 4M (4194304) and 1024G; set it to 0 for an automatic choice.
larder.size=1e9: Larder\Exception\PoolUnusable: The ini setting larder.size is "1e9"; set it to a number of bytes such as 256M, or 0.
larder.size=99999999999999999999: Larder\Exception\PoolUnusable: The ini setting larder.size is "99999999999999999999"; set it to a number of bytes such as 256M, or 0.
larder.zero_copy=auto: 4194304 zero-copy works 0
larder.zero_copy=on: 4194304 zero-copy works 0
larder.zero_copy=off: 4194304 copy works 1
larder.zero_copy=1: 4194304 zero-copy works 0
larder.zero_copy=0: 4194304 copy works 1
larder.zero_copy=: 4194304 copy works 1
larder.zero_copy=On: 4194304 zero-copy works 0
larder.zero_copy=OFF: 4194304 copy works 1
larder.zero_copy=no: 4194304 copy works 1
larder.zero_copy=yes: 4194304 zero-copy works 0
larder.zero_copy=true: 4194304 zero-copy works 0
larder.zero_copy=perhaps: Larder\Exception\PoolUnusable: The ini setting larder.zero_copy is "perhaps"; set it to auto, on or off.
larder.zero_copy=autos: Larder\Exception\PoolUnusable: The ini setting larder.zero_copy is "autos"; set it to auto, on or off.
larder.protect_unpinned=0: 4194304 zero-copy works 0
larder.protect_unpinned=1: 4194304 zero-copy works 0
larder.protect_unpinned=on: 4194304 zero-copy works 0
larder.protect_unpinned=off: 4194304 zero-copy works 0
8388608
8388608
8388608
