<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Token;

/**
 * Reads in two trips where each read is one: the first read of a request brings all that such a request read last time.
 *
 * The store keeps the names of those keys, never their values. A value that was read ahead is as old as the request's first read. So
 * are those in WordPress's own memory of a request, and those that a tier serves. None is older, because:
 *
 * - only core's groups are read ahead, whose truth is in the database. Locks, counters, transients and the groups of plugins are not;
 * - anything that this request writes, adds, counts or deletes drops all of it, as it may have waited for another process;
 * - a forced read and a change of a value ask the store;
 * - it is served once, and for a second at most;
 * - a fill of what was missing ahead is judged by the token of that moment.
 *
 * A site has a fixed number of lists, and a list so many names at most.
 */
final class Prefetch implements Backend
{
    /** Lists of a site; two requests with one place take it from each other. */
    private const LISTS = 1_024;

    /** Names of a list. */
    private const MOST_NAMES = 500;

    /** With fewer a list saves nothing. */
    private const FEWEST_NAMES = 3;

    /** Seconds that a list lives after its last write. */
    private const TTL = 604_800;

    /** Nanoseconds in which what was read ahead is served. */
    private const LONGEST = 1_000_000_000;

    /** The key of the list. No group of WordPress begins so, as a percent sign is escaped there. */
    private readonly string $place;

    /** What was read ahead and is not there. */
    private readonly \stdClass $nothing;

    /** @var array<array-key, mixed> name => value, or $nothing: what was read ahead and not asked for yet */
    private array $ahead = [];

    /** @var list<string> the names that were read ahead */
    private array $listed = [];

    /** @var array<array-key, true> names that this request asked for, until it changed something */
    private array $asked = [];

    /** When it was read ahead, in nanoseconds; 0: not yet. */
    private int $begun = 0;

    private bool $hasChanged = false;

    /**
     * @param string       $request what requests that read the same keys have in common
     * @param string       $prefix  what all keys begin with
     * @param list<string> $tags    of the list
     */
    public function __construct(
        private readonly Backend $backend,
        private readonly string $request,
        private readonly string $prefix,
        private readonly array $tags,
    ) {
        $this->place = "{$prefix}%prefetch:" . crc32($request) % self::LISTS;
        $this->nothing = new \stdClass();
    }

    public function get(string $key, mixed $absent, bool $anew = false): mixed
    {
        if ($this->begun !== 0 && ($anew || $this->ahead === [])) {
            $this->note([$key]);

            return $this->backend->get($key, $absent, $anew);
        }
        $values = $this->getMany([$key], $anew);

        return $values === [] ? $absent : reset($values);
    }

    public function getForChange(string $key, mixed $absent): array
    {
        return $this->backend->getForChange($key, $absent);
    }

    public function getMany(array $keys, bool $anew = false): array
    {
        $values = $this->begun === 0 && $keys !== [] ? $this->begin($keys) : [];
        if ($anew) {
            $this->ahead = array_diff_key($this->ahead, array_fill_keys($keys, true));
        } elseif ($this->ahead !== [] && hrtime(true) - $this->begun > self::LONGEST) {
            $this->ahead = [];
        }
        $this->note($keys);
        $unknown = [];
        foreach ($keys as $key) {
            if (\array_key_exists($key, $this->ahead)) {
                if ($this->ahead[$key] !== $this->nothing) {
                    $values[$key] = $this->ahead[$key];
                }
                unset($this->ahead[$key]);
            } else {
                $unknown[] = $key;
            }
        }

        return $unknown === [] ? $values : $values + $this->backend->getMany($unknown, $anew);
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
        foreach ($fills as $fill) {
            unset($this->ahead[$fill->key]);
        }

        return $this->backend->fill($fills);
    }

    public function set(string $key, mixed $value, ?int $ttl, array $tags, ?Token $token = null, int $version = 0): bool
    {
        return $this->changing()->set($key, $value, $ttl, $tags, $token, $version);
    }

