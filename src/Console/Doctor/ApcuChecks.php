<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Console\Printed;

/** Checks APCu: its settings, and the memory of this process. Only within PHP-FPM that is PHP-FPM's memory. */
final class ApcuChecks
{
    /** Bytes, its default. */
    private const SMALL = 32 << 20;

    public function __construct(
        private readonly Machine $machine,
    ) {}

    /** @return list<Finding> */
    public function settings(): array
    {
        if (!\in_array('apcu', $this->machine->extensions, true)) {
            return [];
        }
        $found = [];
        if ($this->isOff('apc.enabled', '1')) {
            $found[] = Finding::problem('APCu', 'It is loaded, but switched off.', 'apc.enabled=1');
        }
        if ($this->machine->sapi === 'cli' && $this->isOff('apc.enable_cli', '0')) {
            $found[] = Finding::advice('APCu', 'It is switched off on the command line, which has an APCu of its own in any case.', 'apc.enable_cli=1, for tests only');
        }
        $size = $this->machine->ini['apc.shm_size'] ?? null;
        if ($size !== null && self::bytes($size) <= self::SMALL) {
            $found[] = Finding::advice('APCu', \sprintf('It has %s; when that is full, it drops everything it has.', Printed::bytes(self::bytes($size))), 'apc.shm_size=128M');
        }
        if (!$this->isOff('apc.use_request_time', '0')) {
            $found[] = Finding::advice('APCu', 'Its clock stands still while a request lasts, so that what expires meanwhile lives on.', 'apc.use_request_time=0');
        }

        return [...$found, ...$this->serializer()];
    }

    /**
     * @param array<mixed> $cache  what apcu_cache_info(true) says
     * @param array<mixed> $memory what apcu_sma_info() says, with its lists of free blocks
     *
     * @return list<Finding>
     */
    public static function memory(string $what, array $cache, array $memory): array
    {
        $found = [];
        $size = self::number($memory, 'num_seg') * self::number($memory, 'seg_size');
        $larger = 'apc.shm_size=' . max(128, 2 * intdiv($size, 1 << 20)) . 'M';
        $expunges = self::number($cache, 'expunges');
        if ($expunges > 0) {
            $found[] = Finding::advice($what, \sprintf('APCu was full and has dropped everything it had, %s.', $expunges === 1 ? 'once' : Printed::count($expunges) . ' times'), $larger);
        }
        [$free, $largest, $blocks] = self::free($memory);
        if ($free > $size / 8 && $largest < $free / 8) {
            $found[] = Finding::advice(
                $what,
                \sprintf('Its free memory, %s, is in %s pieces, the largest of %s: for a larger value it drops everything it has.', Printed::bytes($free), Printed::count($blocks), Printed::bytes($largest)),
                "{$larger}, and a restart of PHP-FPM",
            );
        }
        [$entries, $slots] = [self::number($cache, 'num_entries'), self::number($cache, 'num_slots')];
        if ($slots > 0 && $entries > 2 * $slots) {
            $found[] = Finding::advice($what, \sprintf('It has %s entries in %s slots, so that looking one up takes long.', Printed::count($entries), Printed::count($slots)), "apc.entries_hint={$entries}");
        }

        return $found;
    }

    /** @return list<Finding> */
    private function serializer(): array
    {
        return match ($this->machine->ini['apc.serializer'] ?? null) {
            'php' => [Finding::advice('APCu', 'Each read of an array unserialises it, which takes longer than copying it does.', 'apc.serializer=default (igbinary where it is mostly objects)')],
            'igbinary' => \in_array('igbinary', $this->machine->extensions, true)
                ? []
                : [Finding::advice('APCu', 'It is to use igbinary, which is not loaded.', 'extension=igbinary, or apc.serializer=default')],
            default => [],
        };
    }

    private function isOff(string $setting, string $default): bool
    {
        return \in_array(strtolower($this->machine->ini[$setting] ?? $default), ['0', '', 'off', 'no', 'false'], true);
    }

    /**
     * @param array<mixed> $memory
     *
     * @return array{int, int, int} free bytes, those of the largest block, and how many blocks there are
     */
    private static function free(array $memory): array
    {
        $free = $largest = $count = 0;
        foreach (\is_array($memory['block_lists'] ?? null) ? $memory['block_lists'] : [] as $blocks) {
            foreach (\is_array($blocks) ? $blocks : [] as $block) {
                $size = \is_array($block) ? self::number($block, 'size') : 0;
                $free += $size;
                $largest = max($largest, $size);
                $count++;
            }
        }

        return [$free, $largest, $count];
    }

    /** Of less than a million bytes APCu takes as many megabytes. */
    private static function bytes(string $setting): int
    {
        $bytes = (int) @ini_parse_quantity($setting);

        return $bytes < 1 << 20 ? $bytes << 20 : $bytes;
    }

    /** @param array<mixed> $about */
    private static function number(array $about, string $name): int
    {
        $value = $about[$name] ?? 0;

        return \is_int($value) || \is_float($value) ? (int) $value : 0;
    }
}
