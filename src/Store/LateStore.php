<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\PerRequest;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Token;

/**
 * A store whose place could not be had when it was opened, such as a pool for which the memory was full. It is opened again
 * now and then; until that works, it is unavailable, as any store may be.
 */
final class LateStore implements Store, PerRequest, RequestTokens
{
    /** Nanoseconds between two tries. */
    private const BETWEEN = 1_000_000_000;

    private ?Store $store = null;

    private int $tried;

    /**
     * @param \Closure(): Store  $open         throws StoreUnavailable if it still cannot
     * @param StoreUnavailable   $failure      why it could not be opened
     * @param list<Capability>   $capabilities what the store will have, but for those with a contract of their own
     */
    public function __construct(
        private readonly \Closure $open,
        private StoreUnavailable $failure,
        private readonly array $capabilities,
    ) {
        $this->tried = hrtime(true);
    }

    public function beginRequest(): void
    {
        $store = $this->store();
        if ($store instanceof PerRequest) {
            $store->beginRequest();
        }
    }

    public function noteRequest(bool $anew = false): void
    {
        $store = $this->store();
        if ($store instanceof RequestTokens) {
            $store->noteRequest($anew);
        }
    }

    public function requestToken(string $key): ?Token
    {
        return $this->store instanceof RequestTokens ? $this->store->requestToken($key) : null;
    }

    public function fetch(array $keys): Fetched
    {
        return $this->store()->fetch($keys);
    }

    public function token(string $key): Token
    {
        return $this->store()->token($key);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        return $this->store()->save($items, $mode);
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        return $this->store()->delete($keys, $token);
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->store()->increment($key, $by, $initial, $ttl);
    }

    public function touch(array $keys, ?int $ttl): array
    {
        return $this->store()->touch($keys, $ttl);
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        $this->store()->invalidateTags($tags, $serveStale);
    }

    public function clear(): void
    {
        $this->store()->clear();
    }

    public function prune(): int
    {
        return $this->store()->prune();
    }

    public function keys(string $prefix = ''): iterable
    {
        return $this->store()->keys($prefix);
    }

    public function statistics(): StoreStatistics
    {
        return $this->store()->statistics();
    }

    public function capabilities(): array
    {
        return $this->capabilities;
    }

    /** @throws StoreUnavailable */
    private function store(): Store
    {
        if ($this->store !== null) {
            return $this->store;
        }
        if (hrtime(true) - $this->tried < self::BETWEEN) {
            throw $this->failure;
        }
        $this->tried = hrtime(true);
        try {
            return $this->store = ($this->open)();
        } catch (StoreUnavailable $failure) {
            throw $this->failure = $failure;
        }
    }
}
