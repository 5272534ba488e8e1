--TEST--
What a signal's handler throws is not lost in a store or a read: handlers run before or after it
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
$may_throw = false;
$thrown = $caught = 0;
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () use (&$may_throw, &$thrown): void {
    if ($may_throw) {
        $may_throw = false;
        $thrown++;
        throw new DomainException('a signal');
    }
});
$parent = posix_getpid();
$sender = fork(function () use ($parent): void {
    while (posix_getppid() === $parent) {
        posix_kill($parent, SIGUSR1);
        usleep(1_000);
    }
});
while ($thrown < 200) {
    try {
        $may_throw = true;
        check($pool->set('dates', $value), 'stored');
        check(array_slice($pool->get('dates'), 0, 100) == $dates, 'read');
        $may_throw = false;
    } catch (DomainException) {
        $caught++;
    }
}
posix_kill($sender, SIGKILL);
same(await($sender), ['signal 9'], 'the sender');
same($caught, $thrown, 'what handlers threw arrived');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
