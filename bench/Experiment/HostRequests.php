<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;

/**
 * One host: requests that read, and now and then write, one after the other for a while. It begins and ends together with the others, by
 * files in a folder that all see.
 *
 * Each key is written by one host only, so that its versions have an order. A host notes when each write had finished, and of each read
 * when its request began. The clock is the machine's, which all hosts share. When all have ended, a read is stale if a write
 * with a later version had finished before its request began.
 */
final class HostRequests implements Task
{
    public const READS = 20;
    public const KEYS = 2_000;
    private const BYTES = 1_000;
    /** Keys that are read at once before the clock runs. */
    private const TOGETHER = 100;
    /** Seconds for which the slowest host is waited for. */
    public const TIMEOUT = 60;

    /** @var array<string, array{finished: list<int>}> when the writes of a key had finished, in ns, the first version first */
    private array $written = [];

    public function run(Fields $arguments): array
    {
        try {
            return $this->found($arguments);
        } catch (\Throwable $problem) {
            touch("{$arguments->string('folder')}/failed-{$arguments->int('host')}");

            throw $problem;
        }
    }

    /** @return array<string, int|float> */
    private function found(Fields $arguments): array
    {
        [$folder, $host, $hosts] = [$arguments->string('folder'), $arguments->int('host'), $arguments->int('hosts')];
        mt_srand($arguments->int('seed'));
        $cache = HostCache::of($arguments->string('subject'), $arguments->string('address'), $arguments->int('port'));
        $names = array_map(static fn(int $key): string => "k{$key}", range(0, self::KEYS - 1));
        if ($host === 0) {
            // Without the delay, which is needed for measuring only.
            $filling = HostCache::of($arguments->string('subject'), $arguments->string('address'), $arguments->int('server port'));
            foreach ($names as $name) {
                ($filling->write)($name, self::value(0));
            }
        }
        self::meet($folder, 'filled', $host, $hosts);
        $isWrite = self::dice($arguments->int('writes in 1,000'));
        $keys = self::zipf();
        // Every near store has met every key before the clock runs.
        ($cache->begin)();
        foreach (array_chunk($names, self::TOGETHER) as $some) {
            ($cache->readAll)($some);
        }
        self::meet($folder, 'warm', $host, $hosts);
        [$requests, $seconds, $log] = $this->work($cache, $host, $hosts, $keys, $isWrite, $arguments->int('milliseconds') / 1e3);
        file_put_contents("{$folder}/writes-{$host}", json_encode(['of keys' => (object) $this->written], JSON_THROW_ON_ERROR));
        self::meet($folder, 'done', $host, $hosts);

        return ['requests' => $requests, 'seconds' => $seconds, 'reads' => intdiv(count($log), 3), 'stale' => self::stale($log, $folder, $hosts)];
    }

    /**
     * @param list<int> $keys
     * @param list<bool> $isWrite
     * @return array{int, float, list<int>} requests, seconds, and of each read when its request began, the key and the version
     */
    private function work(HostCache $cache, int $host, int $hosts, array $keys, array $isWrite, float $seconds): array
    {
        [$begin, $read, $write] = [$cache->begin, $cache->read, $cache->write];
        $log = $version = [];
        $requests = $at = 0;
        $many = count($keys);
        $began = (int) hrtime(true);
        $end = $began + (int) (1e9 * $seconds);
        while (($now = (int) hrtime(true)) < $end) {
            $begin();
            for ($step = 0; $step < self::READS; $step++) {
                $key = $keys[$at];
                if ($isWrite[$at]) {
                    $key = $key - $key % $hosts + $host;
                    $key = $key < self::KEYS ? $key : $host;
                    $version[$key] = ($version[$key] ?? 0) + 1;
                    $write("k{$key}", self::value($version[$key]));
                    $this->written["k{$key}"]['finished'][] = (int) hrtime(true);
                } else {
                    $value = $read("k{$key}");
                    $log[] = $now;
                    $log[] = $key;
                    $log[] = is_array($value) && is_int($value['version'] ?? null) ? $value['version'] : throw new \UnexpectedValueException("The key k{$key} is not there.");
                }
                $at = ($at + 1) % $many;
            }
            $requests++;
        }

        return [$requests, (hrtime(true) - $began) / 1e9, $log];
    }

    /** @param list<int> $log */
    private static function stale(array $log, string $folder, int $hosts): int
    {
        $finished = [];
        for ($host = 0; $host < $hosts; $host++) {
            foreach (Fields::ofJson((string) file_get_contents("{$folder}/writes-{$host}"), 'writes')->entries('of keys') as $key => $its) {
                $finished[(int) substr($key, 1)] = $its->numbers('finished');
            }
        }
        $stale = 0;
        for ($i = 0; $i < count($log); $i += 3) {
            [$began, $key, $version] = [$log[$i], $log[$i + 1], $log[$i + 2]];
            // Versions count from one: the one after this must not have finished before the request began.
            $stale += isset($finished[$key][$version]) && $finished[$key][$version] < $began ? 1 : 0;
        }

        return $stale;
    }

    /** @return array<string, mixed> */
    private static function value(int $version): array
    {
        return ['version' => $version, 'body' => str_repeat('x', self::BYTES)];
    }

    /** @return list<int> keys in the order in which they are read, the popular ones more often */
    private static function zipf(): array
    {
        $sums = [];
        $sum = 0.0;
        for ($rank = 1; $rank <= self::KEYS; $rank++) {
            $sums[] = $sum += 1 / $rank;
        }
        $keys = [];
        for ($i = 0; $i < 50_000; $i++) {
            $at = mt_rand() / mt_getrandmax() * $sum;
            [$low, $high] = [0, self::KEYS - 1];
            while ($low < $high) {
                $middle = intdiv($low + $high, 2);
                [$low, $high] = $sums[$middle] < $at ? [$middle + 1, $high] : [$low, $middle];
            }
            $keys[] = $low;
        }

        return $keys;
    }

    /** @return list<bool> */
    private static function dice(int $writes): array
    {
        return array_map(static fn(): bool => mt_rand(1, 1_000) <= $writes, array_fill(0, 50_000, null));
    }

    /** Waits until all hosts are here. */
    private static function meet(string $folder, string $where, int $host, int $hosts): void
    {
        touch("{$folder}/{$where}-{$host}");
        $until = microtime(true) + self::TIMEOUT;
        for ($other = 0; $other < $hosts; $other++) {
            while (!file_exists("{$folder}/{$where}-{$other}")) {
                if (microtime(true) > $until || file_exists("{$folder}/failed-{$other}")) {
                    throw new \RuntimeException("Host {$other} is not {$where}: it has failed, or this machine has too much else to do.");
                }
                usleep(500);
                clearstatcache();
            }
        }
    }
}
