<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Profile;
use Larder\Bench\Experiment\WebPlan;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class WebPlanTest extends TestCase
{
    #[TestWith([Profile::Quick])]
    #[TestWith([Profile::Thorough])]
    public function testThePairThatAPromiseComparesHasTurnsOfItsOwnWhereItIsCompared(Profile $profile): void
    {
        $plan = WebPlan::of($profile);

        self::assertSame($plan->turns, array_sum($plan->runs(['value' => 'hello'])));
        self::assertSame($plan->turns + $plan->pairs, array_sum($plan->runs(['value' => 'alloptions'])));
        self::assertNotContains(0, $plan->runs(['value' => 'alloptions']));
    }
}
