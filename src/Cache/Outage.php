<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\System\OncePerMinute;
use Psr\Log\LoggerInterface;

/**
 * Tells the log that something has failed, and that it works again: once, however often it fails meanwhile. What comes and
 * goes, as where a disk is full that can be read, is told of once a minute.
 */
final class Outage
{
    /** Seconds. */
    private const BETWEEN = 60.0;

    private bool $isTold = false;

    private ?float $told = null;

    /**
     * @param \Closure(): float $clock   Unix time
     * @param ?OncePerMinute    $machine keeps the requests of a machine, each a process's first, from telling the same; null: each process tells
     */
    public function __construct(
        private readonly LoggerInterface $logger,
        private readonly \Closure $clock,
        private readonly string $begun,
        private readonly ?string $over = null,
        private readonly ?OncePerMinute $machine = null,
    ) {}

    /** @param array<string, mixed> $context */
    public function isOn(array $context): void
    {
        $now = ($this->clock)();
        if ($this->isTold || ($this->told !== null && abs($now - $this->told) < self::BETWEEN)) {
            return;
        }
        $this->told = $now;
        if ($this->machine?->isNews($this->logger::class . $this->begun, $context) === false) {
            return;
        }
        $this->isTold = true;
        $this->logger->error($this->begun, $context);
    }

    /** @param array<string, mixed> $context */
    public function isOver(array $context): void
    {
        if ($this->isTold && $this->over !== null) {
            $this->logger->notice($this->over, $context);
        }
        $this->isTold = false;
    }
}
