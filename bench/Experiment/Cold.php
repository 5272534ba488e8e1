<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;

/** What caches on a disk cost when the kernel has not kept them in memory. */
final class Cold implements Experiment
{
    private const STORES = [
        'files' => ['file-disk', 'file_get_contents on disk'],
        'sqlite' => ['sqlite', 'SQLite, as it is unless told otherwise'],
        'sqlite-mapped' => ['sqlite', 'SQLite, its file mapped'],
        'shared-memory' => ['shared-memory', 'Larder shared memory'],
    ];
    /** Reads of a block, before each of which the kernel forgets what it has. */
    private const READS = 25;
    private const STATES = ['warm' => 'has all of it', 'cold' => 'has nothing of it', 'small' => 'has room for half of it'];

    public function name(): string
    {
        return 'cold';
    }

    public function title(): string
    {
        return 'When the disk must be read';
    }

    public function recreates(): string
    {
        return 'Sources A and D claim that files are fast because the kernel\'s page cache keeps them in memory, and measure them '
            . 'only so. Ours reads pages of 30 KB in random order when the cache has all of them, when it was told to forget them '
            . '(posix_fadvise; directory entries stay known) before each ' . self::READS . ' reads, and, where a control group can be made, with memory for half of '
            . 'them. How slow a disk is, is this machine\'s own; a virtual disk may have a cache of its host behind it.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(300, 1_024, $profile === Profile::Quick ? 15 : 130);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $items = $isQuick ? 500 : 1_500;
        $runs = $isQuick ? 2 : 3;
        $outcome->parameters = ['pages of 30 KB' => $items, 'runs' => $runs];
        $forget = LoadGenerator::directory() . '/forget';
        $outcome->titles = array_map(static fn(array $store): string => $store[1], self::STORES);
        $progress->begin($this->title(), $runs * count(self::STORES));
        for ($run = 0; $run < $runs; $run++) {
            foreach (Shuffled::of(self::STORES) as $store => [$subject, $title]) {
                $progress->advance($title);
                if (isset($outcome->leftOut[$store]) || !$outcome->includes($laboratory, $store, $subject)) {
                    continue;
                }
                try {
                    $found = $laboratory->task($title, ColdReads::class, ['store' => $store, 'items' => $items, 'reads' => self::READS, 'milliseconds' => 2_000, 'forget' => $forget]);
                } catch (WorkerFailed $failure) {
                    $outcome->fail($store, $failure);
                    continue;
                }
                foreach (self::STATES as $state => $words) {
                    foreach ($found->has($state) ? $found->rows($state) : [] as $block => [$time, $client, $server]) {
                        $outcome->measurement(['the page cache' => $words], 'time of a read', 'ns per read', Direction::LowerIsBetter, $store, columns: CpuMeter::COLUMNS)
                            ->add($run, $block, $time, $client, $server);
                    }
                }
                if ($found->has('why') && $run === 0 && $store === 'files') {
                    $outcome->notes[] = 'Small memory was not measured: ' . $found->string('why') . '.';
                }
            }
        }
        $progress->end();
    }
}
