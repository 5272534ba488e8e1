<?php

declare(strict_types=1);

namespace Larder\Tests\System\Extension;

use Larder\Bench\Server\FastCgi;
use Larder\SharedMemory;
use PHPUnit\Framework\Attributes\CoversNothing;

/** What a request of PHP-FPM has missed judges its own fills, and nothing that the worker's next requests store. */
#[CoversNothing]
final class MissesTest extends WorkersCase
{
    private const MISSES = 50_000;

    protected function setUp(): void
    {
        parent::setUp();
        $this->workers = new Workers(['larder.size' => 16 << 20], 1);
    }

    public function testALateFillOfWhatItsRequestHasMissedLongAgoIsRefused(): void
    {
        $pool = SharedMemory::open($this->pool, 16 << 20);
        $misses = $pool->statistics()['misses'];
        $request = $this->workers?->client->begin($this->scratch->path . '/misses.php', ['pool' => $this->pool, 'misses' => self::MISSES, 'value' => 'stale', 'waits' => 1]);
        self::assertIsResource($request);
        while ($pool->statistics()['misses'] < $misses + self::MISSES) {
            usleep(1_000);
        }
        $pool->set('missed 0', 'newer');
        $pool->set('written', true);
        self::assertSame('false', FastCgi::answer($request));
    }

    public function testTheNextRequestOfTheWorkerStoresWhatTheLastHasMissed(): void
    {
        $pool = SharedMemory::open($this->pool, 16 << 20);
        self::assertSame('true', $this->ask(self::MISSES, 'filled'));
        $pool->set('missed 0', 'newer');
        self::assertSame('true', $this->ask(0, 'true'));
        self::assertSame('true', $pool->get('missed 0'));
    }

    private function ask(int $misses, string $value): ?string
    {
        return $this->workers?->client->get($this->scratch->path . '/misses.php', ['pool' => $this->pool, 'misses' => $misses, 'value' => $value]);
    }
}
