<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Item;
use Larder\Reads;
use Larder\SaveMode;
use Larder\Serializer\Contents;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Serializer\Refusal;
use Larder\Store;
use Larder\Store\Apcu\Changes;
use Larder\Store\Apcu\Entries;
use Larder\Store\Apcu\KeyVersions;
use Larder\Store\Apcu\Section;
use Larder\Store\Apcu\TagVersions;
use Larder\Store\Apcu\Wrapping;
use Larder\StoreStatistics;
use Larder\Token;

/**
 * Items in APCu: shared by the workers of one FPM master or web server, not by the command line, and gone
 * with a restart. All pools of one FPM master share one APCu, so give each site a prefix of its own.
 *
 * APCu can store nothing on condition that something else has not changed, without its one lock. So readers judge the items. The
 * items lie as Wrapping says. Beside them are names that begin with prefix!: the clock and the tags (see TagVersions), and the
 * key versions and marks that judge fills.
 *
 * A process that is killed while it holds APCu's lock blocks all others for good. This is a property of APCu. So a web server's
 * master should terminate its workers and not kill them.
 *
 * When its memory is full, APCu (with its default setting apc.ttl=0) drops everything it has.
 */
final class ApcuStore implements Store, Reads
{
    private const PRUNED_AT_ONCE = 1_000;

    private readonly string $prefix;

    private readonly string $pattern;

    /** What begins the names of all that is no item. */
    private readonly string $internal;

    // What follows is made when it is first needed: most requests read values that lie in APCu as they are.

    private ?Section $section = null;

    private ?TagVersions $clock = null;

    private ?KeyVersions $keyVersions = null;

    private ?Entries $entries = null;

    private ?Changes $changes = null;

