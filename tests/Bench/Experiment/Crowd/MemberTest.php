<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment\Crowd;

use Larder\Bench\Experiment\Crowd\Member;
use Larder\Bench\Subject\Family;
use Larder\Bench\Subject\FileSystem;
use Larder\Bench\Subject\Place;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Values;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class MemberTest extends TestCase
{
    #[TestWith([0])]
    #[TestWith([5])]
    #[TestWith([50])]
    public function testAMemberGoesRoundThousandsOfKeysAndCountsEachOperationOnce(int $writes): void
    {
        /** @var \ArrayObject<string, int> $seen how often each key was read or written */
        $seen = new \ArrayObject();
        $count = '$client[$key] = ($client[$key] ?? 0) + 1;';
        $subject = new Subject(
            name: 'none',
            title: 'a counter',
            family: Family::Memory,
            open: static fn(): \ArrayObject => $seen,
            read: static fn(): string => '($client[$key] = ($client[$key] ?? 0) + 1)',
            write: static fn(): string => $count,
            close: static function (): void {},
        );
        $directory = FileSystem::onDisk() . '/larder-member-' . bin2hex(random_bytes(6));
        mkdir($directory, 0o700);
        try {
            $member = new Member($subject, Values::named('string-20'), new Place($directory, $directory, 'nobody', 0, []), $directory, 100_000, $writes, 1);
            $member->open();
            $member->prepare();
            $operations = 0;
            // As long as the machine takes for a whole round; each call begins anew.
            for ($milliseconds = 20; $operations < 5_000 && $milliseconds < 60_000; $milliseconds *= 2) {
                $seen->exchangeArray([]);
                $operations = $member->work(hrtime(true), hrtime(true) + $milliseconds * 1_000_000)['operations'];
            }
        } finally {
            FileSystem::remove($directory);
        }

        // 5,000 draws of 100,000 keys are of about 4,877 different ones.
        self::assertGreaterThan(4_500, count($seen));
        self::assertSame($operations, array_sum($seen->getArrayCopy()));
    }
}
