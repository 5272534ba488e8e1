<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;
use PHPUnit\Framework\TestCase;

final class OutcomeTest extends TestCase
{
    public function testWhatWasMeasuredOfASubjectThatFailsIsNotKeptBeforeOrAfter(): void
    {
        $outcome = new Outcome('tags', 'Tags', 'Nothing.');
        self::measure($outcome, 'fast but wrong');
        self::measure($outcome, 'right');
        $outcome->fail('fast but wrong', WorkerFailed::said('It', 'returned another value.'));
        self::measure($outcome, 'fast but wrong');
        self::measure($outcome, 'right');

        self::assertSame(['right'], array_map(static fn(Measurement $measurement): string => $measurement->subject, $outcome->measurements));
        self::assertSame([1.0, 1.0], $outcome->measurements[0]->values());
        self::assertSame(['fast but wrong' => 'It failed: returned another value.'], $outcome->failures());
        self::assertSame($outcome->failures(), $outcome->leftOut);
        self::assertFalse($outcome->isComplete);
    }

    public function testAServerThatIsNotInstalledIsLeftOutAndNothingFailed(): void
    {
        $outcome = new Outcome('tags', 'Tags', 'Nothing.');
        $outcome->fail('memcached', ServerFailed::isNotInstalled('Memcached', 'memcached', 'memcached'));

        self::assertArrayHasKey('memcached', $outcome->leftOut);
        self::assertSame([], $outcome->failures());
        self::assertTrue($outcome->isComplete);
    }

    private static function measure(Outcome $outcome, string $subject): void
    {
        $outcome->measurement([], 'time', 'ns', Direction::LowerIsBetter, $subject)->add(0, 0, 1.0);
    }
}
