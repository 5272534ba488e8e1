--TEST--
A signal's handler runs before or after a store or a read, never in the middle of one that has no code of its own to run
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool(16 << 20);
// More zones than the extension knows at once: with each of them it asks PHP what a date there is like.
$dates = array_map(
    fn (string $zone) => new DateTimeImmutable('2001-02-03 12:00', new DateTimeZone($zone)),
    array_slice(DateTimeZone::listIdentifiers(), 0, 100),
);
$value = [...$dates, new DateInterval('P1D'), (object) ['part' => [1, 2, 3]]];
$inside = [];
$signals = 0;
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () use (&$inside, &$signals): void {
    $signals++;
    $caller = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS)[1] ?? [];
    // From PHP 8.4 on, a method that is over is still the caller.
    if (PHP_VERSION_ID < 80400 && ($caller['class'] ?? '') === Larder\SharedMemory::class) {
        $inside[$caller['function']] = true;
    }
});
$parent = posix_getpid();
$sender = fork(function () use ($parent): void {
    while (posix_getppid() === $parent) {
        posix_kill($parent, SIGUSR1);
        usleep(1_000);
    }
});
while ($signals < 200) {
    check($pool->set('dates', $value), 'stored');
    check(array_slice($pool->get('dates'), 0, 100) == $dates, 'read');
}
posix_kill($sender, SIGKILL);
same(await($sender), ['signal 9'], 'the sender');
same($inside, [], 'where handlers ran');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
