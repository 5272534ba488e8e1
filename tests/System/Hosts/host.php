<?php

declare(strict_types=1);

// A host of HostsTest: DSN, folder, name, workers, requests of each, seed, and whether its workers are killed now and then.

use Larder\Tests\System\Hosts\Host;

require __DIR__ . '/../../../vendor/autoload.php';

ini_set('error_log', '/dev/null');
[, $dsn, $folder, $name, $workers, $requests, $seed, $kills] = $argv + array_fill(0, 8, '');

/** @return int the process of a worker */
$start = static function (int $number) use ($dsn, $folder, $name, $requests, $seed): int {
    $process = pcntl_fork();
    if ($process === 0) {
        (new Host($dsn, $folder, $name))->work((int) $seed + $number, (int) $requests);
        // Not through exit: what would be run there belongs to the parent.
        posix_kill((int) getmypid(), \SIGKILL);
    }

    return $process;
};
$running = [];
for ($number = 0; $number < (int) $workers; $number++) {
    $running[$start($number)] = true;
}
mt_srand((int) $seed);
$host = new Host($dsn, $folder, $name);
$over = '';
while ($running !== []) {
    usleep(10_000);
    clearstatcache();
    if ($kills === 'kills' && !file_exists("{$folder}/done") && mt_rand(0, 9) === 0) {
        $victim = array_rand($running);
        posix_kill($victim, \SIGKILL);
        pcntl_waitpid($victim, $status);
        unset($running[$victim]);
        $running[$start($number++)] = true;
    }
    // "ROUND NANOSECONDS" of when the last trouble was over; this writes down how many milliseconds later it is well.
    $last = (string) @file_get_contents("{$folder}/over");
    if ($last !== $over && $host->isWell()) {
        file_put_contents("{$folder}/recovered", (hrtime(true) - (int) explode(' ', $last)[1]) / 1e6 . "\n", \FILE_APPEND);
        $over = $last;
    }
    foreach (array_keys($running) as $process) {
        if (pcntl_waitpid($process, $status, \WNOHANG) > 0) {
            unset($running[$process]);
        }
    }
}
for ($tries = 0; !$host->isWell(); $tries++) {
    if ($tries > 6_000) {
        echo "host {$name} is not well again";
        break;
    }
    usleep(10_000);
}