    private ?Payload $payload = null;

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
    }

    /** Options: prefix. */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->withoutPath();
        $dsn->allow('prefix');

        return new self($dsn->text('prefix', Prefix::DEFAULT));
    }

    public function read(string $key, mixed $default = null, ?Fetched &$fetched = null): mixed
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

        if ($this->entries()->verdict($key, $value) === Verdict::Live) {
            return $this->entries()->unwrapped($value, $default);
        }
        // Others may have replaced it since it was fetched.
        [$value, $verdict] = $this->entries()->look($key);

        return $verdict === Verdict::Live ? $value : $default;
    }

    public function readMany(array $keys): Fetched
    {
        return $this->fetch($keys);
    }

    public function fetch(array $keys): Fetched
    {
        return $this->look($keys, $this->keyVersions()->token(...));
    }

    /**
     * The same as fetch(), with tokens that keep() alone judges by.
     *
     * @param list<string> $keys
     *
     * @throws StoreUnavailable
     */
    public function fetchCopies(array $keys): Fetched
    {
        return $this->look($keys, $this->keyVersions()->ofCopy(...));
    }

    /**
     * @param list<string>             $keys
     * @param \Closure(string): Token $token of a missing key
     */
    private function look(array $keys, \Closure $token): Fetched
    {
        $items = $tokens = $stale = [];
        foreach ($keys as $key) {
            [$value, $verdict, $wrapping] = $this->entries()->look($key);
            $expiry = $verdict === Verdict::Dead ? null : $this->entries()->expiry($key);
            if ($expiry !== null && $expiry <= time()) {
                $verdict = Verdict::Dead;
            }
            if ($verdict !== Verdict::Dead) {
                $item = Item::found($key, $value, $expiry, $wrapping[0], $wrapping[1]);
                $verdict === Verdict::Live ? $items[$key] = $item : $stale[$key] = $item;
            }
            if ($verdict !== Verdict::Live) {
                $tokens[$key] = $token($key);
            }
        }

        return new Fetched($items, $tokens, $stale);
    }

    public function token(string $key): Token
    {
        return $this->keyVersions()->token($key);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $told = [];
        foreach ($items as $i => $item) {
            // APCu would make objects without their class of what a process that has not got it reads, and warn of enums.
            if (Contents::needsClasses($item->key, $item->value)) {
                $told[$i] = $this->payload()->encode($item->key, $item->value);
            } elseif (\count($items) > 1) {
                self::trySerializing($item);
            }
        }
        $unsaved = [];
        foreach ($items as $i => $item) {
            try {
                $saved = $this->changes()->save($item, $mode, $told[$i] ?? null);
            } catch (Exception $failure) {
                throw $failure;
            } catch (\Throwable $failure) {
                throw Refusal::ofAnswer($item->key, [], $failure);
            }
            if (!$saved) {
                $unsaved[] = $item->key;
            }
        }

        return $unsaved;
    }

    /**
     * Adds copies of what a far store has told after fetchCopies() has given their tokens. A copy is refused if there is something live, or if its
     * key was changed since its token. That look and the storing are one moment. A copy is dead if one of its tags was invalidated since.
     *
     * A copy brings no new value, so it refuses no fill of another process. No miss is remembered for it: a key whose copy was refused is read from
     * the far store once more.
     *
     * @param list<Item>              $items  as the far store told them, which live
     * @param array<array-key, Token> $tokens by key
     * @param int                     $now    in Unix seconds: from then on their times to live are counted
     *
     * @throws Exception
     */
    public function keep(array $items, array $tokens, int $now): void
    {
        foreach ($items as $item) {
            try {
                $told = Contents::needsClasses($item->key, $item->value) ? $this->payload()->encode($item->key, $item->value) : null;
                $this->changes()->keep($item, $tokens[$item->key], $item->expiry === null ? null : $item->expiry - $now, $told);
            } catch (Exception $failure) {
                throw $failure;
            } catch (\Throwable $failure) {
                throw Refusal::ofAnswer($item->key, [], $failure);
            }
        }
    }

    /**
     * The same as delete() for keys under which there are only copies, whether or not anything was there.
     *
     * @param list<string> $keys
     */
    public function forget(array $keys): void
    {
        foreach ($keys as $key) {
            $this->changes()->forget($key);
        }
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $existed = [];
        foreach ($keys as $key) {
            if ($this->changes()->delete($key, $token)) {
                $existed[] = $key;
            }
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->changes()->increment($key, $by, $initial, $ttl);
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }
        $touched = [];
        foreach ($keys as $key) {
            if ($this->changes()->touch($key, $ttl)) {
                $touched[] = $key;
            }
        }

        return $touched;
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        if ($tags !== []) {
            $this->clock()->invalidate($tags, $serveStale);
        }
    }

    public function clear(): void
    {
        // First the mark by which everything is judged: an item in flight, or one not reached yet if this process is killed, is a miss.
        apcu_delete(new \APCUIterator('/^' . preg_quote($this->internal, '/') . '/', \APC_ITER_KEY));
        apcu_delete(new \APCUIterator($this->pattern, \APC_ITER_KEY));
    }

    public function prune(): int
    {
        $removed = 0;
        foreach ($this->entries()->all($this->pattern) as $name => $isLive) {
            if ($isLive) {
                continue;
            }
            // Under the lock, as another process may have stored a new value there since.
            $removed += $this->section()->atomically(function () use ($name): int {
                $live = apcu_exists($name) && $this->entries()->isLive(substr($name, \strlen($this->prefix)));

                return $live || !apcu_delete($name) ? 0 : 1;
            });
            if ($removed >= self::PRUNED_AT_ONCE) {
                break;
            }
        }
        if ($removed === 0) {
            $this->keyVersions()->prune($this->prefix);
        }

        return $removed;
    }

    public function keys(string $prefix = ''): iterable
    {
        $keys = [];
        foreach ($this->entries()->all('/^' . preg_quote($this->prefix . $prefix, '/') . '/') as $name => $isLive) {
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
        return [Capability::WholeClear, Capability::Tags, Capability::Tokens, Capability::Keys, Capability::Sharing];
    }

    /** Finds before anything of a batch is stored what APCu could not serialise. */
    private static function trySerializing(Item $item): void
    {
        if (\is_object($item->value) || \is_array($item->value)) {
            try {
                serialize($item->value);
            } catch (\Throwable $failure) {
                throw Refusal::ofAnswer($item->key, [], $failure);
            }
        }
    }

    private function section(): Section
    {
        return $this->section ??= new Section();
    }

    private function clock(): TagVersions
    {
        return $this->clock ??= new TagVersions($this->internal, $this->section());
    }

    private function keyVersions(): KeyVersions
    {
        return $this->keyVersions ??= new KeyVersions($this->internal, $this->clock(), $this->section());
    }

    private function entries(): Entries
    {
        return $this->entries ??= new Entries($this->prefix, $this->payload(), $this->clock(), $this->keyVersions(), $this->section());
    }

    private function changes(): Changes
    {
        return $this->changes ??= new Changes($this->prefix, $this->clock(), $this->keyVersions(), $this->entries(), $this->section());
    }

    /** Of what APCu's own serializer is not given. */
    private function payload(): Payload
    {
        return $this->payload ??= new Payload(new PhpSerializer());
    }
}
