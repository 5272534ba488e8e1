<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\System\ErrorLog;
use Larder\System\SiteLog;
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
     * @param ?LoggerInterface  $logger null: PHP's error log. It is made when there is something to tell, which most requests have not
     * @param \Closure(): float $clock  Unix time
     */
    public function __construct(
        private ?LoggerInterface $logger,
        private readonly \Closure $clock,
        private readonly string $begun,
        private readonly ?string $over = null,
    ) {}

    /** @param array<string, mixed> $context */
    public function isOn(array $context): void
    {
        $now = ($this->clock)();
        if ($this->isTold || ($this->told !== null && abs($now - $this->told) < self::BETWEEN)) {
            return;
        }
        $this->told = $now;
        $this->logger ??= new ErrorLog();
        if (!SiteLog::takes($this->logger, $this->begun, $context)) {
            return;
        }
        $this->isTold = true;
        $this->logger->error($this->begun, $context);
    }

    /** @param array<string, mixed> $context */
    public function isOver(array $context): void
    {
        $wasTold = $this->isTold;
        // First, as the logger may use the cache.
        $this->isTold = false;
        if ($wasTold && $this->over !== null) {
            $this->logger?->notice($this->over, $context);
        }
    }
}
