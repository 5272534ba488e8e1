<?php

declare(strict_types=1);

namespace Larder\Tests\System\Extension;

use Larder\SharedMemory;
use PHPUnit\Framework\Attributes\CoversNothing;

/** What a worker of PHP-FPM does when the answer is out, so that the next request finds room. */
#[CoversNothing]
final class HousekeepingTest extends WorkersCase
{
    private const SIZE = 8 << 20;
    private const ITEMS = 4000; // of 3,000 bytes: more than fit
    private const TIMEOUT = 60.0; // seconds, of which it takes a few thousandths

    public function testAWorkerGoesOnMakingRoomWhenTheAnswerIsOutAndNoFurtherRequestComes(): void
    {
        $this->workers = new Workers(['larder.size' => self::SIZE], 1);
        for ($number = 0; $number < 3; $number++) {
            $answer = (string) $this->workers->client->get(
                $this->scratch->path . '/housekeeping.php',
                ['pool' => $this->pool, 'number' => $number, 'items' => self::ITEMS],
            );
            self::assertMatchesRegularExpression('/^[1-9]\d*$/', $answer, 'The pool was full before the script ended.');
            $deadline = microtime(true) + self::TIMEOUT;
            while (($evictions = $this->evictions()) <= (int) $answer && microtime(true) < $deadline) {
                usleep(1000);
            }
            self::assertGreaterThan((int) $answer, $evictions, 'Room is made that the script did not make.');
        }
        self::assertSame([], $this->workers->crashes());
    }

    private function evictions(): int
    {
        return SharedMemory::open($this->pool)->statistics()['evictions'];
    }
}
