<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/**
 * A control group with little memory, in which this process can go on. The pages of files that it reads must fit, too.
 *
 * It needs the rights of root and a kernel that lets a group be made here.
 */
final class MemoryLimit
{
    private const ROOT = '/sys/fs/cgroup';

    private function __construct(private readonly string $group, private readonly string $before) {}

    public function __destruct()
    {
        @file_put_contents("{$this->before}/cgroup.procs", (string) getmypid());
        @rmdir($this->group);
    }

    /** @return self|string why it cannot be had, as a sentence that says what to do */
    public static function of(int $bytes): self|string
    {
        foreach ([[self::ROOT . '/memory', 'memory.limit_in_bytes'], [self::ROOT, 'memory.max']] as [$before, $limit]) {
            $group = "{$before}/larder-bench-" . bin2hex(random_bytes(6));
            if (!is_writable($before) || !@mkdir($group)) {
                continue;
            }
            if (@file_put_contents("{$group}/{$limit}", (string) $bytes) !== false && @file_put_contents("{$group}/cgroup.procs", (string) getmypid()) !== false) {
                return new self($group, $before);
            }
            @rmdir($group);
        }

        return 'a control group with a memory limit cannot be made here: run as root on a machine that lets control groups be made';
    }
}
