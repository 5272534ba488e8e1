<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\Dsn;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Token;

/**
 * A store that this process never reaches, while others do: on a command line without the extension that the site's pool needs, say.
 *
 *     $dsn = extension_loaded('larder') ? 'shm:shop' : 'absent:';
 *     $cache = Cache::open($dsn, journal: '/var/lib/shop/store.journal');
 *
 * Everything is a miss or is refused. What the cache deletes, overwrites, invalidates or clears is in the journal, from which the next
 * process that reaches the store delivers it. This one never tries, so that it keeps no other from it.
 */
final class AbsentStore implements Store, RequestTokens
{
    public function fetch(array $keys): Fetched
    {
        throw self::unavailable();
    }

    public function token(string $key): Token
    {
        throw self::unavailable();
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        throw self::unavailable();
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        throw self::unavailable();
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        throw self::unavailable();
    }

    public function touch(array $keys, ?int $ttl): array
    {
        throw self::unavailable();
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        throw self::unavailable();
    }

    public function clear(): void
    {
        throw self::unavailable();
    }

    public function prune(): int
    {
        throw self::unavailable();
    }

    public function keys(string $prefix = ''): iterable
    {
        throw self::unavailable();
    }

    public function statistics(): StoreStatistics
    {
        throw self::unavailable();
    }

    public function noteRequest(bool $anew = false): void
    {
        throw self::unavailable();
    }

    public function requestToken(string $key): ?Token
    {
        return null;
    }

    /** With those without which a cache would throw where a namespace, a lock, a token or an update is asked for, and not just refuse it. */
    public function capabilities(): array
    {
        return [Capability::Tags, Capability::Tokens, Capability::RequestTokens, Capability::Retention, Capability::Absence];
    }

    /** It has no options. */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow();
        $dsn->withoutPath();

        return new self();
    }

    private static function unavailable(): StoreUnavailable
    {
        return StoreUnavailable::because('The store', 'it is absent in this process', 'name the store\'s own DSN where it can be reached');
    }
}