    public function setMany(array $values, ?int $ttl, array $tags): void
    {
        $this->changing()->setMany($values, $ttl, $tags);
    }

    public function add(string $key, mixed $value, ?int $ttl, array $tags): ?bool
    {
        return $this->changing()->add($key, $value, $ttl, $tags);
    }

    public function has(string $key): ?bool
    {
        return $this->backend->has($key);
    }

    public function delete(array $keys): array
    {
        return $this->changing()->delete($keys);
    }

    public function count(string $key, int $by, array $tags): int|float|false|null
    {
        return $this->changing()->count($key, $by, $tags);
    }

    public function invalidate(array $tags, int $stale = 0): bool
    {
        return $this->changing()->invalidate($tags, $stale);
    }

    public function clear(): bool
    {
        return $this->changing()->clear();
    }

    public function trouble(): ?string
    {
        return $this->backend->trouble();
    }

    public function keys(string $prefix): iterable
    {
        foreach ($this->backend->keys($prefix) as $key) {
            if (!str_starts_with($key, "{$this->prefix}%")) {
                yield $key;
            }
        }
    }

    public function statistics(): array
    {
        return $this->backend->statistics();
    }

    /** Forgets what was read ahead. */
    public function forget(): void
    {
        $this->ahead = [];
        $this->hasChanged = $this->hasChanged || $this->begun !== 0;
    }

    /** Whether the list of this request is to be written, or written anew: so much was asked for beside it, or not at all. */
    public function hasLearned(): bool
    {
        $names = $this->names();
        $known = \count(array_intersect($names, $this->listed));
        $isShort = \count($names) - $known > max(self::FEWEST_NAMES - 1, intdiv(\count($this->listed), 20));

        // What a change has dropped may be asked for the next time.
        return $isShort || (!$this->hasChanged && $this->begun !== 0 && $known < \count($this->listed) >> 1);
    }

    /** Writes the list. */
    public function learn(): void
    {
        $names = $this->hasChanged ? array_unique([...$this->names(), ...$this->listed]) : $this->names();
        $beginning = \strlen($this->prefix);
        $names = array_map(static fn(string $name): string => substr($name, $beginning), \array_slice($names, 0, self::MOST_NAMES));
        $this->backend->set($this->place, [$this->request, ...$names], self::TTL, $this->tags);
    }

    /**
     * Reads the list together with what is asked for first, then what the list names.
     *
     * @param list<string> $keys
     *
     * @return array<array-key, mixed> of these keys, those found
     */
    private function begin(array $keys): array
    {
        $this->begun = hrtime(true);
        $values = $this->backend->getMany([$this->place, ...$keys]);
        $list = $values[$this->place] ?? null;
        unset($values[$this->place]);
        foreach ($keys as $key) {
            $this->ahead[$key] = \array_key_exists($key, $values) ? $values[$key] : $this->nothing;
        }
        if (\is_array($list) && array_shift($list) === $this->request) {
            foreach ($list as $name) {
                $this->listed[] = $this->prefix . (\is_string($name) ? $name : '');
            }
            $others = array_values(array_diff($this->listed, $keys));
            $this->ahead += $others === [] ? [] : $this->backend->getMany($others) + array_fill_keys($others, $this->nothing);
        }

        return [];
    }

    private function changing(): Backend
    {
        $this->forget();

        return $this->backend;
    }

    /** @param list<string> $keys */
    private function note(array $keys): void
    {
        foreach ($this->hasChanged ? [] : $keys as $key) {
            if (\count($this->asked) < self::MOST_NAMES) {
                $this->asked[$key] = true;
            }
        }
    }

    /** @return list<string> those that were asked for and may be read ahead */
    private function names(): array
    {
        $names = [];
        foreach (array_keys($this->asked) as $name) {
            $group = strstr(substr((string) $name, \strlen($this->prefix)), ':', true);
            if ($group !== false && ObjectCache::isOfDatabase($group)) {
                $names[] = (string) $name;
            }
        }

        return $names;
    }
}
