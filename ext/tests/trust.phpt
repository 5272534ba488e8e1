--TEST--
Nothing is trusted from a foreign user: modes, owners, links and strange files
--EXTENSIONS--
posix
pcntl
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip needs root, to act as two other users');
}
?>
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

take_turns();
const USER = 64991;
const OTHER = 64992;
$directory = '/dev/shm/larder-' . USER;
$file = "$directory/" . pool_file('trust');
$elsewhere = sys_get_temp_dir() . '/larder-trust-' . bin2hex(random_bytes(4));

function clear_away(string $path): void
{
    if (is_dir($path) && !is_link($path)) {
        foreach (array_diff(scandir($path), ['.', '..']) as $name) {
            clear_away("$path/$name");
        }
        rmdir($path);
    } elseif (is_link($path) || file_exists($path)) {
        unlink($path);
    }
}

/** Runs it as that user in a process of its own, with a wide umask. */
function as_user(int $user, callable $code): void
{
    $ends = await(fork(function () use ($user, $code) {
        umask(0);
        posix_setgid($user);
        posix_setuid($user);
        $code();
    }));
    $ends === ['0'] or print "ended with $ends[0]\n";
}

function attempt(string $what): void
{
    global $directory, $log;
    $prepare = $GLOBALS['prepare'];
    clear_away($directory);
    array_map(clear_away(...), glob("$directory.*"));
    $prepare();
    echo "$what: ";
    as_user(USER, function () use ($directory) {
        try {
            $pool = SharedMemory::open('trust', 4 << 20);
            $pool->set('k', 'v');
            $file = $pool->statistics()['path'];
            $elsewhere = dirname($file) === $directory ? '' : ' in ' . basename(dirname($file));
            echo $pool->get('k') === 'v' ? 'works' : 'broken', ' ', decoct(fileperms(dirname($file)) & 07777), ' ', decoct(fileperms($file) & 07777), "$elsewhere\n";
            // The next process finds it, and says nothing any more.
            await(fork(fn () => same(SharedMemory::open('trust')->get('k'), 'v', 'what another process finds')));
        } catch (Throwable $e) {
            echo get_class($e), ': ', $e->getMessage(), "\n";
        }
    });
    echo preg_replace('/^\[[^]]*\] /m', '  log: ', file_get_contents($log));
    file_put_contents($log, '');
    echo '  remove: ';
    as_user(USER, fn () => print thrown(fn () => SharedMemory::remove('trust')) . "\n");
    clearstatcache();
    clear_away($directory);
}

function owned(string $path, int $user, int $mode): void
{
    chown($path, $user);
    chgrp($path, $user);
    chmod($path, $mode);
}

$log = tempnam(sys_get_temp_dir(), 'larder-log');
chmod($log, 0666);
ini_set('error_log', $log);
umask(0);
clear_away($directory);
mkdir($elsewhere);
owned($elsewhere, USER, 0700);
$victim = "$elsewhere/victim";

foreach ([
    'nothing there' => function () {},
    'a directory that is open to others' => function () use ($directory, $file) {
        mkdir($directory);
        owned($directory, USER, 0777);
    },
    'a directory of another user' => function () use ($directory, $file) {
        mkdir($directory);
        owned($directory, OTHER, 0777);
    },
    'a directory of root' => function () use ($directory, $file) {
        mkdir($directory);
        owned($directory, 0, 0777);
    },
    'a link to a directory of the user' => fn () => symlink($elsewhere, $directory),
    'a link to nothing' => fn () => symlink("$elsewhere/nothing", $directory),
    'a file' => function () use ($directory, $file) {
        touch($directory);
        owned($directory, USER, 0600);
    },
    'a link as pool' => function () use ($directory, $file, $victim) {
        mkdir($directory);
        owned($directory, USER, 0700);
        file_put_contents($victim, 'precious');
        owned($victim, USER, 0600);
        symlink($victim, $file);
    },
    'a link to nothing as pool' => function () use ($directory, $file, $elsewhere) {
        mkdir($directory);
        owned($directory, USER, 0700);
        symlink("$elsewhere/nothing", $file);
    },
    'a directory as pool' => function () use ($directory, $file) {
        mkdir($directory);
        owned($directory, USER, 0700);
        mkdir($file);
        owned($file, USER, 0700);
    },
    'a FIFO as pool' => function () use ($directory, $file) {
        mkdir($directory);
        owned($directory, USER, 0700);
        posix_mkfifo($file, 0600);
        owned($file, USER, 0600);
    },
    'a pool of another user' => function () use ($directory, $file) {
        mkdir($directory);
        owned($directory, USER, 0700);
        as_user(OTHER, fn () => SharedMemory::open('trust', 4 << 20));
        rename('/dev/shm/larder-' . OTHER . '/' . pool_file('trust'), $file);
        clear_away('/dev/shm/larder-' . OTHER);
    },
    'a pool that others can write' => function () use ($directory, $file) {
        as_user(USER, fn () => SharedMemory::open('trust', 4 << 20)->set('k', 'planted'));
        chmod($file, 0666);
    },
    'a pool that others can read' => function () use ($directory, $file) {
        as_user(USER, fn () => SharedMemory::open('trust', 4 << 20)->set('k', 'planted'));
        chmod($file, 0640);
    },
] as $what => $prepare) {
    attempt($what);
}
same(file_get_contents($victim), 'precious', 'nothing was written through a link');
same(file_exists("$elsewhere/nothing"), false, 'nothing was made through a link');

