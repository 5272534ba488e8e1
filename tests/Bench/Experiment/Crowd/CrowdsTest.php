<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment\Crowd;

use Larder\Bench\Experiment\Crowd\Crowds;
use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Profile;
use Larder\Bench\Subject\Subjects;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/** Processes that read one subject; each checks what it has read last. */
final class CrowdsTest extends TestCase
{
    #[TestWith(['shared-memory'])]
    #[TestWith(['cache-tier-shared-memory-redis'])]
    #[TestWith(['cache-tier-apcu-redis'])]
    public function testSeveralProcessesReadWhatOneHasStored(string $subject): void
    {
        $subjects = Subjects::all();
        $laboratory = new Laboratory(Profile::Quick, array_intersect_key($subjects, [$subject => true]), Placement::ofThisMachine());
        try {
            $rows = (new Crowds($laboratory, 5, 2, false))->run($laboratory->subjects[$subject], [1, 3], 'string-32', 100, 0);
        } finally {
            $laboratory->stopServers();
        }
        self::assertSame([[1, 0], [1, 1], [3, 0], [3, 1]], array_map(static fn(array $row): array => [$row['count'], $row['round']], $rows));
        foreach ($rows as $row) {
            self::assertGreaterThan(0, $row['rate']);
        }
    }
}
