<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Forked;
use PHPUnit\Framework\TestCase;

final class ForkedTest extends TestCase
{
    public function testAProcessThatTakesLongerThanAStreamWaitsIsWaitedFor(): void
    {
        $before = ini_set('default_socket_timeout', '1');
        try {
            $found = Forked::all(2, static function (int $number): array {
                usleep(1_500_000);

                return ['number' => $number];
            });
        } finally {
            ini_set('default_socket_timeout', (string) $before);
        }

        self::assertSame([['number' => 0], ['number' => 1]], $found);
    }

    public function testWhatAProcessFailedWithIsSaid(): void
    {
        $this->expectExceptionObject(new \RuntimeException('It is broken.'));

        Forked::all(1, static fn(): array => throw new \RuntimeException('It is broken.'));
    }
}
