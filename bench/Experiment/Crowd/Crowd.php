<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Crowd;

use Larder\Bench\Experiment\Forked;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Subject\Place;
use Larder\Bench\Subject\Subjects;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\Values;

/**
 * Many processes that read and write one subject at the same time.
 *
 * They are forked, as PHP-FPM's are, because some stores are shared by processes of one parent only. Each opens the subject and
 * visits its memory, one after the other; then the first one stores all items. In each round the first so many of them work
 * from one moment to another, the same for all. The rate of a round is that of all together.
 */
final class Crowd implements Task
{
    private const NOTICE_NS = 2_000_000;
    private const NOTICE_OF_EACH_NS = 50_000;

    public function run(Fields $arguments): array
    {
        $subject = Subjects::all($arguments->string('file') ?: null)[$arguments->string('subject')] ?? throw new \OutOfBoundsException('There is no such subject.');
        $disk = TemporaryDirectory::make(FileSystem::onDisk());
        $tmpfs = TemporaryDirectory::make(FileSystem::inMemory());
        $code = $disk->part('code');
        $endpoint = Fields::ofJson('{"endpoint":' . $arguments->string('endpoint') . '}', 'arguments')->scalars('endpoint');
        $place = new Place($disk->part('items'), $tmpfs->path, $tmpfs->name(), $arguments->int('bytes'), $endpoint);
        $members = [];
        try {
            $counts = array_map(intval(...), explode(' ', $arguments->string('counts')));
            // They go round the processors, and are forked where they stay: moving hundreds, each by a command, would take longer than measuring them.
            $processors = Placement::allowed();
            $apart = min(max(1, count($processors)), max($counts));
            for ($first = 0; $first < $apart; $first++) {
                if ($apart > 1) {
                    Placement::move([$processors[$first]]);
                }
                for ($number = $first; $number < max($counts); $number += $apart) {
                    $member = new Member($subject, Values::named($arguments->string('value')), $place, $code, $arguments->int('keys'), $arguments->int('writes'), $number, $arguments->int('warmed') === 1);
                    Forked::undisturbed(static function (\Closure $disturb) use ($member, $number, &$members): void {
                        $members[$number] = MemberProcess::fork($member, $disturb);
                    });
                    $members[$number]->expect('open');
                }
            }
            if ($apart > 1 && $processors !== []) {
                Placement::move($processors);
            }
            $numbered = $members;
            ksort($numbered);
            foreach ($numbered as $process) {
                $process->tell('prepare');
                $process->expect('ready');
            }

            return $this->rounds(array_values($numbered), $counts, $arguments->int('milliseconds'), $arguments->int('rounds'));
        } finally {
            // The first one cleans up when the others are gone. A process that was forked later holds the lines of the earlier ones, too.
            foreach (array_reverse($members) as $process) {
                $process->end();
            }
            $disk->remove();
            $tmpfs->remove();
        }
    }

    /**
     * @param list<MemberProcess> $members
     * @param non-empty-list<int> $counts
     * @return array<string, float> `rate COUNT ROUND` in operations a second, `cpu COUNT ROUND` in ns an operation
     */
    private function rounds(array $members, array $counts, int $milliseconds, int $rounds): array
    {
        $found = [];
        // One round is thrown away: it opens files, fills caches and finds out how long operations take.
        $this->round(array_slice($members, 0, max($counts)), min(50, $milliseconds));
        for ($round = 0; $round < $rounds; $round++) {
            shuffle($counts);
            foreach ($counts as $count) {
                ['rate' => $rate, 'cpu' => $cpu] = $this->round(array_slice($members, 0, $count), $milliseconds);
                $found["rate {$count} {$round}"] = $rate;
                $found["cpu {$count} {$round}"] = $cpu;
            }
        }

        return $found;
    }

    /**
     * @param list<MemberProcess> $members
     * @return array{rate: float, cpu: float}
     */
    private function round(array $members, int $milliseconds): array
    {
        // Late enough that all have heard of it.
        $begin = hrtime(true) + self::NOTICE_NS + count($members) * self::NOTICE_OF_EACH_NS;
        $end = $begin + $milliseconds * 1_000_000;
        foreach ($members as $member) {
            $member->tell("{$begin} {$end}");
        }
        $operations = $cpu = 0;
        foreach ($members as $member) {
            $answer = Fields::ofJson($member->hear(), 'member');
            $operations += $answer->int('operations');
            $cpu += $answer->int('cpu');
            $end = max($end, $answer->int('end'));
        }

        return ['rate' => $operations / ($end - $begin) * 1e9, 'cpu' => $cpu / max(1, $operations)];
    }
}
