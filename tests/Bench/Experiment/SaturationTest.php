<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Saturation;
use Larder\Bench\Statistics\Direction;
use PHPUnit\Framework\TestCase;

final class SaturationTest extends TestCase
{
    public function testRatesThatTheGeneratorMayHaveLimitedAreMarkedOnceASubject(): void
    {
        $outcome = new Outcome('clients', 'Clients', 'Nothing.', titles: ['fast' => 'the fast one']);
        foreach (['10' => 0.89, '50' => 0.91, '100' => 0.97] as $clients => $share) {
            $this->rate($outcome, 'rate', (string) $clients, 'fast', $share);
            $this->rate($outcome, 'rate', (string) $clients, 'slow', 0.5);
            $this->rate($outcome, Saturation::COMPARISON, (string) $clients, 'redis-benchmark', 0.99);
        }
        $outcome->measurement(['clients' => '10'], 'rate', 'reads', Direction::HigherIsBetter, 'without a server')->add(0, 0, 1.0);
        Saturation::mark($outcome);

        self::assertSame(["The load generator used more than 90 % of its processor in 2 of the 3 cases of the fast one. Those rates may be the generator's, not the server's; the tables say which."], $outcome->notes);
    }

    public function testOneSliceInWhichTheGeneratorWasBusyIsNotYetSaturation(): void
    {
        $outcome = new Outcome('clients', 'Clients', 'Nothing.');
        foreach ([0.5, 0.99, 0.6] as $share) {
            $this->rate($outcome, 'rate', '10', 'fast', $share);
        }
        Saturation::mark($outcome);

        self::assertSame([], $outcome->notes);
        self::assertSame(0.6, isset($outcome->measurements[0]) ? Saturation::share($outcome->measurements[0]) : null);
    }

    private function rate(Outcome $outcome, string $metric, string $clients, string $subject, float $share): void
    {
        $outcome->measurement(['clients' => $clients], $metric, 'requests', Direction::HigherIsBetter, $subject, columns: [Saturation::SHARE])->add(0, 0, 1_000.0, $share);
    }
}
