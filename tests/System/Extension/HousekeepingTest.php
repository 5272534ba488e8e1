<?php

declare(strict_types=1);

namespace Larder\Tests\System\Extension;

use Larder\SharedMemory;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\TestCase;

/** What a worker of PHP-FPM does when the answer is out, so that the next request finds room. */
#[CoversNothing]
final class HousekeepingTest extends TestCase
{
    private const SIZE = 8 << 20;
    private const ITEMS = 4000; // of 3,000 bytes: more than fit
    private const PATIENCE = 60.0; // seconds, of which it takes a few thousandths

    private string $pool = '';

    private Scratch $scratch;

    private ?Workers $workers = null;

    protected function setUp(): void
    {
        self::assertTrue(\extension_loaded('larder'), 'The extension is not loaded; run this suite by `make test SUITES=system`.');
        $this->pool = 'system-' . bin2hex(random_bytes(4));
        $this->scratch = new Scratch();
        copy(__DIR__ . '/scripts/housekeeping.inc', $this->scratch->path . '/housekeeping.php');
    }

    protected function tearDown(): void
    {
        $this->workers?->stop();
        SharedMemory::remove($this->pool);
    }

    public function testAWorkerGoesOnMakingRoomWhenTheAnswerIsOutAndNoFurtherRequestComes(): void
    {
        $this->workers = new Workers(['larder.size' => self::SIZE], 1);
        for ($number = 0; $number < 3; $number++) {
            $answer = (string) $this->workers->client->get(
                $this->scratch->path . '/housekeeping.php',
                ['pool' => $this->pool, 'number' => $number, 'items' => self::ITEMS],
            );
            self::assertMatchesRegularExpression('/^[1-9]\d*$/', $answer, 'The pool was full before the script ended.');
            $deadline = microtime(true) + self::PATIENCE;
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
