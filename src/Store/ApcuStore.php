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
use Larder\Process;
use Larder\SaveMode;
use Larder\Serializer\Contents;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
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
 * Nothing can be stored in APCu on condition that something else has not changed, without its one lock. So what is judged
 * is judged by readers. Beside the items are, under names that begin with prefix!,
 *
 *     clock       a counter that begins at the machine's monotonic time, and so is never lower than it was
 *     g<n>        a guard, shared by keys whose hashes are alike: the tick at which a miss found none (see beginGuard)
 *     k<key>      the mark of a filled item
 *     i           the tick of the last invalidation of a tag, that before which nothing is known, and which slots there are
 *     t<n>        a slot of tags (see TagSlot)
 *
 * A write or delete removes the guard, then the mark, then it stores or removes the item. A fill first puts a mark that
 * nobody had before, or takes the one that is there; then it looks whether the guard is there and not younger than its
 * token; then it stores the value with the mark's name in it, which every reader compares with the mark. If a delete
 * comes in between, either the fill finds no guard, or the delete finds the mark: what a process that was stopped there
 * stores an hour later is a miss. Whatever of all this is lost, is a miss or a refusal.
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

    /** How often something is tried that others may be trying, too; then it is as good as lost. */
    private const TRIES = 8;

    /** A power of two. */
    private const GUARDS = 2_048;

    private readonly string $prefix;

    private readonly string $pattern;

    /** What begins the names of all that is no item. */
    private readonly string $internal;

    /** In names that no other process may use at the same time, where its number cannot be had. */
    private readonly string $own;

    private int $sections = 0;

    /** Of what APCu's own serializer is not given: see Writer. */
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
        $this->own = bin2hex(random_bytes(8));
        $this->payload = new Payload(new PhpSerializer());
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

        if (!\is_array($value) || !isset($value[0]) || $value[0] !== self::WRAPPED) {
            return $value;
        }

        return $this->verdict($key, $value) === Verdict::Live ? $this->unwrapped($value, $default) : $default;
    }

    public function fetch(array $keys): Fetched
    {
        $items = $tokens = $stale = [];
        foreach ($keys as $key) {
            [$value, $verdict, $wrapping] = $this->look($key);
            $expiry = $verdict === Verdict::Dead ? null : $this->expiry($key);
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
        $this->beginGuard($this->guard($key));
        $this->beginTags();

        return new Token($this->internal, $this->now());
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $told = [];
        foreach ($items as $i => $item) {
            if (Contents::check($item->key, $item->value)) {
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
                    ? $this->atomically(fn(): bool => $this->saveOne($item, $mode, $told[$i] ?? null))
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
            if ($token !== null && !$this->hasNotMoved($key, $token)) {
                continue;
            }
            $live = $this->isLive($key);
            $this->moveGuard($key);
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
            apcu_delete($this->guard($key));
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
            if (($ttl !== null && $ttl <= 0) || $this->add($key, self::wrapped($sum, $ttl), $ttl)) {
                return $sum;
            }
            if (!$this->isLive($key) && !$this->store($key, self::wrapped($sum, $ttl), $ttl)) {
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
                [$value, $verdict, $wrapping] = $this->look($key);
                if ($verdict === Verdict::Live) {
                    if ($wrapping[2] !== null) {
                        apcu_store($this->mark($key), $wrapping[2], self::apcuTtl($ttl));
                    }
                    $this->store($key, self::wrapped($value, $ttl, ...$wrapping), $ttl);
                    $touched[] = $key;
                }
            });
        }

        return $touched;
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        if ($tags === []) {
            return;
        }
        $this->atomically(function () use ($tags, $serveStale): void {
            $tick = $this->tick();
            $this->beginTags();
            [, $base, $bits] = $this->lastInvalidation() ?? [0, $tick, str_repeat("\0", TagSlot::SLOTS >> 3)];
            foreach ($tags as $tag) {
                [$slot, $name] = TagSlot::place($tag);
                $bytes = apcu_fetch("{$this->internal}t{$slot}");
                $bytes = \is_string($bytes) ? $bytes : TagSlot::made(self::has($bits, $slot) ? $tick - 1 : $base);
                $stamp = TagSlot::stamp($bytes, $name)->invalidated($tick, $serveStale, time());
                if (!apcu_store("{$this->internal}t{$slot}", TagSlot::with($bytes, $name, $stamp))) {
                    throw StoreUnavailable::because('APCu', 'its memory is full', 'raise apc.shm_size');
                }
                $bits[$slot >> 3] = \chr(\ord($bits[$slot >> 3]) | 1 << ($slot & 7));
            }
            if (!apcu_store("{$this->internal}i", pack('J2', $tick, $base) . $bits)) {
                throw StoreUnavailable::because('APCu', 'its memory is full', 'raise apc.shm_size');
            }
        });
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
        $marks = "{$this->internal}k";
        foreach ($removed > 0 ? [] : new \APCUIterator('/^' . preg_quote($marks, '/') . '/', \APC_ITER_KEY) as $name => $about) {
            // A mark without an item is at worst that of a fill under way, which is then a miss.
            if (!apcu_exists($this->prefix . substr($name, \strlen($marks)))) {
                apcu_delete($name);
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
        return [Capability::Tags, Capability::Tokens, Capability::Keys, Capability::Sharing];
    }

    private static function number(mixed $value): int
    {
        return \is_int($value) || \is_float($value) ? (int) $value : 0;
    }

    /** @param mixed $value wrapped where it has to be */
    private function store(string $key, mixed $value, ?int $ttl): bool
    {
        if (apcu_store($this->prefix . $key, $value, self::apcuTtl($ttl))) {
            return true;
        }
        apcu_delete($this->prefix . $key);

        return false;
    }

    /** @param mixed $value wrapped where it has to be */
    private function add(string $key, mixed $value, ?int $ttl): bool
    {
        $add = fn(): bool => apcu_add($this->prefix . $key, $value, self::apcuTtl($ttl));
        if ($add()) {
            return true;
        }

        // What is in the way may be dead without APCu knowing it.
        return !$this->isLive($key) && $this->atomically(fn(): bool => !$this->isLive($key)
            && apcu_delete($this->prefix . $key)
            && $add());
    }

    /** @param ?string $told the payload of a value whose objects were asked what they are made of */
    private function saveOne(Item $item, SaveMode $mode, ?string $told): bool
    {
        $may = $mode === SaveMode::Set || $this->isLive($item->key) === ($mode === SaveMode::Replace);
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
            $this->moveGuard($item->key);
        }
        if ($isDead) {
            $mode === SaveMode::Add || apcu_delete($this->prefix . $item->key);

            return true;
        }
        $mark = null;
        if ($item->fill && $item->token !== null) {
            $mark = $this->marked($item->key, $item->ttl);
            if ($mark === null || !$this->hasNotMoved($item->key, $item->token)) {
                apcu_delete($this->mark($item->key));

                return false;
            }
        }
        if ($item->tags !== []) {
            $this->beginTags();
        }
        $value = self::wrapped($told ?? $item->value, $item->ttl, $item->token->clock ?? ($item->tags === [] ? 0 : $this->now()), $item->tags, $mark, $told !== null);

        return match ($mode) {
            SaveMode::Set => $this->store($item->key, $value, $item->ttl),
            SaveMode::Add => $this->add($item->key, $value, $item->ttl),
            SaveMode::Replace => $this->atomically(function () use ($item, $value): bool {
                $lives = $this->isLive($item->key);
                if (!$item->fill) {
                    // Not before, as an item that was filled dies of it.
                    $this->moveGuard($item->key);
                }

                return $lives && $this->store($item->key, $value, $item->ttl);
            }),
        };
    }

    /** @return array{mixed, Verdict, array{int, list<string>, ?int}} the value; and stamp, tags and mark */
    private function look(string $key): array
    {
        try {
            $value = apcu_fetch($this->prefix . $key, $found);
        } catch (\Throwable) {
            // A class inside that can no longer be made.
            $found = false;
        }
        if ($found !== true) {
            return [null, Verdict::Dead, [0, [], null]];
        }
        $value ??= null;
        if (!\is_array($value) || ($value[0] ?? null) !== self::WRAPPED) {
            return [$value, Verdict::Live, [0, [], null]];
        }
        [$stamp, $tags, $mark] = [$value[3] ?? 0, $value[4] ?? [], $value[5] ?? null];
        $tags = \is_array($tags) ? array_values(array_filter($tags, is_string(...))) : [];

        $content = $this->unwrapped($value, $this);

        return [$content, $content === $this ? Verdict::Dead : $this->verdict($key, $value), [\is_int($stamp) ? $stamp : 0, $tags, \is_int($mark) ? $mark : null]];
    }

    /**
     * @param array<mixed> $wrapped
     * @param mixed        $foreign for what can no longer be made
     */
    private function unwrapped(array $wrapped, mixed $foreign): mixed
    {
        $value = $wrapped[2] ?? null;

        return ($wrapped[6] ?? false) === true && \is_string($value) ? $this->payload->decode($value, $foreign) : $value;
    }

    /** @param array<mixed> $wrapped */
    private function verdict(string $key, array $wrapped): Verdict
    {
        $mark = $wrapped[5] ?? null;
        if ((isset($wrapped[1]) && $wrapped[1] <= time()) || ($mark !== null && apcu_fetch($this->mark($key)) !== $mark)) {
            return Verdict::Dead;
        }
        $tags = $wrapped[4] ?? [];

        return \is_array($tags) && $tags !== [] ? $this->tagged(array_values(array_filter($tags, is_string(...))), \is_int($wrapped[3] ?? null) ? $wrapped[3] : 0) : Verdict::Live;
    }

    /** @param list<string> $tags */
    private function tagged(array $tags, int $stamp): Verdict
    {
        $last = $this->lastInvalidation();
        if ($last === null || $stamp < $last[1]) {
            return Verdict::Dead;
        }
        $verdict = Verdict::Live;
        foreach ($stamp >= $last[0] ? [] : $tags as $tag) {
            [$slot, $name] = TagSlot::place($tag);
            if (self::has($last[2], $slot)) {
                $bytes = apcu_fetch("{$this->internal}t{$slot}");
                $verdict = $verdict->and(\is_string($bytes) ? TagSlot::stamp($bytes, $name)->verdict($stamp, time()) : Verdict::Dead);
            }
        }

        return $verdict;
    }

    /** @return ?array{int, int, string} its tick, the tick before which nothing is known, and which slots there are */
    private function lastInvalidation(): ?array
    {
        $bytes = apcu_fetch("{$this->internal}i");
        $ticks = \is_string($bytes) ? unpack('J2', $bytes) : false;

        return \is_string($bytes) && $ticks !== false && \is_int($ticks[1]) && \is_int($ticks[2]) ? [$ticks[1], $ticks[2], substr($bytes, 16)] : null;
    }

    private function beginTags(): void
    {
        $name = "{$this->internal}i";
        if (!apcu_exists($name)) {
            $this->atomically(function () use ($name): void {
                $now = $this->tick();
                apcu_add($name, pack('J2', $now, $now) . str_repeat("\0", TagSlot::SLOTS >> 3));
            });
        }
    }

    /**
     * A guard has to be younger than every token that was given out before it was there. So it first gets a number below
     * zero that nobody else uses, which refuses, and then, if that is still there, the tick of the moment.
     */
    private function beginGuard(string $guard): void
    {
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $there = apcu_fetch($guard);
            if (\is_int($there) && $there > 0) {
                return;
            }
            \is_int($there) ? apcu_cas($guard, $there, $this->tick()) : apcu_add($guard, -$this->tick());
        }
    }

    private static function has(string $bits, int $slot): bool
    {
        return (\ord($bits[$slot >> 3]) & 1 << ($slot & 7)) !== 0;
    }

    private function isCurrent(Item $item): bool
    {
        $token = $item->token;

        return $token === null || ($this->hasNotMoved($item->key, $token)
            && ($item->tags === [] || $this->tagged($item->tags, $token->clock) === Verdict::Live));
    }

    private function hasNotMoved(string $key, Token $token): bool
    {
        $guard = apcu_fetch($this->guard($key));

        return $token->epoch === $this->internal && \is_int($guard) && $guard > 0 && $guard <= $token->clock;
    }

    private function moveGuard(string $key): void
    {
        apcu_delete($this->guard($key));
        apcu_delete($this->mark($key));
    }

    private function guard(string $key): string
    {
        return "{$this->internal}g" . (crc32($key) & self::GUARDS - 1);
    }

    private function mark(string $key): string
    {
        return "{$this->internal}k{$key}";
    }

    /** The mark of a key's fills, made if there is none; null: it cannot be. */
    private function marked(string $key, ?int $ttl): ?int
    {
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $mark = $this->tick();
            if (apcu_add($this->mark($key), $mark, self::apcuTtl($ttl))) {
                return $mark;
            }
            $there = apcu_fetch($this->mark($key));
            if (\is_int($there) && $this->prolong($this->mark($key), $there, $ttl)) {
                return $there;
            }
        }

        return null;
    }

    /**
     * What is filled while an older fill lives must not die with the older one's mark; and a mark that was removed
     * meanwhile must not come back.
     */
    private function prolong(string $mark, int $there, ?int $ttl): bool
    {
        return $this->atomically(static fn(): bool => apcu_fetch($mark) === $there && apcu_store($mark, $there, self::apcuTtl($ttl)));
    }

    private function now(): int
    {
        $now = apcu_fetch("{$this->internal}clock");

        return \is_int($now) ? $now : $this->tick();
    }

    /** The next tick, which nobody else gets. */
    private function tick(): int
    {
        $clock = "{$this->internal}clock";
        for ($tries = 0; ; $tries++) {
            $now = apcu_fetch($clock);
            if (\is_int($now)) {
                if (apcu_cas($clock, $now, $now + 1)) {
                    return $now + 1;
                }
            } elseif ($tries > 100) {
                throw StoreUnavailable::because('APCu', 'its memory is full', 'raise apc.shm_size');
            } else {
                apcu_add($clock, (int) hrtime(true));
            }
        }
    }

    private function incrementWrapped(string $key, int $by, int $initial, ?int $ttl): int
    {
        [$value, $verdict, $wrapping] = $this->look($key);
        $sum = Counter::sum($key, $verdict === Verdict::Live ? $value : $initial, $by);
        $expiry = $verdict === Verdict::Live ? $this->expiry($key) : null;
        $this->moveGuard($key);
        if ($verdict !== Verdict::Live) {
            $ttl !== null && $ttl <= 0 ? apcu_delete($this->prefix . $key) : $this->store($key, self::wrapped($sum, $ttl), $ttl);

            return $sum;
        }
        $wrapped = apcu_fetch($this->prefix . $key);
        $until = \is_array($wrapped) ? $wrapped[1] ?? null : null;
        apcu_store($this->prefix . $key, [self::WRAPPED, $until ?? $expiry, $sum, $wrapping[0], $wrapping[1], null], self::apcuTtl($expiry === null ? null : max(2, $expiry - time() + 1)));

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
        // moments than ours, the last one is not counted; but what APCu still has in it is not dead.
        $left = self::number($about['creation_time'] ?? null) + $ttl - self::number($about['access_time'] ?? null);
        $expiry = time() + max(1, $left);
        if ($ttl > 1) {
            return $expiry;
        }
        $value = apcu_fetch($name);

        return \is_array($value) && ($value[0] ?? null) === self::WRAPPED && \is_int($value[1] ?? null) ? $value[1] : $expiry;
    }

    /** @return array<string, bool> whether it is live, by name; dead ones stay in APCu until something needs their place */
    private function entries(string $pattern): array
    {
        $clock = "larder-clock:{$this->own}:" . Process::id();
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

    private static function apcuTtl(?int $ttl): int
    {
        return $ttl === null || $ttl > Ttl::LONGEST ? 0 : max(1, min($ttl - 1, self::LONGEST));
    }

    /**
     * Wraps what has tags or a mark, what lives for one second, payloads, and what would be taken for a wrapping.
     *
     * @param list<string> $tags
     */
    private static function wrapped(mixed $value, ?int $ttl, int $stamp = 0, array $tags = [], ?int $mark = null, bool $isPayload = false): mixed
    {
        return $isPayload || $mark !== null || $tags !== [] || $ttl === 1 || (\is_array($value) && ($value[0] ?? null) === self::WRAPPED)
            ? [self::WRAPPED, Ttl::expiry($ttl === 1 ? 1 : null, time()), $value, $stamp, $tags, $mark, $isPayload]
            : $value;
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
        $name = "larder-lock:{$this->own}:" . Process::id() . ':' . ++$this->sections;
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
