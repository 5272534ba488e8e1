<?php

declare(strict_types=1);

namespace Larder\Tests\System\Extension;

use Larder\SharedMemory;
use Larder\Tests\Bench\RealServers;
use Larder\Tests\Scratch;

/** Workers of PHP-FPM, the pool that they use, and a directory with the scripts that they run. */
abstract class WorkersCase extends RealServers
{
    protected string $pool = '';

    protected Scratch $scratch;

    protected ?Workers $workers = null;

    protected function setUp(): void
    {
        self::assertTrue(\extension_loaded('larder'), 'The extension is not loaded; run this suite by `make test SUITES=system`.');
        $this->pool = 'system-' . bin2hex(random_bytes(4));
        $this->scratch = new Scratch();
        foreach (glob(__DIR__ . '/scripts/*.inc') ?: [] as $script) {
            copy($script, $this->scratch->path . '/' . basename($script, '.inc') . '.php');
        }
    }

    protected function tearDown(): void
    {
        $this->workers?->stop();
        SharedMemory::remove($this->pool);
    }
}
