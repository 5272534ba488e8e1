<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\System\ErrorLog;
use Larder\System\SiteLog;
use Psr\Log\LoggerInterface;

/**
 * Tells the log which changes the store has missed, so that no loss is silent and none fills the log. The first loss is logged at once,
 * with its keys and tags. The losses of the next minute are counted. Their number is logged with the next loss, when everything is
 * delivered, or at the latest when the cache goes. Of the requests of a site only one a minute tells.
 */
final class Losses
{
    /** Seconds. */
    private const BETWEEN = 60.0;

    /** Since everything was said to be delivered. */
    private int $missed = 0;

    private int $untold = 0;

    private bool $isTold = false;

    private ?float $told = null;

    /**
     * @param ?LoggerInterface  $logger null: PHP's error log
     * @param class-string      $store
     * @param \Closure(): float $clock Unix time
     */
    public function __construct(
        private ?LoggerInterface $logger,
        private readonly string $store,
        private readonly \Closure $clock,
    ) {}

    /**
     * @param list<string> $keys
     * @param list<string> $tags
     */
    public function add(array $keys, array $tags, bool $clears): void
    {
        $this->missed++;
        $now = ($this->clock)();
        if ($this->told !== null && abs($now - $this->told) < self::BETWEEN) {
            $this->untold++;

            return;
        }
        $this->told = $now;
        $this->isTold = $this->error('The cache\'s store has missed a delete, overwrite, tag invalidation or clear; it is delivered when the store is back.', [
            'store' => $this->store,
            'keys' => $keys,
            'tags' => $tags,
            'clear' => $clears,
            'others since the last line' => $this->untold,
        ]);
        $this->untold = 0;
    }

    /** The store has been told of all. */
    public function areDelivered(): void
    {
        if (!$this->isTold) {
            return;
        }
        $missed = $this->missed;
        // First, as the logger may use the cache.
        $this->isTold = false;
        $this->missed = $this->untold = 0;
        $this->logger()->notice('The cache\'s store has been told what it had missed.', ['store' => $this->store, 'calls' => $missed]);
    }

    public function __destruct()
    {
        if ($this->untold > 0) {
            $this->error('The cache\'s store has missed more than was logged one by one.', ['store' => $this->store, 'calls' => $this->untold]);
        }
    }

    /**
     * @param array<string, mixed> $context
     *
     * @return bool whether the log is told, and not by another request of the site
     */
    private function error(string $message, array $context): bool
    {
        $isNews = SiteLog::takes($this->logger(), $message, $context);
        if ($isNews) {
            $this->logger()->error($message, $context);
        }

        return $isNews;
    }

    private function logger(): LoggerInterface
    {
        return $this->logger ??= new ErrorLog();
    }
}
