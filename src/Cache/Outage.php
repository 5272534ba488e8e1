<?php

declare(strict_types=1);

namespace Larder\Cache;

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

    /** @param \Closure(): float $clock Unix time */
    public function __construct(
        private readonly ?LoggerInterface $logger,
        private readonly \Closure $clock,
        private readonly string $begun,
        private readonly ?string $over = null,
    ) {}

    /** @param array<string, mixed> $context */
    public function isOn(array $context): void
    {
        $now = ($this->clock)();
        if ($this->isTold || $this->logger === null || ($this->told !== null && abs($now - $this->told) < self::BETWEEN)) {
            return;
        }
        $this->isTold = true;
        $this->told = $now;
        $this->logger->error($this->begun, $context);
    }

    /** @param array<string, mixed> $context */
    public function isOver(array $context): void
    {
        if ($this->isTold && $this->over !== null) {
            $this->logger?->notice($this->over, $context);
        }
        $this->isTold = false;
    }
}