// A directory that another user takes over while a pool is open: no new process follows.
$before = null;
as_user(USER, function () use ($directory, $file) {
    $pool = SharedMemory::open('trust', 4 << 20);
    $pool->set('k', 'mine');
    echo 'open: ', $pool->get('k'), "\n";
});
owned($directory, OTHER, 0777);
as_user(USER, fn () => print 'taken over: ' . var_export(SharedMemory::open('trust', 4 << 20)->get('k'), true) . "\n");
clear_away($directory);
as_user(USER, fn () => print 'in: ' . basename(dirname(SharedMemory::open('trust', 4 << 20)->statistics()['path'])) . "\n");
array_map(clear_away(...), glob("$directory.*"));
unlink($log);

// Each user has pools of its own.
as_user(USER, fn () => SharedMemory::open('trust', 4 << 20)->set('k', 'secret'));
as_user(OTHER, fn () => print 'another user: ' . var_export(SharedMemory::open('trust', 4 << 20)->get('k'), true) . "\n");
as_user(OTHER, fn () => print 'reads the file: ' . var_export(@file_get_contents($file), true) . "\n");
clear_away($directory);
clear_away('/dev/shm/larder-' . OTHER);
clear_away($elsewhere);
?>
--EXPECTF--
nothing there: works 700 600
  remove: nothing was thrown
a directory that is open to others: works 700 600
  remove: nothing was thrown
a directory of another user: works 700 600 in larder-64991.%s
  log: Larder: The directory /dev/shm/larder-64991 belongs to user 64992, not to user 64991 who runs this process; have its owner remove it. Until then the pools of user 64991 lie in /dev/shm/larder-64991.%s.
  remove: nothing was thrown
a directory of root: works 700 600 in larder-64991.%s
  log: Larder: The directory /dev/shm/larder-64991 belongs to user 0, not to user 64991 who runs this process; have its owner remove it. Until then the pools of user 64991 lie in /dev/shm/larder-64991.%s.
  remove: nothing was thrown
a link to a directory of the user: works 700 600 in larder-64991.%s
  log: Larder: /dev/shm/larder-64991 is not a directory but a link or file that does not belong there; remove it. Until then the pools of user 64991 lie in /dev/shm/larder-64991.%s.
  remove: nothing was thrown
a link to nothing: works 700 600 in larder-64991.%s
  log: Larder: /dev/shm/larder-64991 is not a directory but a link or file that does not belong there; remove it. Until then the pools of user 64991 lie in /dev/shm/larder-64991.%s.
  remove: nothing was thrown
a file: works 700 600 in larder-64991.%s
  log: Larder: /dev/shm/larder-64991 is not a directory but a link or file that does not belong there; remove it. Until then the pools of user 64991 lie in /dev/shm/larder-64991.%s.
  remove: nothing was thrown
a link as pool: Larder\Exception\PoolUnusable: /dev/shm/larder-64991/trust@%d is a symbolic link that does not belong there; remove it.
  remove: nothing was thrown
a link to nothing as pool: Larder\Exception\PoolUnusable: /dev/shm/larder-64991/trust@%d is a symbolic link that does not belong there; remove it.
  remove: nothing was thrown
a directory as pool: Larder\Exception\PoolUnusable: The pool file /dev/shm/larder-64991/trust@%d cannot be opened (Is a directory); check who owns it.
  remove: Larder\Exception\PoolUnusable: The pool file /dev/shm/larder-64991/trust@%d cannot be removed (Is a directory).
a FIFO as pool: Larder\Exception\PoolUnusable: /dev/shm/larder-64991/trust@%d is not a file that only user 64991 can read and write; remove it.
  remove: nothing was thrown
a pool of another user: Larder\Exception\PoolUnusable: The pool file /dev/shm/larder-64991/trust@%d cannot be opened (Permission denied); check who owns it.
  remove: nothing was thrown
a pool that others can write: Larder\Exception\PoolUnusable: /dev/shm/larder-64991/trust@%d is not a file that only user 64991 can read and write; remove it.
  remove: nothing was thrown
a pool that others can read: Larder\Exception\PoolUnusable: /dev/shm/larder-64991/trust@%d is not a file that only user 64991 can read and write; remove it.
  remove: nothing was thrown
open: mine
taken over: NULL
in: larder-64991.%s
another user: NULL
reads the file: false
