<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\SharedMemory;

/** Processes read arrays of a pool and hold them, as workers of a queue do, while another stores everything anew. How much is left? */
final class Daemons implements Task
{
    public function run(Fields $arguments): array
    {
        $name = 'bench-' . bin2hex(random_bytes(6));
        $keys = $arguments->int('keys');
        $pool = SharedMemory::open($name, $arguments->int('megabytes') << 20);
        $processes = [];
        // Both kinds of pools are to see the same values and keys.
        mt_srand($arguments->int('seed'));
        try {
            for ($key = 0; $key < $keys; $key++) {
                $pool->set("k{$key}", range(1, mt_rand(100, 500)));
            }
            for ($number = 0; $number < $arguments->int('processes'); $number++) {
                $processes[] = $this->hold($pool, $number, $keys, $arguments->int('reads'));
            }
            $stores = $arguments->int('stores');
            $stored = 0;
            for ($store = 0; $store < $stores; $store++) {
                $stored += (int) $pool->set('k' . mt_rand(0, $keys - 1), range(1, mt_rand(100, 500)));
            }
            $left = 0;
            for ($key = 0; $key < $keys; $key++) {
                $left += (int) $pool->has("k{$key}");
            }

            return ['left' => $left, 'stored' => $stored / $stores];
        } finally {
            foreach ($processes as $process) {
                posix_kill($process, SIGKILL);
                pcntl_waitpid($process, $status);
            }
            SharedMemory::remove($name);
        }
    }

    /** @return int the process, which has read by now and holds what it read until it is killed */
    private function hold(SharedMemory $pool, int $seed, int $keys, int $reads): int
    {
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $process = $pair === false ? -1 : pcntl_fork();
        if ($pair === false || $process === -1) {
            throw new \RuntimeException('Another process could not be forked: too many may be running.');
        }
        if ($process !== 0) {
            fclose($pair[1]);
            fread($pair[0], 1);

            return $process;
        }
        fclose($pair[0]);
        mt_srand($seed);
        $held = [];
        for ($read = 0; $read < $reads; $read++) {
            $held[] = $pool->get('k' . mt_rand(0, $keys - 1));
        }
        fwrite($pair[1], '.');
        // Ends with its parent, should that be killed before it can kill this one.
        for ($parent = posix_getppid(); $parent === posix_getppid() && count($held) > 0; sleep(1));
        posix_kill((int) getmypid(), SIGKILL);
        exit;
    }
}
