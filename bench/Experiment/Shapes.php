<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\ShapedValues;

/** Values of every shape that an application caches, in memory that processes share: within one process, and once a request. */
final class Shapes implements Experiment
{
    public const OURS = ShapedSite::OURS;
    public const THEIRS = ShapedSite::THEIRS;
    /** Beside those two for information, and the empty loop. */
    private const SUBJECTS = ['none', self::OURS, self::THEIRS, 'apcu-igbinary'];
    /** Time of a read, and of the first object that a request reads, as PHP code within the request takes it. */
    public const ONE = 'time of one fetch a request';
    /** What a request fetches once: not of all shapes, because each is a request of its own. */
    private const FETCHED = ['constant-array', 'route-table', 'child', 'object-graph', 'sleep', 'serialize', 'tree', 'dates', 'models', 'listing'];

    public function name(): string
    {
        return 'shapes';
    }

    public function title(): string
    {
        return 'Values of every shape';
    }

    public function recreates(): string
    {
        return 'The harness of the user cache that is proposed for PHP (php/php-src, pull request 22730) compares it with APCu on 27 workloads. Ours '
            . 'has values of the same shapes and sizes, but its own, and compares shared memory with APCu. Dates of a library are those of classes '
            . 'of ours that do what Carbon does. Heaps of SPL are left out, which PHP serialises since 8.6 only.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(300, 1_024, $profile === Profile::Quick ? 20 : 120);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $requests = $isQuick ? 30 : 100;
        $outcome->parameters = [
            'processes' => $laboratory->profile->processes(),
            'blocks in each process' => $laboratory->profile->blocks(),
            'milliseconds a block' => intdiv($laboratory->profile->blockNanoseconds(), 1_000_000),
            'keys of the settings' => ShapedValues::KEYS,
            'starts of php-fpm' => $starts = 2,
            'requests of each shape and start' => $requests,
        ];
        $steps = [];
        foreach (ShapedValues::all() as $value) {
            $operations = $value->name === ShapedValues::CHANGED ? [Operation::Get, Operation::Modify, Operation::Set] : [Operation::Get, Operation::Set];
            $steps[] = new Step($value, $operations, $value->name === ShapedValues::SETTINGS ? ShapedValues::KEYS : 1);
        }
        $subjects = array_intersect_key($laboratory->subjects, array_flip(self::SUBJECTS));
        (new Interleaving($laboratory, $progress))->run($outcome, $subjects, $steps);
        $measured = array_diff([self::OURS, self::THEIRS], array_keys($outcome->leftOut));
        if (array_intersect($measured, array_keys($subjects)) !== [self::OURS, self::THEIRS]) {
            return;
        }
        $progress->begin($this->title() . ', one fetch a request', $starts);
        for ($start = 0; $start < $starts; $start++) {
            $progress->advance('start ' . ($start + 1) . " of {$starts}");
            try {
                $this->fetches($laboratory, $outcome, $start, $requests);
            } catch (ServerFailed $failure) {
                $outcome->fail(self::OURS, $failure);
                break;
            }
        }
        $progress->end();
    }

    /** @throws ServerFailed */
    private function fetches(Laboratory $laboratory, Outcome $outcome, int $start, int $requests): void
    {
        $site = ShapedSite::start($laboratory, self::FETCHED);
        for ($request = 0; $request < $requests; $request++) {
            $laboratory->goOn();
            foreach (Shuffled::of(array_flip(self::FETCHED)) as $value => $_) {
                foreach (Shuffled::of([self::OURS => 0, self::THEIRS => 0]) as $subject => $_) {
                    $outcome->measurement(['value' => $value], self::ONE, 'ns', Direction::LowerIsBetter, $subject)
                        ->add($start, $request, $site->fetch($subject, $value));
                }
            }
        }
    }
}
