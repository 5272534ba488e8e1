<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Profile;
use Larder\Bench\Experiment\Progress;
use Larder\Bench\Experiment\Sessions;
use PHPUnit\Framework\TestCase;

final class SessionsTest extends TestCase
{
    public function testHandlersWhoseSubjectsWereNotAskedForAreLeftOutAndTheReportSaysWhy(): void
    {
        $outcome = new Outcome('of a test', 'Of a test', 'nothing');
        $laboratory = new Laboratory(Profile::Quick, [], Placement::ofThisMachine());
        (new Sessions())->run($laboratory, $this->createStub(Progress::class), $outcome);

        self::assertSame([], $outcome->measurements);
        self::assertCount(count($outcome->titles), $outcome->leftOut);
        self::assertSame('it was not among the subjects asked for', $outcome->leftOut['files'] ?? null);
        self::assertSame('no name of a subject asks for it: leave --subjects out, and it is measured', $outcome->leftOut['mariadb'] ?? null);
        self::assertSame([], $outcome->failures());
    }
}
