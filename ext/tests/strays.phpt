--TEST--
What writes into a value writes into a page of its own, is named in the log once, and disturbs nobody
--EXTENSIONS--
posix
pcntl
sockets
--INI--
opcache.jit=off
--FILE--
<?php
require __DIR__ . '/pool.inc';

$log = tempnam(sys_get_temp_dir(), 'larder-log');
ini_set('error_log', $log);
function logged(): string
{
    global $log;

    return preg_replace('/^\[[^]]*\] /m', '', file_get_contents($log));
}
$pool = fresh_pool();
$config = ['timeout' => ['sec' => '1', 'usec' => '0'], 'long' => str_repeat('x', 10_000), 'list' => ['a', 'b']];
$pool->set('config', $config);
$pool->increment('count', 1);
$cached = $pool->get('config');
same($pool->statistics()['private_pages'], 0, 'before');

// The function turns the strings of its array into ints, where they are.
$socket = socket_create(AF_INET, SOCK_DGRAM, 0);
same(socket_set_option($socket, SOL_SOCKET, SO_RCVTIMEO, $cached['timeout']), true, 'the option');
same(socket_get_option($socket, SOL_SOCKET, SO_RCVTIMEO), ['sec' => 1, 'usec' => 0], 'the option that was set');
same($pool->statistics()['private_pages'], 1, 'one page');
$said = logged();
check(substr_count($said, "\n") === 1 && str_starts_with($said, 'Larder: socket_set_option() wrote into a value'), $said);
check(str_contains($said, 'unserialize(serialize($value))'), $said);

// Who reads it now reads what was stored; so does every other process.
same($pool->get('config'), $config, 'what was stored');
same(run_php('echo json_encode(Larder\SharedMemory::open(pool_name())->get("config")["timeout"]);'), '{"sec":"1","usec":"0"}', 'what another process reads');
run_php('$pool = Larder\SharedMemory::open(pool_name()); $pool->increment("count", 1); $pool->set("new", [1, 2, 3]);');
same([$pool->get('count'), $pool->get('new')], [2, [1, 2, 3]], 'what others write there');

// A value that is read now is a copy, which can be written into without any of this.
$copies = $pool->statistics()['copies'];
same(socket_set_option($socket, SOL_SOCKET, SO_RCVTIMEO, $pool->get('config')['timeout']), true, 'the option, from a copy');
same([$pool->statistics()['private_pages'], $pool->statistics()['copies']], [1, $copies + 1], 'pages and copies');

// Once for each function and process, whatever it is called with.
foreach ([1, 2] as $n) {
    run_php('$pool = Larder\SharedMemory::open(pool_name()); ini_set("error_log", ' . var_export($log, true) . ');
        $socket = socket_create(AF_INET, SOCK_DGRAM, 0);
        for ($i = 0; $i < 3; $i++) {
            $pool->set("other$i", ["sec" => "1", "usec" => "$i", "x" => str_repeat("x", 5000)]);
            socket_set_option($socket, SOL_SOCKET, SO_SNDTIMEO, $pool->get("other$i"));
        }');
    same(substr_count(logged(), "\n"), 1 + $n, "lines after process $n");
}

// Who handles the signal hears of everything else, and of nothing else.
$heard = run_php('
    $heard = [];
    pcntl_async_signals(true);
    $pool = Larder\SharedMemory::open(pool_name());
    pcntl_signal(SIGSEGV, function (int $signal) use (&$heard) { $heard[] = $signal; });
    $timeout = $pool->get("config")["timeout"];
    echo socket_set_option(socket_create(AF_INET, SOCK_DGRAM, 0), SOL_SOCKET, SO_RCVTIMEO, $timeout) ? "set" : "not set", count($heard);
    posix_kill(posix_getpid(), SIGSEGV);
    echo " heard ", count($heard);', ['error_log' => '/dev/null']);
same($heard, 'set0 heard 1', 'a handler of the signal');

// A child has what its parent had written, and is a request of its own.
[$status] = await(fork(function () use ($pool, $config, $cached): void {
    same($cached['timeout'], ['sec' => 1, 'usec' => 0], 'what was written before the fork');
    same($pool->get('config'), $config, 'what was stored');
}));
same($status, '0', 'the child');
unlink($log);
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
done
