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
use Larder\Fetched;
use Larder\Item;
use Larder\SaveMode;
use Larder\Serializer\Contents;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\Store\Apcu\Clock;
use Larder\Store\Apcu\Entries;
use Larder\Store\Apcu\Guards;
use Larder\Store\Apcu\Section;
use Larder\Store\Apcu\Wrapping;
use Larder\StoreStatistics;
use Larder\Token;

/**
 * Items in APCu: shared by the workers of one FPM master or web server, not by the command line, and gone
 * with a restart. All pools of one FPM master share one APCu, so give each site a prefix of its own.
 *
 * Nothing can be stored in APCu on condition that something else has not changed, without its one lock. So what is judged
 * is judged by readers. Beside the items, which lie as Wrapping says, are under names that begin with prefix! the clock
 * and the tags (see Clock), and the guards and marks by which fills are judged (see Guards).
 *
 * A process that is killed while it holds APCu's lock blocks all others for good: that is APCu, and why a web
 * server's master should be told to terminate its workers and not to kill them.
 *
 * When its memory is full, APCu (with its default setting apc.ttl=0) drops everything it has.
 */
final class ApcuStore implements Store, DirectReads
{
    private const PRUNED_AT_ONCE = 1_000;

    private readonly string $prefix;

    private readonly string $pattern;

    /** What begins the names of all that is no item. */
    private readonly string $internal;

    private readonly Section $section;

    private readonly Clock $clock;

    private readonly Guards $guards;

    private readonly Entries $entries;

    /** Of what APCu's own serializer is not given. */
    private readonly Payload $payload;

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
        $this->internal = substr($this->prefix, 0, -1) . '!';
        $this->section = new Section();
        $this->clock = new Clock($this->internal, $this->section);
        $this->guards = new Guards($this->internal, $this->clock, $this->section);
        $this->payload = new Payload(new PhpSerializer());
        $this->entries = new Entries($this->prefix, $this->payload, $this->clock, $this->guards, $this->section);
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

        if (!\is_array($value) || !isset($value[0]) || $value[0] !== Wrapping::MARK) {
            return $value;
        }

