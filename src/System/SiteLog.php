<?php

declare(strict_types=1);

namespace Larder\System;

use Psr\Log\LoggerInterface;

/** Keeps the requests of a site from filling the log of their application: each cause is told once a minute by all of them. */
final class SiteLog
{
    private function __construct() {}

    /**
     * Whether a logger is to be told. A command or a daemon has a log of its own, and tells it each time. PHP's error log sees to it itself.
     *
     * @param array<mixed> $context see OncePerMinute::isNews()
     */
    public static function takes(LoggerInterface $logger, string $message, array $context): bool
    {
        // The name of a class without one ends differently in each request.
        return \PHP_SAPI === 'cli' || $logger instanceof ErrorLog || (new OncePerMinute())->isNews(strtok($logger::class, "\0") . $message, $context);
    }
}
