<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Experiment\Tag\Design;
use Larder\Bench\Finding\Claim;
use Larder\Bench\Finding\ClaimState;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Ledger;
use Larder\Bench\Finding\Promise;
use Larder\Bench\Finding\Promises;
use Larder\Bench\Finding\PromiseState;
use Larder\Bench\Finding\Recommendation;
use Larder\Bench\Finding\TagDesigns;
use Larder\Bench\Statistics\Direction;
use PHPUnit\Framework\TestCase;

final class TagDesignsTest extends TestCase
{
    private const CLAIM = 'reads are fastest from files';

    public function testEachReCreationHasARealBackEndThatIsMeasured(): void
    {
        $real = array_map(static fn(Design $design): string => $design->value, array_filter(Design::cases(), static fn(Design $design): bool => $design->isZend()));

        self::assertEqualsCanonicalizing($real, array_values(TagDesigns::REAL));
        $recreations = array_map(static fn(Design $design): string => $design->value, array_filter(Design::cases(), static fn(Design $design): bool => str_ends_with($design->title('Redis'), '(re-creation)')));
        self::assertEqualsCanonicalizing($recreations, array_keys(TagDesigns::REAL));
        self::assertSame($real, array_map(static fn(Design $design): string => $design->value, array_filter(Design::cases(), static fn(Design $design): bool => $design->classes() !== [])));
    }

    public function testTheLedgerJudgesTheRealBackEndsWhereTheyWereMeasured(): void
    {
        // Among the re-creations files read fastest, among the real ones Redis does.
        $claim = self::claim(self::reads(['tag-files' => 400.0, 'tag-sets' => 100.0, 'zend-file' => 100.0, 'zend-redis' => 200.0]));

        self::assertSame(ClaimState::Disagrees, $claim->state);
        self::assertEqualsWithDelta(0.5, $claim->found?->estimate, 1e-9);
        self::assertSame('reads per second, Zend_Cache_Backend_File over Cm_Cache_Backend_Redis', $claim->figure);
    }

    public function testWithoutRealOnesTheLedgerJudgesTheReCreationsAndSaysSo(): void
    {
        $claim = self::claim(self::reads(['tag-files' => 400.0, 'tag-sets' => 100.0]));

        self::assertSame(ClaimState::Agrees, $claim->state);
        self::assertSame('reads per second, tag files (re-creation) over tag sets in Redis (re-creation)', $claim->figure);
    }

    public function testARealBackEndIsNotComparedWithAReCreation(): void
    {
        $claim = self::claim(self::reads(['tag-files' => 400.0, 'tag-sets' => 100.0, 'zend-file' => 10.0]));

        self::assertEqualsWithDelta(4.0, $claim->found?->estimate, 1e-9);
    }

    public function testAPromiseIsHeldAgainstTheRealBackEnd(): void
    {
        $reads = ['shared-memory' => 300.0, 'tag-files' => 100.0];

        self::assertSame(['reading 5,000 tagged items, against tag files (re-creation)', PromiseState::Met], self::promise(self::reads($reads)));
        self::assertSame(['reading 5,000 tagged items, against Zend_Cache_Backend_File', PromiseState::Missed], self::promise(self::reads([...$reads, 'zend-file' => 600.0])));
    }

    public function testAReCreationIsNotAdvisedWhereTheRealOneWasMeasured(): void
    {
        $fixture = new RunFixture();
        foreach (['tag-files' => 3.0, 'zend-file' => 2.0, 'tag-sets' => 1.0] as $design => $rate) {
            foreach (['reads', 'writes', 'cleans by tag'] as $metric) {
                $fixture->add('tags', ['items' => '5,000'], $metric, Direction::HigherIsBetter, $design, 1000 * $rate);
            }
        }
        $advised = [];
        foreach (Recommendation::of(new Findings($fixture->run())) as $advice) {
            if ($advice->host === 'one host with the extension' && $advice->experiment === 'tags') {
                $advised[] = [$advice->best, $advice->next];
            }
        }

        self::assertSame([['zend-file', 'tag-sets'], ['zend-file', 'tag-sets']], $advised);
    }

    /** @param array<string, float> $rates by design */
    private static function reads(array $rates): Findings
    {
        $fixture = new RunFixture();
        foreach ($rates as $design => $rate) {
            $fixture->add('tags', ['items' => '5,000'], 'reads', Direction::HigherIsBetter, $design, $rate);
        }

        return new Findings($fixture->run());
    }

    private static function claim(Findings $findings): Claim
    {
        return array_column(Ledger::of($findings), null, 'claim')[self::CLAIM];
    }

    /** @return array{string, PromiseState} */
    private static function promise(Findings $findings): array
    {
        $promise = array_values(array_filter(Promises::of($findings), static fn(Promise $promise): bool => str_starts_with($promise->title, 'reading ')))[0];

        return [$promise->title, $promise->state];
    }
}
