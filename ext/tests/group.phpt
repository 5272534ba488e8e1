--TEST--
The members of larder.group share one pool, whichever of them made it; other users do not get at it, and are told so
--EXTENSIONS--
posix
pcntl
--INI--
larder.group=64993
larder.snapshot=/tmp
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip needs root, to act as other users');
}
?>
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

take_turns();
const FPM = 64991;
const DEPLOY = 64992;
const STRANGER = 64994;
const GROUP = 64993;
const DIRECTORY = '/dev/shm/larder-g' . GROUP;
const SNAPSHOTS = '/tmp/larder-g' . GROUP;

function clear_away(): void
{
    foreach ([DIRECTORY, SNAPSHOTS] as $directory) {
        foreach (glob("$directory/{,.}*", GLOB_BRACE) as $path) {
            is_file($path) && unlink($path);
        }
        is_dir($directory) && rmdir($directory);
    }
}

/** Runs it as that user in a process of its own: DEPLOY has the group besides its own, FPM as its own. */
function as_user(int $user, callable $code): void
{
    $ends = await(fork(function () use ($user, $code) {
        posix_initgroups('nobody', $user === DEPLOY ? GROUP : $user);
        posix_setgid($user === FPM ? GROUP : $user);
        posix_setuid($user);
        same(posix_geteuid(), $user, 'the user');
        $code();
    }));
    same($ends, ['0'], 'how the process of that user ended');
}

function mode(string $path): string
{
    clearstatcache();

    return sprintf('%o %d', fileperms($path) & 07777, filegroup($path));
}

function opened(): SharedMemory
{
    return SharedMemory::open('shop', 4 << 20);
}

clear_away();
foreach ([0, 0077, 022] as $umask) {
    umask($umask);
    as_user(DEPLOY, function (): void {
        opened()->setMany(['list' => range(1, 500), 'deleted' => 'x', 'old' => 'y'], null, ['t']);
        opened()->increment('counter', 3);
    });
    same([mode(DIRECTORY), mode(DIRECTORY . '/' . pool_file('shop'))], ['2770 ' . GROUP, '660 ' . GROUP], 'whose it is');
    as_user(FPM, function (): void {
        same([opened()->get('list'), opened()->statistics()['mode']], [range(1, 500), 'zero-copy'], 'what the other stored');
        same([opened()->increment('counter'), opened()->delete('deleted')], [4, true], 'counted and deleted by the other');
        same(SharedMemory::names(), ['shop'], 'the names');
    });
    as_user(DEPLOY, function (): void {
        same([opened()->get('deleted'), opened()->get('counter')], [null, 4], 'what became of it');
        opened()->set('new', 1);
        opened()->delete('old');
        same(SharedMemory::save('shop')['items'], 3, 'saved');
    });
    same(mode(SNAPSHOTS . '/shop.snapshot'), '660 ' . GROUP, 'whose the snapshot is');
    as_user(FPM, function (): void {
        same([opened()->get('list'), opened()->get('new'), opened()->get('old')], [range(1, 500), 1, null], 'what the other saved');
        same(fileowner(DIRECTORY . '/' . pool_file('shop')), FPM, 'the next pool belongs to the user that opened it first');
        opened()->invalidateTags(['t']);
    });
    as_user(DEPLOY, function (): void {
        same([opened()->get('list'), opened()->get('new')], [null, 1], 'invalidated by the other');
        same(SharedMemory::remove('shop'), true, 'removed, though the other made it');
    });
    as_user(STRANGER, function (): void {
        foreach (['open' => fn () => opened(), 'remove' => fn () => SharedMemory::remove('shop'), 'names' => fn () => SharedMemory::names()] as $what => $try) {
            same(str_contains(thrown($try), 'user 64994 is none; add it to the group'), true, "$what by a stranger: " . thrown($try));
        }
    });
    clear_away();
}
as_user(STRANGER, fn () => same(str_contains(thrown(fn () => opened()), 'cannot be given to group'), true, 'made by a stranger: ' . thrown(fn () => opened())));
same(file_exists(DIRECTORY), false, 'nothing is left of that');
as_user(STRANGER, fn () => mkdir(DIRECTORY, 0777));
ini_set('error_log', '/dev/null');
as_user(FPM, fn () => same([opened()->set('k', 1), str_starts_with(opened()->statistics()['path'], DIRECTORY . '.')], [true, true], 'beside what a stranger has put there'));
as_user(DEPLOY, fn () => same(opened()->get('k'), 1, 'beside what a stranger has put there, by another member'));
[$beside] = glob(DIRECTORY . '.*');
same(mode($beside), '2770 ' . GROUP, 'whose that is');
array_map(unlink(...), glob("$beside/*"));
rmdir($beside);
clear_away();
as_user(FPM, fn () => opened()->set('k', 1));
chmod(DIRECTORY . '/' . pool_file('shop'), 0666);
as_user(DEPLOY, fn () => same(str_contains(thrown(fn () => opened()), 'not a file that only the members of group'), true, 'open to all: ' . thrown(fn () => opened())));
clear_away();
// 4294967296 is 0 in 32 bits, and 4294967295 is no group to the system.
foreach (['no-such-group-here', '4294967296', '4294967295', '-1', '99999999999999999999', '12x'] as $wrong) {
    echo run_php('try { Larder\SharedMemory::open("x", 4 << 20); } catch (Larder\Exception\PoolUnusable $e) { echo $e->getMessage(); }', ['larder.group' => $wrong]), "\n";
}
same(run_php('Larder\SharedMemory::open("x", 4 << 20); echo fileperms("/dev/shm/larder-g0/' . pool_file('x') . '") & 07777; Larder\SharedMemory::remove("x"); rmdir("/dev/shm/larder-g0");', ['larder.group' => 'root']), (string) 0660, 'by its name');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
take_turns();
foreach (['/dev/shm/larder-g64993', '/tmp/larder-g64993'] as $directory) {
    foreach (glob("$directory/{,.}*", GLOB_BRACE) as $path) {
        is_file($path) && unlink($path);
    }
    is_dir($directory) && rmdir($directory);
}
?>
--EXPECT--
The ini setting larder.group is "no-such-group-here", and there is no such group; make it, or set it to the name or number of another.
The ini setting larder.group is "4294967296", and there is no such group; make it, or set it to the name or number of another.
The ini setting larder.group is "4294967295", and there is no such group; make it, or set it to the name or number of another.
The ini setting larder.group is "-1", and there is no such group; make it, or set it to the name or number of another.
The ini setting larder.group is "99999999999999999999", and there is no such group; make it, or set it to the name or number of another.
The ini setting larder.group is "12x", and there is no such group; make it, or set it to the name or number of another.
