--TEST--
No function or method of PHP or its extensions crashes on a value of a pool that it survives as PHP's own
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';
require __DIR__ . '/calls.inc';

$directory = sys_get_temp_dir() . '/' . pool_name() . '-' . bin2hex(random_bytes(4));
mkdir("$directory/empty", 0700, true);
fresh_pool(16 << 20)->set('values', values());

/**
 * A process that makes the calls from $from on. What it came to last, and how: it has "wrote" into a value, is "done" or "blocked",
 * has "crashed" or "ended" otherwise.
 *
 * @return array{int, string}
 */
function call_in_process(bool $cached, int $from, int $to): array
{
    global $directory;
    $code = 'require ' . var_export(__DIR__ . '/calls.inc', true) . ';
        chdir(' . var_export("$directory/empty", true) . ');
        $pool = Larder\SharedMemory::open(pool_name());
        $pages = $pool->statistics()["private_pages"];
        call_all(' . ($cached ? 'fn () => $pool->get("values"), fn () => $pool->statistics()["private_pages"] > $pages' : 'values(...), fn () => false')
        . ', ' . var_export("$directory/progress", true) . ", $from, $to);";
    file_put_contents("$directory/child.php", "<?php\nrequire " . var_export(__DIR__ . '/child.inc', true) . ";\n$code");
    file_put_contents("$directory/progress", "$from at");
    putenv('LARDER_TEST_OF=' . $_SERVER['SCRIPT_FILENAME']);
    $process = proc_open(
        'exec ' . shell_word(PHP_BINARY) . ' ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d memory_limit=512M -d display_errors=0 -d error_log=/dev/null -d sys_temp_dir='
            . shell_word("$directory/empty") . ' ' . shell_word("$directory/child.php"),
        [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']],
        $pipes,
    );
    for ($quiet = 0, $before = ''; ($status = proc_get_status($process))['running']; usleep(2000)) {
        // What blocks is passed by: that is no crash, and no promise depends on it.
        $at = file_get_contents("$directory/progress");
        $quiet = $at === $before ? $quiet + 1 : 0;
        $before = $at;
        if ($quiet > 10_000) {
            proc_terminate($process, SIGKILL);
            $blocked = true;
        }
    }
    [$last, $how] = explode(' ', file_get_contents("$directory/progress"));
    if ($how === 'at') {
        $how = match (true) {
            isset($blocked) => 'blocked',
            $status['signaled'] => 'crashed',
            default => 'ended',
        };
    }

    return [(int) $last, $how];
}

$names = callables();
$found = ['wrote' => [], 'blocked' => [], 'crashed' => [], 'ended' => [], 'crashes anyway' => []];
check(count($names) > (getenv('LARDER_CALLS_OF') ? 50 : 1500), 'there are functions');
for ($from = 0; $from < WAYS * count($names); $from = $last + 1) {
    [$last, $how] = call_in_process(true, $from, WAYS * count($names));
    if ($how === 'crashed' && call_in_process(false, $from, $last + 1)[1] === 'crashed') {
        $how = 'crashes anyway';
    }
    if ($how !== 'done') {
        $found[$how][$names[intdiv($last, WAYS)]] = true;
    }
}
exec('rm -r ' . shell_word($directory));
if (getenv('LARDER_CALLS_REPORT')) {
    $report = count($names) . ' functions and methods with ' . WAYS . " ways to call each\n";
    foreach ($found as $how => $those) {
        $report .= "$how: " . count($those) . ' ' . implode(' ', array_keys($those)) . "\n";
    }
    file_put_contents(getenv('LARDER_CALLS_REPORT'), $report);
}
same(array_keys($found['crashed']), [], 'crashed with a value of the pool, and not with one of PHP\'s own');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
done
