<?php
/**
 * One request of one thread of host.c, which sets these variables.
 *
 * @var string $name of the pools
 * @var int $number which thread it is, below PROCESSES
 * @var int $seed of this request
 */

require __DIR__ . '/share.inc';

if (!take_part($name, $number, $seed, 150)) {
    exit(1);
}

// Some end in the middle of a computation that others wait for.
$pool = pools($name)['values'];
if ($seed % 10 === 0) {
    $pool->remember('nobody computes this', fn () => exit(0));
} elseif ($seed % 10 === 1) {
    ini_set('display_errors', '0');
    ini_set('log_errors', '0');
    register_shutdown_function(fn () => exit(0)); // it is meant
    $pool->remember('nobody computes this', fn (): string => str_repeat('more than the limit of memory', 1 << 30));
}
