<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** The memory that processes really occupy, as the kernel counts it. */
final class Resident
{
    /**
     * @param list<int> $processIds
     * @param bool $sharedOnly only what is shared with other processes, such as APCu's memory
     * @return int bytes
     */
    public static function memory(array $processIds, bool $sharedOnly = false): int
    {
        $kibibytes = 0;
        foreach ($processIds as $process) {
            $status = (string) @file_get_contents("/proc/{$process}/status");
            $field = $sharedOnly ? 'RssShmem' : 'VmRSS';
            $kibibytes += preg_match("/^{$field}:\s*(\d+) kB$/m", $status, $match) === 1 ? (int) $match[1] : 0;
        }

        return $kibibytes << 10;
    }
}
