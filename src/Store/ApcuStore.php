<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\DirectReads;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\SaveMode;
use Larder\Serializer\Contents;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in APCu: shared by the workers of one FPM master or web server, not by the command line, and gone
 * with a restart. All pools of one FPM master share one APCu, so give each site a prefix of its own.
 *
 * APCu counts whole seconds and lets an item live until one more has begun, so it is given one second less.
 * There is no zero to give to an item of one second (APCu takes that for "no end"): such a value is wrapped
 * together with its expiry.
 *
 * A process that is killed while it holds APCu's lock blocks all others for good: that is APCu, and why a web
 * server's master should be told to terminate its workers and not to kill them.
 *
 * When its memory is full, APCu (with its default setting apc.ttl=0) drops everything it has.
 */
final class ApcuStore implements Store, DirectReads
{
    private const WRAPPED = "\0larder: value with expiry";

    /** APCu counts in 32 bits with a sign; in seconds. */
    private const LONGEST = 2_000_000_000;

    private const PRUNED_AT_ONCE = 1_000;

    private readonly string $prefix;

    private readonly string $pattern;

    private readonly Token $token;

    private int $sections = 0;

    /** @throws Exception */
    public function __construct(string $prefix = Prefix::DEFAULT)
    {
        $this->prefix = Prefix::check($prefix);
        if (!\extension_loaded('apcu')) {
            throw ExtensionMissing::of('ApcuStore', 'apcu');
        }
        if (!apcu_enabled()) {
            throw InvalidOption::iniSetting(
                'ApcuStore',
                'APCu is disabled',
                \PHP_SAPI === 'cli' ? 'set apc.enabled=1 and apc.enable_cli=1' : 'set apc.enabled=1',
            );
        }
        if (\in_array(\ini_get('apc.use_request_time'), ['1', 'On', 'on'], true) && \PHP_SAPI === 'cli') {
            throw InvalidOption::iniSetting('ApcuStore', 'APCu\'s clock stands still on the command line', 'set apc.use_request_time=0');
        }
        $this->pattern = '/^' . preg_quote($this->prefix, '/') . '/';
        $this->token = new Token('', 0);
    }

    /** Options: prefix. */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->withoutPath();
        $dsn->allow('prefix');

