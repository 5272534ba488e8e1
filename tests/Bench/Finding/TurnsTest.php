<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Finding\Findings;
use Larder\Bench\Statistics\Direction;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/** Which comparisons may leave out what disturbed both sides. */
final class TurnsTest extends TestCase
{
    #[TestWith(['gets', null, null, true])]
    #[TestWith(['web', null, null, true])]
    #[TestWith(['tags', null, null, false])]
    #[TestWith(['scale', null, null, false])]
    #[TestWith(['clients', 0.5, 0.6, true])]
    #[TestWith(['clients', 0.5, null, false])]
    public function testBlocksArePairedOnlyWhereTheSubjectsTookTurns(string $experiment, ?float $one, ?float $other, bool $isPaired): void
    {
        $fixture = (new RunFixture())
            ->add($experiment, ['case' => 'x'], 'rate', Direction::HigherIsBetter, 'one', 300.0, 0.2, $one)
            ->add($experiment, ['case' => 'x'], 'rate', Direction::HigherIsBetter, 'other', 100.0, 0.2, $other);
        $ratio = (new Findings($fixture->run()))->ratio($experiment, 'rate', ['case' => 'x'], 'one', 'other');

        self::assertEqualsWithDelta(3.0, $ratio?->estimate, 1e-9);
        // Both are disturbed alike, by 20 %: in turns the ratio is exact, one after the other it is not.
        self::assertSame($isPaired, $ratio !== null && $ratio->high - $ratio->low < 1e-9);
    }
}
