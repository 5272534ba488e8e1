<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Psr\Log\LoggerInterface;

/** The caches of an application, one for each DSN and one more where it is to be strict, for as long as its process lives. */
final class Caches
{
    /** @var array<string, Cache> by "strict " or nothing, and the DSN */
    private array $opened = [];

    /** @param \Closure(): LoggerInterface $logger */
    public function __construct(
        private readonly \Closure $logger,
    ) {}

    /** @throws \Larder\Exception the DSN is none */
    public function at(#[\SensitiveParameter] string $dsn, bool $strict = false): Cache
    {
        return $this->opened[($strict ? 'strict ' : '') . $dsn] ??= Cache::open($dsn, logger: ($this->logger)(), strict: $strict);
    }

    /** In a worker that serves many requests or jobs: one begins. What the last one missed judges nothing any more. */
    public function begin(): void
    {
        foreach ($this->opened as $cache) {
            try {
                $cache->refresh();
            } catch (StoreUnavailable) {
                // The cache has logged it.
            }
        }
    }
}