        return new self($dsn->text('prefix', Prefix::DEFAULT));
    }

    public function read(string $key, mixed $default = null): mixed
    {
        try {
            $value = apcu_fetch($this->prefix . $key, $found);
        } catch (\Throwable) {
            // A class inside that can no longer be made.
            return $default;
        }
        if ($found !== true) {
            return $default;
        }

        return \is_array($value) && isset($value[0]) && $value[0] === self::WRAPPED ? self::unwrapped($value, $default) : $value;
    }

    public function fetch(array $keys): Fetched
    {
        $items = $tokens = [];
        foreach ($keys as $key) {
            $value = $this->read($key, $this);
            $expiry = $value === $this ? null : $this->expiry($key);
            if ($value === $this || ($expiry !== null && $expiry <= time())) {
                $tokens[$key] = $this->token;
            } else {
                $items[$key] = Item::found($key, $value, $expiry);
            }
        }

        return new Fetched($items, $tokens);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        foreach ($items as $item) {
            if ($item->tags !== []) {
                throw UnsupportedOperation::by('ApcuStore', Capability::Tags);
            }
            Contents::refuse($item->key, $item->value);
            if (\count($items) > 1) {
                self::trySerializing($item);
            }
        }
        $unsaved = [];
        foreach ($items as $item) {
            try {
                $saved = match (true) {
                    $item->ttl !== null && $item->ttl <= 0 => $this->saveDead($item->key, $mode),
                    $mode === SaveMode::Set => $this->store($item->key, $item->value, $item->ttl),
                    $mode === SaveMode::Add => $this->add($item->key, $item->value, $item->ttl),
                    default => $this->atomically(fn(): bool => $this->isLive($item->key)
                        && $this->store($item->key, $item->value, $item->ttl)),
                };
            } catch (Exception $failure) {
                throw $failure;
            } catch (\Throwable $failure) {
                throw Contents::unstorable($item->key, $item->value, $failure);
            }
            if (!$saved) {
                $unsaved[] = $item->key;
            }
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $existed = [];
        foreach ($keys as $key) {
            $live = $this->isLive($key);
            if (apcu_delete($this->prefix . $key) && $live) {
                $existed[] = $key;
            }
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $name = $this->prefix . $key;
        do {
            $value = apcu_fetch($name, $found);
            if ($found === true && \is_int($value)) {
                $sum = Counter::sum($key, $value, $by);
                if (apcu_cas($name, $value, $sum)) {
                    return $sum;
                }
                continue;
            }
            if ($found === true) {
                return $this->atomically(fn(): int => $this->incrementWrapped($key, $by, $initial, $ttl));
            }
            $sum = Counter::sum($key, $initial, $by);
            if (($ttl !== null && $ttl <= 0) || $this->add($key, $sum, $ttl)) {
                return $sum;
            }
            if (!$this->isLive($key) && !$this->store($key, $sum, $ttl)) {
                throw StoreUnavailable::because('APCu', 'its memory is full', 'raise apc.shm_size');
            }
        } while (true);
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }
        $touched = [];
        foreach ($keys as $key) {
            $this->atomically(function () use ($key, $ttl, &$touched): void {
                $value = $this->read($key, $this);
                if ($value !== $this) {
                    $this->store($key, $value, $ttl);
                    $touched[] = $key;
                }
            });
        }

        return $touched;
    }

    public function invalidateTags(array $tags): void
    {
        throw UnsupportedOperation::by('ApcuStore', Capability::Tags);
    }

    public function clear(): void
    {
        apcu_delete(new \APCUIterator($this->pattern, \APC_ITER_KEY));
    }

    public function prune(): int
    {
        $removed = 0;
        foreach ($this->entries($this->pattern) as $name => $isLive) {
            if ($isLive) {
                continue;
            }
            // Under the lock, as somebody may have stored a new value there since.
            $removed += $this->atomically(function () use ($name): int {
                $live = apcu_exists($name) && $this->isLive(substr($name, \strlen($this->prefix)));

                return $live || !apcu_delete($name) ? 0 : 1;
            });
            if ($removed >= self::PRUNED_AT_ONCE) {
                break;
            }
        }

        return $removed;
    }

    public function keys(string $prefix = ''): iterable
    {
        $keys = [];
        foreach ($this->entries('/^' . preg_quote($this->prefix . $prefix, '/') . '/') as $name => $isLive) {
            if ($isLive) {
                $keys[] = substr($name, \strlen($this->prefix));
            }
        }

        return $keys;
    }

    /** Of the whole APCu, which other prefixes share. */
    public function statistics(): StoreStatistics
    {
        $cache = apcu_cache_info(true);
        $memory = apcu_sma_info(true);
        if (!\is_array($cache) || !\is_array($memory)) {
            throw StoreUnavailable::because('APCu', 'it tells nothing about itself', 'look at its settings');
        }
        $capacity = self::number($memory['num_seg'] ?? null) * self::number($memory['seg_size'] ?? null);

        return new StoreStatistics(
            items: self::number($cache['num_entries'] ?? null),
            bytes: $capacity - self::number($memory['avail_mem'] ?? null),
            capacity: $capacity,
            hits: self::number($cache['num_hits'] ?? null),
            misses: self::number($cache['num_misses'] ?? null),
            details: ['expunges' => self::number($cache['expunges'] ?? null)],
        );
    }

    public function capabilities(): array
    {
        return [Capability::Keys, Capability::Sharing];
    }

    private static function number(mixed $value): int
    {
        return \is_int($value) || \is_float($value) ? (int) $value : 0;
    }

    private function store(string $key, mixed $value, ?int $ttl): bool
    {
        if (apcu_store($this->prefix . $key, self::wrapped($value, $ttl), self::apcuTtl($ttl))) {
            return true;
        }
        apcu_delete($this->prefix . $key);

        return false;
    }

    private function add(string $key, mixed $value, ?int $ttl): bool
    {
        $add = fn(): bool => apcu_add($this->prefix . $key, self::wrapped($value, $ttl), self::apcuTtl($ttl));
        if ($add()) {
            return true;
        }

        // What is in the way may be a wrapped value whose second is over.
        return !$this->isLive($key) && $this->atomically(fn(): bool => !$this->isLive($key)
            && apcu_delete($this->prefix . $key)
            && $add());
    }

    private function saveDead(string $key, SaveMode $mode): bool
    {
        if ($mode === SaveMode::Add) {
            return !$this->isLive($key);
        }

        return $this->delete([$key]) !== [] || $mode === SaveMode::Set;
    }

    private function incrementWrapped(string $key, int $by, int $initial, ?int $ttl): int
    {
        $value = $this->read($key, $this);
        if ($value === $this) {
            $sum = Counter::sum($key, $initial, $by);
            $this->store($key, $sum, $ttl);

            return $sum;
        }
        $sum = Counter::sum($key, $value, $by);
        $wrapped = apcu_fetch($this->prefix . $key);
        apcu_store($this->prefix . $key, \is_array($wrapped) ? [self::WRAPPED, $wrapped[1] ?? null, $sum] : $sum, 1);

        return $sum;
    }

    /** @phpstan-impure somebody else may store or delete at any time */
    private function isLive(string $key): bool
    {
        return $this->read($key, $this) !== $this;
    }

    private function expiry(string $key): ?int
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
        // moments than ours, the last one is not counted: never later than true.
        $expiry = time() + self::number($about['creation_time'] ?? null) + $ttl - self::number($about['access_time'] ?? null);
        if ($ttl > 1) {
            return $expiry;
        }
        $value = apcu_fetch($name);

        return \is_array($value) && ($value[0] ?? null) === self::WRAPPED && \is_int($value[1] ?? null) ? $value[1] : $expiry;
    }

    /** @return array<string, bool> whether it is live, by name; dead ones stay in APCu until something needs their place */
    private function entries(string $pattern): array
    {
        $clock = 'larder-clock:' . getmypid();
        apcu_store($clock, true, 1);
        $now = self::number(apcu_key_info($clock)['creation_time'] ?? null);
        apcu_delete($clock);
        $entries = [];
        foreach (new \APCUIterator($pattern, \APC_ITER_KEY | \APC_ITER_CTIME | \APC_ITER_TTL) as $name => $about) {
            $ttl = self::number(\is_array($about) ? $about['ttl'] ?? null : null);
            $entries[$name] = $ttl === 0 || (\is_array($about) && self::number($about['creation_time'] ?? null) + $ttl >= $now);
            if ($ttl === 1 && $entries[$name]) {
                $entries[$name] = $this->isLive(substr($name, \strlen($this->prefix)));
            }
        }

        return $entries;
    }

    private static function apcuTtl(?int $ttl): int
    {
        return $ttl === null || $ttl > Ttl::LONGEST ? 0 : max(1, min($ttl - 1, self::LONGEST));
    }

    /** Wraps what lives for one second, and what would be taken for a wrapping. */
    private static function wrapped(mixed $value, ?int $ttl): mixed
    {
        return $ttl === 1 || (\is_array($value) && ($value[0] ?? null) === self::WRAPPED)
            ? [self::WRAPPED, Ttl::expiry($ttl === 1 ? 1 : null, time()), $value]
            : $value;
    }

    /** @param array<mixed> $wrapped */
    private static function unwrapped(array $wrapped, mixed $default): mixed
    {
        $expiry = $wrapped[1] ?? null;

        return $expiry === null || $expiry > time() ? $wrapped[2] ?? null : $default;
    }

    /** Finds before anything of a batch is stored what APCu could not serialise. */
    private static function trySerializing(Item $item): void
    {
        if (\is_object($item->value) || \is_array($item->value)) {
            try {
                serialize($item->value);
            } catch (\Throwable $failure) {
                throw Contents::unstorable($item->key, $item->value, $failure);
            }
        }
    }

    /**
     * Runs something with APCu's own lock held: apcu_entry() holds it while it asks for a missing value,
     * and what is called meanwhile in this process does not take it again.
     *
     * @template T
     *
     * @param \Closure(): T $section
     *
     * @return T
     */
    private function atomically(\Closure $section): mixed
    {
        $name = "larder-lock:{$this->prefix}" . getmypid() . ':' . spl_object_id($this) . ':' . ++$this->sections;
        $result = null;
        $ran = apcu_entry($name, static function () use ($section, &$result): bool {
            $result = $section();

            return true;
        }, 1);
        apcu_delete($name);
        if ($ran !== true) {
            throw StoreUnavailable::because('APCu', 'it did not run an atomic section', 'upgrade APCu to 5.1 or later');
        }

        /** @var T $result */
        return $result;
    }
}
