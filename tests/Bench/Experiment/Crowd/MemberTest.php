<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment\Crowd;

use Larder\Bench\Experiment\Crowd\Member;
use Larder\Bench\FileSystem;
use Larder\Bench\Subject\Family;
use Larder\Bench\Subject\Place;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\TemporaryDirectory;
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
        $operations = 0;
        $this->prepared($seen, $writes, true, static function (Member $member) use ($seen, &$operations): void {
            // As long as the machine takes for a whole round; each call begins anew.
            for ($milliseconds = 20; $operations < 5_000 && $milliseconds < 60_000; $milliseconds *= 2) {
                $seen->exchangeArray([]);
                $operations = $member->work(hrtime(true), hrtime(true) + $milliseconds * 1_000_000)['operations'];
            }
        });

        // 5,000 draws of 100,000 keys are of about 4,877 different ones.
        self::assertGreaterThan(4_500, count($seen));
        self::assertSame($operations, array_sum($seen->getArrayCopy()));
    }

    #[TestWith([true, 0])]
    #[TestWith([false, 5_000])]
    public function testAMemberThatDoesNotVisitAllMemoryVisitsWhatItIsToRead(bool $isWarmed, int $reads): void
    {
        /** @var \ArrayObject<string, int> $seen */
        $seen = new \ArrayObject();
        $this->prepared($seen, 0, $isWarmed, static function (): void {});

        self::assertSame($reads, (int) array_sum($seen->getArrayCopy()));
    }

    /** A store that another process holds up refuses a write, and has lost what was there. */
    public function testOneItemMayBeLostAndNotTwo(): void
    {
        /** @var \ArrayObject<string, bool> $store */
        $store = new \ArrayObject(['loses' => true]);
        $subject = new Subject(
            name: 'loser',
            title: 'a loser',
            family: Family::Memory,
            open: static fn(): \ArrayObject => $store,
            read: static fn(): string => '($client["loses"] ? null : \Larder\Bench\Subject\Values::named("string-20")->make((int) substr($key, 5)))',
            write: static fn(): string => '',
            close: static function (): void {},
        );
        $this->preparedOf($subject, 5, true, function (Member $member) use ($store): void {
            foreach ([true, false] as $loses) {
                $store['loses'] = $loses;
                self::assertGreaterThan(0, $member->work(hrtime(true), hrtime(true))['operations']);
            }
            $store['loses'] = true;
            $this->expectExceptionMessage('a loser returned something else for item-');
            $member->work(hrtime(true), hrtime(true));
        });
    }

    /**
     * @param \ArrayObject<string, int> $seen gets how often each key was read or written
     * @param \Closure(Member): void $do with a member that is prepared
     */
    private function prepared(\ArrayObject $seen, int $writes, bool $isWarmed, \Closure $do): void
    {
        $this->preparedOf(new Subject(
            name: 'none',
            title: 'a counter',
            family: Family::Memory,
            open: static fn(): \ArrayObject => $seen,
            read: static fn(): string => '($client[$key] = ($client[$key] ?? 0) + 1)',
            write: static fn(): string => '$client[$key] = ($client[$key] ?? 0) + 1;',
            close: static function (): void {},
        ), $writes, $isWarmed, $do);
    }

    /** @param \Closure(Member): void $do with a member that is prepared */
    private function preparedOf(Subject $subject, int $writes, bool $isWarmed, \Closure $do): void
    {
        $made = TemporaryDirectory::make(FileSystem::onDisk());
        $directory = $made->path;
        $member = new Member($subject, Values::named('string-20'), new Place($directory, $directory, 'nobody', 0, []), $directory, 100_000, $writes, 1, $isWarmed);
        $member->open();
        $member->prepare();
        $do($member);
    }
}