        return $this->entries->verdict($key, $value) === Verdict::Live ? $this->entries->unwrapped($value, $default) : $default;
    }

    public function fetch(array $keys): Fetched
    {
        $items = $tokens = $stale = [];
        foreach ($keys as $key) {
            [$value, $verdict, $wrapping] = $this->entries->look($key);
            $expiry = $verdict === Verdict::Dead ? null : $this->entries->expiry($key);
            if ($expiry !== null && $expiry <= time()) {
                $verdict = Verdict::Dead;
            }
            if ($verdict !== Verdict::Dead) {
                $item = Item::found($key, $value, $expiry, $wrapping[0], $wrapping[1]);
                $verdict === Verdict::Live ? $items[$key] = $item : $stale[$key] = $item;
            }
            if ($verdict !== Verdict::Live) {
                $tokens[$key] = $this->token($key);
            }
        }

        return new Fetched($items, $tokens, $stale);
    }

    public function token(string $key): Token
    {
        return $this->guards->token($key);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $told = [];
        foreach ($items as $i => $item) {
            // APCu would make objects without their class of what a process that has not got it reads, and warn of enums.
            if (Contents::needsClasses($item->key, $item->value)) {
                $told[$i] = $this->payload->encode($item->key, $item->value);
            } elseif (\count($items) > 1) {
                self::trySerializing($item);
            }
        }
        $unsaved = [];
        foreach ($items as $i => $item) {
            try {
                // New truth that was made from something else is judged and stored in one moment, which is rare enough.
                $saved = $item->token !== null && !$item->fill
                    ? $this->section->atomically(fn(): bool => $this->saveOne($item, $mode, $told[$i] ?? null))
                    : $this->saveOne($item, $mode, $told[$i] ?? null);
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
            if ($token !== null && !$this->guards->hasNotMoved($key, $token)) {
                continue;
            }
            $live = $this->entries->isLive($key);
            $this->guards->move($key);
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
            $this->guards->refuse($key);
            $value = apcu_fetch($name, $found);
            if ($found === true && \is_int($value)) {
                $sum = Counter::sum($key, $value, $by);
                if (apcu_cas($name, $value, $sum)) {
                    return $sum;
                }
                continue;
            }
            if ($found === true) {
                return $this->section->atomically(fn(): int => $this->incrementWrapped($key, $by, $initial, $ttl));
            }
            $sum = Counter::sum($key, $initial, $by);
            if (($ttl !== null && $ttl <= 0) || $this->add($key, Wrapping::of($sum, $ttl), $ttl)) {
                return $sum;
            }
            if (!$this->entries->isLive($key) && !$this->store($key, Wrapping::of($sum, $ttl), $ttl)) {
                throw Clock::full();
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
            $this->section->atomically(function () use ($key, $ttl, &$touched): void {
                [$value, $verdict, $wrapping, $payload] = $this->entries->look($key);
                if ($verdict === Verdict::Live) {
                    if ($wrapping[2] !== null) {
                        $this->guards->markAgain($key, $wrapping[2], $ttl);
                    }
                    // What APCu's own serializer was not given, it is not given now either.
                    $this->store($key, Wrapping::of($payload ?? $value, $ttl, $wrapping[0], $wrapping[1], $wrapping[2], $payload !== null), $ttl);
                    $touched[] = $key;
                }
            });
        }

        return $touched;
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        if ($tags !== []) {
            $this->clock->invalidate($tags, $serveStale);
        }
    }

    public function clear(): void
    {
        // First what everything is judged by: what is under way, or not reached yet if this process is killed, is a miss.
        apcu_delete(new \APCUIterator('/^' . preg_quote($this->internal, '/') . '/', \APC_ITER_KEY));
        apcu_delete(new \APCUIterator($this->pattern, \APC_ITER_KEY));
    }

    public function prune(): int
    {
        $removed = 0;
        foreach ($this->entries->all($this->pattern) as $name => $isLive) {
            if ($isLive) {
                continue;
            }
            // Under the lock, as somebody may have stored a new value there since.
            $removed += $this->section->atomically(function () use ($name): int {
                $live = apcu_exists($name) && $this->entries->isLive(substr($name, \strlen($this->prefix)));

                return $live || !apcu_delete($name) ? 0 : 1;
            });
            if ($removed >= self::PRUNED_AT_ONCE) {
                break;
            }
        }
        if ($removed === 0) {
            $this->guards->prune($this->prefix);
        }

        return $removed;
    }

    public function keys(string $prefix = ''): iterable
    {
        $keys = [];
        foreach ($this->entries->all('/^' . preg_quote($this->prefix . $prefix, '/') . '/') as $name => $isLive) {
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
        $capacity = Entries::number($memory['num_seg'] ?? null) * Entries::number($memory['seg_size'] ?? null);

        return new StoreStatistics(
            items: Entries::number($cache['num_entries'] ?? null),
            bytes: $capacity - Entries::number($memory['avail_mem'] ?? null),
            capacity: $capacity,
            hits: Entries::number($cache['num_hits'] ?? null),
            misses: Entries::number($cache['num_misses'] ?? null),
            details: ['expunges' => Entries::number($cache['expunges'] ?? null)],
        );
    }

    public function capabilities(): array
    {
        return [Capability::Tags, Capability::Tokens, Capability::Keys, Capability::Sharing];
    }

    /** @param mixed $value wrapped where it has to be */
    private function store(string $key, mixed $value, ?int $ttl): bool
    {
        if (apcu_store($this->prefix . $key, $value, Wrapping::ttl($ttl))) {
            return true;
        }
        apcu_delete($this->prefix . $key);

        return false;
    }

    /** @param mixed $value wrapped where it has to be */
    private function add(string $key, mixed $value, ?int $ttl): bool
    {
        $add = fn(): bool => apcu_add($this->prefix . $key, $value, Wrapping::ttl($ttl));
        if ($add()) {
            return true;
        }

        // What is in the way may be dead without APCu knowing it.
        return !$this->entries->isLive($key) && $this->section->atomically(fn(): bool => !$this->entries->isLive($key)
            && apcu_delete($this->prefix . $key)
            && $add());
    }

    /** @param ?string $told the payload of a value with objects of a user's classes */
    private function saveOne(Item $item, SaveMode $mode, ?string $told): bool
    {
        $may = $mode === SaveMode::Set || $this->entries->isLive($item->key) === ($mode === SaveMode::Replace);
        if (!$may) {
            return false;
        }
        if (!$this->isCurrent($item)) {
            if ($mode === SaveMode::Set) {
                apcu_delete($this->prefix . $item->key);
            }

            return false;
        }
        $isDead = $item->ttl !== null && $item->ttl <= 0;
        if (!$item->fill && ($isDead || $mode !== SaveMode::Replace)) {
            $this->guards->move($item->key);
        }
        if ($isDead) {
            $mode === SaveMode::Add || apcu_delete($this->prefix . $item->key);

            return true;
        }
        $mark = null;
        if ($item->fill && $item->token !== null) {
            $mark = $this->guards->marked($item->key, $item->ttl);
            if ($mark === null || !$this->guards->hasNotMoved($item->key, $item->token)) {
                $this->guards->unmark($item->key);

                return false;
            }
        }
        if ($item->tags !== []) {
            $this->clock->beginTags();
        }
        $value = Wrapping::of($told ?? $item->value, $item->ttl, $item->token->clock ?? ($item->tags === [] ? 0 : $this->clock->now()), $item->tags, $mark, $told !== null);

        return match ($mode) {
            SaveMode::Set => $this->store($item->key, $value, $item->ttl),
            SaveMode::Add => $this->add($item->key, $value, $item->ttl),
            SaveMode::Replace => $this->section->atomically(function () use ($item, $value): bool {
                $lives = $this->entries->isLive($item->key);
                if (!$item->fill) {
                    // Not before, as an item that was filled dies of it.
                    $this->guards->move($item->key);
                }

                return $lives && $this->store($item->key, $value, $item->ttl);
            }),
        };
    }

    private function isCurrent(Item $item): bool
    {
        $token = $item->token;

        return $token === null || ($this->guards->hasNotMoved($item->key, $token)
            && ($item->tags === [] || $this->clock->verdict($item->tags, $token->clock) === Verdict::Live));
    }

    private function incrementWrapped(string $key, int $by, int $initial, ?int $ttl): int
    {
        [$value, $verdict, $wrapping] = $this->entries->look($key);
        $sum = Counter::sum($key, $verdict === Verdict::Live ? $value : $initial, $by);
        $expiry = $verdict === Verdict::Live ? $this->entries->expiry($key) : null;
        $this->guards->move($key);
        if ($verdict !== Verdict::Live) {
            $ttl !== null && $ttl <= 0 ? apcu_delete($this->prefix . $key) : $this->store($key, Wrapping::of($sum, $ttl), $ttl);

            return $sum;
        }
        $wrapped = apcu_fetch($this->prefix . $key);
        $until = \is_array($wrapped) ? $wrapped[1] ?? null : null;
        apcu_store($this->prefix . $key, [Wrapping::MARK, $until ?? $expiry, $sum, $wrapping[0], $wrapping[1], null], Wrapping::ttl($expiry === null ? null : max(2, $expiry - time() + 1)));

        return $sum;
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
}
