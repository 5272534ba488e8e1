<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Finding\Features;
use PHPUnit\Framework\TestCase;

final class FeaturesTest extends TestCase
{
    public function testEachStoreHasAnAnswerToEachQuestion(): void
    {
        foreach (Features::rows() as $row) {
            self::assertCount(count(Features::HEADINGS), $row, $row[0] ?? '');
            self::assertNotContains('', $row, $row[0] ?? '');
        }
    }

    /** What it did before 1.5 is still repeated of it. */
    public function testMemcachedIsWhatItHasBecome(): void
    {
        $rows = array_column(Features::rows(), null, 0);
        $memcached = array_combine(Features::HEADINGS, $rows['Memcached']);

        self::assertStringContainsString('pages move', $memcached['memory of dead items']);
        self::assertStringContainsString('since 1.5.18', $memcached['survives its own restart']);
        self::assertStringContainsString('segmented LRU', $memcached['when full']);
    }
}
