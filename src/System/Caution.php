<?php

declare(strict_types=1);

namespace Larder\System;

use Psr\Log\LoggerInterface;

/**
 * Tells a cache's logger what works, but not as it should, and what to change. Each cause is told once by a command, and once a minute by
 * all requests of a site.
 */
final class Caution
{
    /** @var array<string, true> */
    private array $told = [];

    /** @param ?LoggerInterface $logger null: PHP's error log */
    public function __construct(
        private readonly ?LoggerInterface $logger,
    ) {}

    public function isTold(string $says): bool
    {
        return isset($this->told[$says]);
    }

    /** @param array{why?: string, exception?: \Throwable} $context */
    public function tell(string $says, array $context): void
    {
        if ($this->isTold($says)) {
            return;
        }
        $this->told[$says] = true;
        $logger = $this->logger ?? new ErrorLog();
        if (SiteLog::takes($logger, $says, $context)) {
            $logger->warning($says, $context);
        }
    }
}
