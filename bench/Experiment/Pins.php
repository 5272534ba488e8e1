<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\FileSystem;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\WorkerFailed;

/** What readers that use values in place cost those that store: beside the same with every value copied. */
final class Pins implements Experiment
{
    public const FOUND = 'reads that found their value';
    public const STORED = 'stores that were not refused';
    public const LEFT = 'keys that are left';
    public const UNCOPIED = 'reads that copied nothing';
    public const IN_PLACE = 'shared-memory';
    public const COPIED = 'shared-memory-copied';
    /** php-fpm's, in a site; a quick run has the first only. */
    public const WORKERS = [28, 64, 200];
    public const DAEMONS = 20;
    private const KEYS = 11_000;
    private const READS = 600;
    private const LONE_READS = 2_000;
    private const PAGES = 20;

    public function name(): string
    {
        return 'pins';
    }

    public function title(): string
    {
        return 'Values in use while others store';
    }

    public function recreates(): string
    {
        return 'Nothing published: other caches copy every value, so that readers keep nothing from being evicted. Ours are used in place, and '
            . 'what a request uses stays until it ends. A site of php-fpm reads and stores arrays that fill most of a pool, and '
            . 'workers that never end hold what they read while all is stored anew, each beside the same with every value copied (larder.zero_copy=off). '
            . 'Pages of a site also read beside a process that read while it was alone with the pool, and holds that.';
    }

    public function needs(Profile $profile): Needs
    {
        return $profile === Profile::Quick ? new Needs(160, 768, 22) : new Needs(160, 3_072, 90);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $workers = $isQuick ? [self::WORKERS[0]] : self::WORKERS;
        $starts = 2;
        $turns = 2;
        $seconds = $isQuick ? 1.0 : 2.0;
        $stores = 150_000;
        $outcome->parameters = [
            'pool' => PinnedSite::MEGABYTES . ' MiB', 'arrays of the site' => PinnedSite::KEYS, 'ints in an array' => '100 to 500', 'reads of a request' => PinnedSite::READS,
            'milliseconds it holds them' => intdiv(PinnedSite::HELD_US, 1_000), 'stores of a request' => PinnedSite::WRITES, 'starts of the two sites' => $starts, 'turns in each' => $turns,
            'seconds of a turn' => (string) $seconds, 'workers that never end' => self::DAEMONS, 'reads of each' => self::READS, 'arrays they read' => self::KEYS, 'stores beside them' => $stores,
            'reads of a process while it is alone' => self::LONE_READS, 'reads of a page beside it' => PinnedSite::FEW_READS, 'pages' => self::PAGES,
        ];
        $outcome->titles = [self::IN_PLACE => 'values in place', self::COPIED => 'every value copied'];
        if (!$outcome->includes($laboratory, self::IN_PLACE, self::IN_PLACE)) {
            return;
        }
        $generator = LoadGenerator::build($laboratory->placement->client);
        $progress->begin($this->title(), $starts * (count($workers) + 2));
        for ($start = 0; $start < $starts; $start++) {
            foreach ($workers as $count) {
                $laboratory->goOn();
                $progress->advance("{$count} workers of php-fpm");
                try {
                    $this->site($laboratory, $outcome, $generator, $count, $start, $turns, $seconds);
                } catch (ServerFailed $failure) {
                    $outcome->fail(self::IN_PLACE, $failure);
                    break 2;
                }
            }
            $progress->advance('a process that was alone');
            try {
                $this->besideOneThatWasAlone($laboratory, $outcome, $start);
            } catch (ServerFailed $failure) {
                $outcome->fail(self::IN_PLACE, $failure);
                break;
            }
            $progress->advance('workers that never end');
            for ($turn = 0; $turn < $turns; $turn++) {
                foreach (Shuffled::of([self::IN_PLACE => 'auto', self::COPIED => 'off']) as $subject => $setting) {
                    $laboratory->goOn();
                    $this->daemons($laboratory, $outcome, $subject, $setting, $start, $turn, $stores);
                }
            }
        }
        $progress->end();
    }

    /** @throws ServerFailed */
    private function site(Laboratory $laboratory, Outcome $outcome, LoadGenerator $generator, int $workers, int $start, int $turns, float $seconds): void
    {
        $sites = [];
        foreach ([self::IN_PLACE, self::COPIED] as $subject) {
            $sites[$subject] = PinnedSite::start($laboratory, $subject === self::IN_PLACE, $workers, TemporaryDirectory::make(FileSystem::onDisk()));
            // The first requests of each worker are not like the others.
            $sites[$subject]->load($generator, $workers, $seconds / 2);
        }
        $case = ['php-fpm workers' => (string) $workers];
        for ($turn = 0; $turn < $turns; $turn++) {
            foreach (Shuffled::of($sites) as $subject => $site) {
                $laboratory->goOn();
                $found = $site->load($generator, $workers, $seconds);
                foreach ([self::FOUND => $found['found'], self::STORED => $found['stored']] as $metric => $share) {
                    $outcome->measurement($case, $metric, 'share', Direction::HigherIsBetter, $subject, columns: ['requests'])
                        ->add($start, $turn, $share, $found['requests']);
                }
            }
        }
    }

    /**
     * A process has read while no other had the pool open, and goes on. Then come the pages of a site, one after the other.
     *
     * @throws ServerFailed
     */
    private function besideOneThatWasAlone(Laboratory $laboratory, Outcome $outcome, int $start): void
    {
        $pool = 'bench-' . bin2hex(random_bytes(6));
        $alone = Companion::start(LoneReader::class, [
            'pool' => $pool, 'megabytes' => PinnedSite::MEGABYTES, 'keys' => PinnedSite::KEYS, 'reads' => self::LONE_READS, 'seed' => 1 + $start,
        ], ['larder.zero_copy' => 'auto', 'memory_limit' => '256M']);
        // It answers when it has read.
        $alone->ask([]);
        $site = PinnedSite::of($pool, $laboratory, true, 1, TemporaryDirectory::make(FileSystem::onDisk()));
        // The first request of a worker is not like the others.
        $site->inPlace();
        for ($page = 0; $page < self::PAGES; $page++) {
            $laboratory->goOn();
            $outcome->measurement(['beside' => 'a process that read while it was alone'], self::UNCOPIED, 'share', Direction::HigherIsBetter, self::IN_PLACE)
                ->add($start, $page, $site->inPlace());
        }
    }

    private function daemons(Laboratory $laboratory, Outcome $outcome, string $subject, string $setting, int $start, int $turn, int $stores): void
    {
        try {
            $found = $laboratory->task($outcome->titles[$subject], Daemons::class, [
                'megabytes' => PinnedSite::MEGABYTES, 'processes' => self::DAEMONS, 'keys' => self::KEYS, 'reads' => self::READS, 'stores' => $stores, 'seed' => 1 + 10 * $start + $turn,
            ], ['larder.zero_copy' => $setting, 'memory_limit' => '256M']);
        } catch (WorkerFailed $failure) {
            $outcome->fail($subject, $failure);

            return;
        }
        $case = ['workers that never end' => (string) self::DAEMONS];
        $outcome->measurement($case, self::LEFT, 'keys', Direction::HigherIsBetter, $subject)->add($start, $turn, $found->int('left'));
        $outcome->measurement($case, self::STORED, 'share', Direction::HigherIsBetter, $subject)->add($start, $turn, $found->float('stored'));
    }
}
