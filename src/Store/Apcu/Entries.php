<?php

declare(strict_types=1);

namespace Larder\Store\Apcu;

use Larder\Serializer\Payload;
use Larder\Store\Verdict;

/** The entries in APCu under the names of a prefix, and whether each is live. */
final class Entries
{
    /** How often an entry is looked at that others replace all the time. */
    private const LOOKS = 8;

    /**
     * @param string  $prefix  what begins the names of items
     * @param Payload $payload of what APCu's own serializer is not given
     */
    public function __construct(
        private readonly string $prefix,
        private readonly Payload $payload,
        private readonly TagVersions $clock,
        private readonly KeyVersions $keyVersions,
        private readonly Section $section,
    ) {}

    /** @return array{mixed, Verdict, array{int, list<string>, ?int}, ?string} the value; version, tags and mark; and the payload, if it lies there as one */
    public function look(string $key): array
    {
        for ($looks = 1; ; $looks++) {
            $found = $this->lookOnce($key);
            if ($found[1] !== Verdict::Dead || $found[2][2] === null || $looks === self::LOOKS || !$this->isReplaced($key, $found[2][2])) {
                return $found;
            }
        }
    }

    /** @return array{mixed, Verdict, array{int, list<string>, ?int}, ?string} */
    private function lookOnce(string $key): array
    {
        try {
            $value = apcu_fetch($this->prefix . $key, $found);
        } catch (\Throwable) {
            // A class inside that can no longer be made.
            $found = false;
        }
        if ($found !== true) {
            return [null, Verdict::Dead, [0, [], null], null];
        }
        $value ??= null;
        if (!\is_array($value) || ($value[0] ?? null) !== Wrapping::MARK) {
            return [$value, Verdict::Live, [0, [], null], null];
        }
        [$version, $tags, $mark] = [$value[3] ?? 0, $value[4] ?? [], $value[5] ?? null];
        $tags = \is_array($tags) ? array_values(array_filter($tags, is_string(...))) : [];

        $content = $this->unwrapped($value, $this);
        $payload = ($value[6] ?? false) === true && \is_string($value[2] ?? null) ? $value[2] : null;

        return [$content, $content === $this ? Verdict::Dead : $this->verdict($key, $value), [\is_int($version) ? $version : 0, $tags, \is_int($mark) ? $mark : null], $payload];
    }

    /** Whether there is something else by now than what was filled with that mark: a write removes the mark and stores its value in one moment. */
    private function isReplaced(string $key, int $mark): bool
    {
        try {
            $value = apcu_fetch($this->prefix . $key, $found);
        } catch (\Throwable) {
            return false;
        }

        return $found === true && (!\is_array($value) || ($value[0] ?? null) !== Wrapping::MARK || ($value[5] ?? null) !== $mark);
    }

    /**
     * @param array<mixed> $wrapped
     * @param mixed        $foreign for what can no longer be made
     */
    public function unwrapped(array $wrapped, mixed $foreign): mixed
    {
        $value = $wrapped[2] ?? null;

        return ($wrapped[6] ?? false) === true && \is_string($value) ? $this->payload->decode($value, $foreign) : $value;
    }

    /** @param array<mixed> $wrapped */
    public function verdict(string $key, array $wrapped): Verdict
    {
        $mark = $wrapped[5] ?? null;
        if ((isset($wrapped[1]) && (!\is_int($wrapped[1]) || $wrapped[1] <= time())) || ($mark !== null && !$this->keyVersions->isMarked($key, $mark))) {
            return Verdict::Dead;
        }
        $tags = $wrapped[4] ?? [];

        return \is_array($tags) && $tags !== [] ? $this->clock->verdict(array_values(array_filter($tags, is_string(...))), \is_int($wrapped[3] ?? null) ? $wrapped[3] : 0) : Verdict::Live;
    }

    /** @phpstan-impure another process may store or delete at any time */
    public function isLive(string $key): bool
    {
        return $this->look($key)[1] === Verdict::Live;
    }

    public function expiry(string $key): ?int
    {
        $name = $this->prefix . $key;
        $about = apcu_key_info($name);
        if ($about === null) {
            return null;
        }
        $ttl = self::number($about['ttl'] ?? null);
        if ($ttl === 0) {
            return null;
        }
        // APCu's clock may be any, but the value was fetched a moment ago by it. As its seconds begin at other
        // moments than ours, the last one is not counted; but what APCu still has in it is not dead.
        $left = self::number($about['creation_time'] ?? null) + $ttl - self::number($about['access_time'] ?? null);
        $expiry = time() + max(1, $left);
        if ($ttl > 1) {
            return $expiry;
        }
        $value = apcu_fetch($name);

        return \is_array($value) && ($value[0] ?? null) === Wrapping::MARK && \is_int($value[1] ?? null) ? $value[1] : $expiry;
    }

    /** @return array<string, bool> whether it is live, by name; dead ones stay in APCu until something needs their place */
    public function all(string $pattern): array
    {
        $clock = $this->section->name('clock');
        apcu_store($clock, true, 1);
        $now = self::number(apcu_key_info($clock)['creation_time'] ?? null);
        apcu_delete($clock);
        $entries = [];
        foreach (new \APCUIterator($pattern, \APC_ITER_KEY | \APC_ITER_CTIME | \APC_ITER_TTL) as $name => $about) {
            $ttl = self::number(\is_array($about) ? $about['ttl'] ?? null : null);
            $entries[$name] = $ttl === 0 || (\is_array($about) && self::number($about['creation_time'] ?? null) + $ttl >= $now);
            if ($entries[$name]) {
                $entries[$name] = $this->isLive(substr($name, \strlen($this->prefix)));
            }
        }

        return $entries;
    }

    /** What APCu tells of itself has no types. */
    public static function number(mixed $value): int
    {
        return \is_int($value) || \is_float($value) ? (int) $value : 0;
    }
}
