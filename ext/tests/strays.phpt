--TEST--
What writes into a value writes into a page of its own, is named in the log once, and disturbs no other process
--EXTENSIONS--
posix
pcntl
ffi
sockets
--INI--
opcache.jit=off
ffi.enable=1
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

// A function of C does not know that a string is to be left alone.
const WRITER = 'FFI::cdef("void *memset(void *to, int byte, size_t length);")';
$c = FFI::cdef('void *memset(void *to, int byte, size_t length);');
$written = 'yyyy' . str_repeat('x', 9_996);
$c->memset($cached['long'], ord('y'), 4);
same($cached['long'], $written, 'the string that was written into');
same($pool->statistics()['private_pages'], 1, 'one page');
$said = logged();
check(substr_count($said, "\n") === 1 && preg_match('/^Larder: (FFI::)?memset\(\) wrote into a value/', $said) === 1, $said);
check(str_contains($said, 'unserialize(serialize($value))'), $said);

// A reader of it now reads what was stored; so does every other process.
same($pool->get('config'), $config, 'what was stored');
same(run_php('echo md5(Larder\SharedMemory::open(pool_name())->get("config")["long"]);'), md5($config['long']), 'what another process reads');
run_php('$pool = Larder\SharedMemory::open(pool_name()); $pool->increment("count", 1); $pool->set("new", [1, 2, 3]);');
same([$pool->get('count'), $pool->get('new')], [2, [1, 2, 3]], 'what others write there');

// A value that is read now is a copy, which can be written into without any of this.
$copies = $pool->statistics()['copies'];
$c->memset($pool->get('config')['long'], ord('z'), 4);
same([$pool->statistics()['private_pages'], $pool->statistics()['copies']], [1, $copies + 1], 'pages and copies');

// Once for each function and process, whatever it is called with.
foreach ([1, 2] as $n) {
    $pages = run_php('$pool = Larder\SharedMemory::open(pool_name()); ini_set("error_log", ' . var_export($log, true) . ');
        $c = ' . WRITER . ';
        for ($i = 0; $i < 3; $i++) {
            $pool->set("other$i", ["i" => $i, "x" => str_repeat("x", 5000)]);
        }
        // All are read first: what is read after the first write is a copy.
        $values = $pool->getMany(["other0", "other1", "other2"]);
        foreach ($values as $value) {
            $c->memset($value["x"], 121, 1);
        }
        echo $pool->statistics()["private_pages"];', ['ffi.enable' => '1']);
    check((int) $pages >= 2, "$pages pages that were written into");
    same(substr_count(logged(), "\n"), 1 + $n, "lines after process $n");
}

// A process names 64 functions, and says once that there are more.
run_php('$pool = Larder\SharedMemory::open(pool_name("many"), 16 << 20); ini_set("error_log", ' . var_export("$log.many", true) . ');
    $c = FFI::cdef("void *memchr(const char *in, int byte, size_t length);");
    for ($i = 0; $i < 70; $i++) {
        $pool->set("value$i", ["i" => $i, "x" => str_repeat("x", 5000)]);
    }
    for ($i = 0, $values = []; $i < 70; $i++) {
        $values[$i] = $pool->get("value$i");
    }
    for ($i = 0; $i < 70; $i++) {
        eval("function writer$i(FFI\\CData \$to): void { \$to[0] = chr(121); }");
        ("writer$i")($c->cast("char *", $c->memchr($values[$i]["x"], ord("x"), 1)));
    }', ['ffi.enable' => '1']);
$said = file("$log.many");
same([count($said), substr_count(implode($said), '() wrote into a value')], [65, 64], 'lines of a process in which many functions write');
check(str_contains($said[64], 'Further ones are only counted (private_pages in statistics())'), $said[64]);
unlink("$log.many");
Larder\SharedMemory::remove(pool_name('many'));

// A handler of the signal hears of everything else, and of nothing else.
$heard = run_php('
    $heard = [];
    pcntl_async_signals(true);
    pcntl_alarm(120); // else a write without an answer is tried for ever
    $pool = Larder\SharedMemory::open(pool_name());
    // Before the handler is there: a read would take the signal back.
    $long = $pool->get("config")["long"];
    pcntl_signal(SIGSEGV, function (int $signal) use (&$heard) { $heard[] = $signal; });
    ' . WRITER . '->memset($long, 121, 4);
    echo substr($long, 0, 5), count($heard);
    posix_kill(posix_getpid(), SIGSEGV);
    echo " heard ", count($heard);', ['error_log' => '/dev/null', 'ffi.enable' => '1']);
same($heard, 'yyyyx0 heard 1', 'a handler of the signal');

// A child has what its parent had written, and is a request of its own.
[$status] = await(fork(function () use ($pool, $config, $cached, $written): void {
    same($cached['long'], $written, 'what was written before the fork');
    same($pool->get('config'), $config, 'what was stored');
}));
same($status, '0', 'the child');

// In PHP 8.2 this function turns the strings of its array into ints, where they are.
same(run_php('$pool = Larder\SharedMemory::open(pool_name());
    $timeout = $pool->get("config")["timeout"];
    $socket = socket_create(AF_INET, SOCK_DGRAM, 0);
    socket_set_option($socket, SOL_SOCKET, SO_RCVTIMEO, $timeout);
    echo socket_get_option($socket, SOL_SOCKET, SO_RCVTIMEO)["sec"];', ['error_log' => $log]), '1', 'the option that was set');
check(PHP_VERSION_ID >= 80300 || str_contains(logged(), 'Larder: socket_set_option() wrote into a value'), logged());
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
