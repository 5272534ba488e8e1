<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Token;

/**
 * Times what a request does with the store. One request of many has this around its backend, so that the others pay nothing.
 *
 * A read saves a query if it found a transient, or an entry of a group that mirrors the database. A batch of these is one query.
 */
final class Measured implements Backend
{
    /** Times of one operation that are kept; later ones take the places of earlier ones. */
    private const MOST_TIMES = 200;

    /** Slow calls that are kept. */
    private const MOST_SLOW = 5;

    /** @var array<string, array<int, int>> operation => nanoseconds of each call */
    private array $times = [];

    /** @var array<string, int> operation => how many calls */
    private array $calls = [];

    private bool $isKept = true;

    /** @var list<array{int, string, string}> the slowest calls: nanoseconds, operation, key or the first of several */
    private array $slowest = [];

    private int $saved = 0;

    /** @var array{hits: int, misses: int, sets: int, deletes: int} of entries, not of calls */
    private array $entries = ['hits' => 0, 'misses' => 0, 'sets' => 0, 'deletes' => 0];

    private int $begun;

    /** @param string $prefix what all keys begin with */
    public function __construct(
        private readonly Backend $backend,
        private readonly string $prefix,
    ) {
        $this->begun = hrtime(true);
    }

    /** The request is one of administration, of which nothing is kept. */
    public function drop(): void
    {
        $this->isKept = false;
    }

    public function isKept(): bool
    {
        return $this->isKept;
    }

    /** What is behind it. */
    public function backend(): Backend
    {
        return $this->backend;
    }

    /** @return array<string, array<int, int>> operation => nanoseconds of each call, of up to 200 */
    public function times(): array
    {
        return $this->times;
    }

    /** @return list<array{int, string, string}> the slowest calls: nanoseconds, operation, key or the first of several */
    public function slowest(): array
    {
        return $this->slowest;
    }

    /** Queries of the database that were not needed, as far as the store knows. */
    public function saved(): int
    {
        return $this->saved;
    }

    /** @return array{hits: int, misses: int, sets: int, deletes: int} entries that were read, not found, stored and deleted */
    public function entries(): array
    {
        return $this->entries;
    }

    /** Nanoseconds since the request opened its cache. */
    public function age(): int
    {
        return hrtime(true) - $this->begun;
    }

    public function get(string $key, mixed $absent, bool $anew = false): mixed
    {
        $begun = hrtime(true);
        $value = $this->backend->get($key, $absent, $anew);
        $this->note('get', $key, $begun);
        if ($value === $absent) {
            $this->entries['misses']++;
        } else {
            $this->entries['hits']++;
            $this->saved += $this->isQuery($key) ? 1 : 0;
        }

        return $value;
    }

    public function getForChange(string $key, mixed $absent): array
    {
        $begun = hrtime(true);
        $found = $this->backend->getForChange($key, $absent);
        $this->note('get for change', $key, $begun);

        return $found;
    }

    public function getMany(array $keys, bool $anew = false): array
    {
        $begun = hrtime(true);
        $values = $this->backend->getMany($keys, $anew);
        $this->note('get many', $keys[0] ?? '', $begun);
        $this->entries['hits'] += \count($values);
        $this->entries['misses'] += \count($keys) - \count($values);
        $this->saved += $values !== [] && $this->isQuery((string) array_key_first($values)) ? 1 : 0;

        return $values;
    }

    public function ends(array $keys): array
    {
        return $this->backend->ends($keys);
    }

    public function token(string $key): ?Token
    {
        return $this->backend->token($key);
    }

    public function requestToken(string $key): ?Token
    {
        return $this->backend->requestToken($key);
    }

    public function fill(array $fills): bool
    {
        $begun = hrtime(true);
        $isKept = $this->backend->fill($fills);
        $this->note('fill', $fills[0]->key ?? '', $begun);
        $this->entries['sets'] += \count($fills);

        return $isKept;
    }

    public function set(string $key, mixed $value, ?int $ttl, array $tags, ?Token $token = null, int $version = 0): bool
    {
        $begun = hrtime(true);
        $isSet = $this->backend->set($key, $value, $ttl, $tags, $token, $version);
        $this->note('set', $key, $begun);
        $this->entries['sets']++;

        return $isSet;
    }

    public function setMany(array $values, ?int $ttl, array $tags): void
    {
        $begun = hrtime(true);
        $this->backend->setMany($values, $ttl, $tags);
        $this->note('set many', (string) array_key_first($values), $begun);
        $this->entries['sets'] += \count($values);
    }

    public function add(string $key, mixed $value, ?int $ttl, array $tags): ?bool
    {
        $begun = hrtime(true);
        $isAdded = $this->backend->add($key, $value, $ttl, $tags);
        $this->note('add', $key, $begun);
        $this->entries['sets'] += $isAdded === true ? 1 : 0;

        return $isAdded;
    }

    public function has(string $key): ?bool
    {
        return $this->backend->has($key);
    }

    public function delete(array $keys): array
    {
        $begun = hrtime(true);
        $existed = $this->backend->delete($keys);
        $this->note('delete', $keys[0] ?? '', $begun);
        $this->entries['deletes'] += \count($keys);

        return $existed;
    }

    public function count(string $key, int $by, array $tags): int|float|false|null
    {
        $begun = hrtime(true);
        $sum = $this->backend->count($key, $by, $tags);
        $this->note('count', $key, $begun);

        return $sum;
    }

    public function invalidate(array $tags, int $stale = 0): bool
    {
        $begun = hrtime(true);
        $isKnown = $this->backend->invalidate($tags, $stale);
        $this->note('invalidate', $tags[0] ?? '', $begun);

        return $isKnown;
    }

    public function clear(): bool
    {
        return $this->backend->clear();
    }

    public function trouble(): ?string
    {
        return $this->backend->trouble();
    }

    public function keys(string $prefix): iterable
    {
        return $this->backend->keys($prefix);
    }

    public function statistics(): array
    {
        return $this->backend->statistics();
    }

    private function note(string $operation, string $key, int $begun): void
    {
        $time = hrtime(true) - $begun;
        $call = $this->calls[$operation] = ($this->calls[$operation] ?? -1) + 1;
        $this->times[$operation][$call % self::MOST_TIMES] = $time;
        $last = \count($this->slowest) - 1;
        if ($last + 1 < self::MOST_SLOW || $time > $this->slowest[$last][0]) {
            $this->slowest[] = [$time, $operation, substr($key, 0, 200)];
            rsort($this->slowest);
            $this->slowest = \array_slice($this->slowest, 0, self::MOST_SLOW);
        }
    }

    private function isQuery(string $key): bool
    {
        $group = strstr(substr($key, \strlen($this->prefix)), ':', true);

        return $group === 'transient' || $group === 'site-transient' || ($group !== false && ObjectCache::isOfDatabase($group));
    }
}
