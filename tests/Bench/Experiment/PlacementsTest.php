<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Placements;
use Larder\Bench\Experiment\Profile;
use Larder\Bench\Experiment\Progress;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Subject\Subjects;
use Larder\Bench\Subject\Values;
use Larder\Tests\Bench\RealServers;

final class PlacementsTest extends RealServers
{
    public function testAServerIsReadFromItsOwnProcessorAndFromAnotherWhereThereAreTwo(): void
    {
        self::need('redis-server', 'valkey-server');
        $name = (RedisFlavour::installed() ?? RedisFlavour::Redis)->value . '-unix';
        $placement = Placement::ofThisMachine();
        $laboratory = new Laboratory(Profile::Quick, array_intersect_key(Subjects::all(), [$name => true]), $placement);
        $outcome = new Outcome('gets', 'Reads', 'Nothing.');
        try {
            (new Placements($laboratory, new class implements Progress {
                public function begin(string $title, int $steps): void {}

                public function advance(string $doing): void {}

                public function end(): void {}
            }))->run($outcome, $laboratory->subjects, Values::named('hello'));
        } finally {
            $laboratory->stopServers();
        }

        self::assertSame([], $outcome->leftOut);
        $cases = array_map(static fn(Measurement $measurement): string => $measurement->case['placement'], $outcome->measurements);
        sort($cases);
        self::assertSame($placement->processors === 2 && $placement->ofServers === 1 ? ['one processor', 'two processors'] : [], $cases);
        foreach ($outcome->measurements as $measurement) {
            self::assertCount(Profile::Quick->processes() * Profile::Quick->blocks(), $measurement->values());
            self::assertGreaterThan(0.0, array_sum($measurement->column('server cpu')));
        }
    }
}
