--TEST--
A process that becomes another user's goes on with the pools of that user
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

const USER = 64993;
const OTHER = 64994;

function become(int $user): void
{
    check(posix_seteuid(0) && ($user === 0 || posix_seteuid($user)), "user $user");
}

/** Runs it as that user in a process that has opened nothing before. */
function elsewhere(int $user, string $code): string
{
    become(0);
    $said = run_php("posix_setuid($user); \$pool = Larder\\SharedMemory::open('another-user'); $code");
    become($user);

    return $said;
}

take_turns();
$file = pool_file('another-user');

become(USER);
$pool = SharedMemory::open('another-user', 4 << 20);
$pool->set('whose', [USER]);

// At once, as in a web server that changes its user for each request.
become(OTHER);
$again = SharedMemory::open('another-user', 4 << 20);
same($again->get('whose'), null, 'what the one user has cached is nothing to the other');
same($again->statistics()['path'], '/dev/shm/larder-' . OTHER . "/$file", 'the path');
same($again->set('whose', [OTHER]), true, 'stored');
same(elsewhere(OTHER, 'echo json_encode($pool->get("whose"));'), '[' . OTHER . ']', 'other processes of the user find it');
become(USER);
same(SharedMemory::open('another-user')->get('whose'), [USER], 'and the one user finds what was there');

// With the handle that it has, as in a program that is started by root and gives that up.
$kept = $pool->get('whose');
become(OTHER);
usleep(150_000); // it looks for the pool every 100 ms, and reads that come quickly look at the clock at every 64th
for ($i = 0; $i < 64; $i++) {
    $pool->has('nothing');
}
same($pool->get('whose'), [OTHER], 'the handle follows');
same($kept, [USER], 'what was read stays as it was');
elsewhere(OTHER, '$pool->delete("whose");');
same($pool->get('whose'), null, 'what other processes of the user delete is gone');

// What is kept on disk is the user's, too.
$pool->set('whose', 'kept');
same(elsewhere(OTHER, 'echo Larder\SharedMemory::save("another-user")["items"];'), '1', 'saved');
same($pool->get('whose'), 'kept', 'and loaded by a process that was another user\'s');

echo "done\n";
?>
--CLEAN--
<?php
foreach ([64993, 64994] as $user) {
    foreach (['/dev/shm', ini_get('larder.snapshot')] as $place) {
        array_map(unlink(...), glob("$place/larder-$user/*"));
        array_map(rmdir(...), glob("$place/larder-$user*", GLOB_ONLYDIR));
    }
}
?>
--EXPECT--
done
