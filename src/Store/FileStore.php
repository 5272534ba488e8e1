<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\SaveMode;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in files: page caches, and anything large.
 *
 *     directory/secret          32 random bytes, made when first needed
 *     directory/ab/.lock        held by whoever changes something in ab/
 *     directory/ab/cdef…        one item, named by a hash of its key; the key itself is inside and compared
 *
 *     item = "Ldr1" expiry:8 key-length:4 payload-length:8 mac:32 key payload
 *
 * A reader takes no lock: files are written under a temporary name and renamed. What has to be unserialised
 * carries a MAC made with the secret, and is not touched if that does not match; so somebody who finds a way
 * to put a file here still cannot make PHP unserialise it.
 *
 * The directory is made for its owner alone (0700). One that everyone may write to is refused.
 */
final class FileStore implements Store
{
    private const MAGIC = 'Ldr1';

    private const HEADER = 56;

    private const NO_MAC = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    private const SECRET_BYTES = 32;

    private const PRUNED_SHARDS_AT_ONCE = 16;

    /** Seconds after which a temporary file's writer must be dead. */
    private const ABANDONED = 3_600;

    private readonly string $directory;

    private readonly Token $token;

    private readonly \stdClass $foreign;

    private ?string $secret = null;

    private int $nextShard = 0;

    /** @var \Closure(): int */
    private readonly \Closure $clock;

    /**
     * @param string           $directory used by this store alone; made if it is not there
     * @param float            $timeout   seconds to wait for another writer
     * @param ?\Closure(): int $clock     the time in Unix seconds; for tests that cannot wait
     *
     * @throws Exception
     */
    public function __construct(
        string $directory,
        private readonly Payload $payload = new Payload(new PhpSerializer()),
        private readonly float $timeout = 1.0,
        ?\Closure $clock = null,
    ) {
        $this->directory = rtrim($directory, '/');
        if ($this->directory === '') {
            throw InvalidOption::directory($directory, 'is no place for a cache', 'name a directory of its own');
        }
        if (file_exists($this->directory) && !is_dir($this->directory)) {
            throw InvalidOption::directory($directory, 'is a file', 'name a directory');
        }
        if (is_dir($this->directory) && ((int) fileperms($this->directory) & 0o002) !== 0) {
            throw InvalidOption::directory($directory, 'may be written to by everyone', 'take that right away, or name another');
        }
        $this->token = new Token('', 0);
        $this->foreign = new \stdClass();
        $this->clock = $clock ?? time(...);
    }

    /** Options: serializer (auto, igbinary, php), timeout (seconds to wait for another writer). */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow('serializer', 'timeout');

        return new self(
            $dsn->absolutePath(),
            Payload::named($dsn->text('serializer', 'auto')),
            $dsn->seconds('timeout', 1.0),
        );
    }

    public function fetch(array $keys): Fetched
    {
        $items = $tokens = [];
        foreach ($keys as $key) {
            $item = $this->live($key);
            if ($item === null) {
                $tokens[$key] = $this->token;
            } else {
                $items[$key] = $item;
            }
        }

        return new Fetched($items, $tokens);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $payloads = [];
        foreach ($items as $item) {
            if ($item->tags !== []) {
                throw UnsupportedOperation::by('FileStore', Capability::Tags);
            }
            $payloads[] = $this->payload->encode($item->key, $item->value);
        }
        $now = ($this->clock)();
        $unsaved = [];
        foreach ($items as $i => $item) {
            $saved = $this->locked($item->key, function () use ($item, $payloads, $i, $mode, $now): bool {
                $condition = match ($mode) {
                    SaveMode::Set => true,
                    SaveMode::Add => $this->live($item->key) === null,
                    SaveMode::Replace => $this->live($item->key) !== null,
                };
                if (!$condition) {
                    return false;
                }
                if ($item->ttl !== null && $item->ttl <= 0) {
                    $this->remove($item->key);

                    return true;
                }

                return $this->write($item->key, $payloads[$i], Ttl::expiry($item->ttl, $now));
            });
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
            if (!file_exists($this->file($key)) && !is_dir($this->directory)) {
                continue;
            }
            if ($this->locked($key, function () use ($key): bool {
                $lived = $this->live($key) !== null;
                $this->remove($key);

                return $lived;
            })) {
                $existed[] = $key;
            }
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->locked($key, function () use ($key, $by, $initial, $ttl): int {
            $item = $this->live($key);
            $sum = Counter::sum($key, $item === null ? $initial : $item->value, $by);
            if ($item === null && $ttl !== null && $ttl <= 0) {
                return $sum;
            }
            $expiry = $item === null ? Ttl::expiry($ttl, ($this->clock)()) : $item->expiry;
            if (!$this->write($key, (string) $sum, $expiry)) {
                throw StoreUnavailable::because("The directory \"{$this->directory}\"", 'a counter could not be written', 'free some space on its disk');
            }

            return $sum;
        });
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }
        $expiry = Ttl::expiry($ttl, ($this->clock)());
        $touched = [];
        foreach ($keys as $key) {
            $found = $this->locked($key, function () use ($key, $expiry): bool {
                $entry = $this->entry($this->file($key));
                if ($entry === null || $entry['key'] !== $key || $this->isDead($entry['expiry']) || $this->live($key) === null) {
                    return false;
                }

                return $this->write($key, $entry['payload'], $expiry);
            });
            if ($found) {
                $touched[] = $key;
            }
        }

        return $touched;
    }

    public function invalidateTags(array $tags): void
    {
        throw UnsupportedOperation::by('FileStore', Capability::Tags);
    }

    public function clear(): void
    {
        foreach ($this->shards() as $shard) {
            $this->lockedShard($shard, function () use ($shard): void {
                foreach ($this->files($shard) as $file) {
                    $this->unlink($file);
                }
            });
        }
    }

    /** Looks through a few shards a call, the next ones the next time; 0 means that all were looked through. */
    public function prune(): int
    {
        $shards = $this->shards();
        $removed = 0;
        for ($looked = 0; $looked < \count($shards); $looked++) {
            if ($looked >= self::PRUNED_SHARDS_AT_ONCE && $removed > 0) {
                break;
            }
            $shard = $shards[$this->nextShard++ % \count($shards)];
            $removed += $this->lockedShard($shard, function () use ($shard): int {
                $removed = 0;
                foreach ($this->files($shard) as $file) {
                    $entry = $this->entry($file, headOnly: true);
                    if ($entry === null || $this->isDead($entry['expiry'])) {
                        $this->unlink($file);
                        $removed++;
                    }
                }
                foreach (glob("{$shard}/.*.tmp") ?: [] as $temporary) {
                    if ((int) @filemtime($temporary) < time() - self::ABANDONED) {
                        $this->unlink($temporary);
                    }
                }

                return $removed;
            });
        }

        return $removed;
    }

    public function keys(string $prefix = ''): iterable
    {
        $keys = [];
        foreach ($this->shards() as $shard) {
            foreach ($this->files($shard) as $file) {
                $entry = $this->entry($file, headOnly: true);
                if ($entry !== null && !$this->isDead($entry['expiry']) && str_starts_with($entry['key'], $prefix)) {
                    $keys[] = $entry['key'];
                }
            }
        }

        return $keys;
    }

    /** Looks at every file. */
    public function statistics(): StoreStatistics
    {
        $items = $bytes = 0;
        foreach ($this->shards() as $shard) {
            foreach ($this->files($shard) as $file) {
                $items++;
                $bytes += (int) @filesize($file);
            }
        }

        return new StoreStatistics(items: $items, bytes: $bytes);
    }

    public function capabilities(): array
    {
        return [Capability::Keys, Capability::Sharing, Capability::Durability];
    }

    private function live(string $key): ?Item
    {
        $entry = $this->entry($this->file($key));
        if ($entry === null || $entry['key'] !== $key || $this->isDead($entry['expiry'])) {
            return null;
        }
        if ($this->payload->isSerialized($entry['payload'])) {
            $mac = $this->mac($entry['head'], $key, $entry['payload']);
            if ($mac === null || !hash_equals($mac, $entry['mac'])) {
                return null;
            }
        }
        $value = $this->payload->decode($entry['payload'], $this->foreign);

        return $value === $this->foreign ? null : Item::found($key, $value, $entry['expiry']);
    }

    /** @return ?array{key: string, payload: string, expiry: ?int, head: string, mac: string} null: no item of ours */
    private function entry(string $file, bool $headOnly = false): ?array
    {
        $bytes = $headOnly
            ? @file_get_contents($file, false, null, 0, self::HEADER + \Larder\Key::LONGEST)
            : @file_get_contents($file);
        if ($bytes === false || \strlen($bytes) < self::HEADER || !str_starts_with($bytes, self::MAGIC)) {
            return null;
        }
        $head = unpack('Jexpiry/Nkey/Jpayload', $bytes, 4);
        if ($head === false || !\is_int($head['expiry']) || !\is_int($head['key']) || !\is_int($head['payload'])) {
            return null;
        }
        if (!$headOnly && \strlen($bytes) !== self::HEADER + $head['key'] + $head['payload']) {
            return null;
        }

        return [
            'key' => substr($bytes, self::HEADER, $head['key']),
            'payload' => $headOnly ? '' : substr($bytes, self::HEADER + $head['key']),
            'expiry' => $head['expiry'] === 0 ? null : $head['expiry'],
            'head' => substr($bytes, 0, 24),
            'mac' => substr($bytes, 24, 32),
        ];
    }

    private function isDead(?int $expiry): bool
    {
        return $expiry !== null && $expiry <= ($this->clock)();
    }

    /** @return bool false if there is no room for it; then nothing is left under the key */
    private function write(string $key, string $payload, ?int $expiry): bool
    {
        $head = self::MAGIC . pack('JNJ', $expiry ?? 0, \strlen($key), \strlen($payload));
        $mac = $this->payload->isSerialized($payload) ? $this->mac($head, $key, $payload, make: true) : self::NO_MAC;
        $bytes = $head . $mac . $key . $payload;
        $file = $this->file($key);
        $temporary = \dirname($file) . '/.' . bin2hex(random_bytes(12)) . '.tmp';
        $handle = @fopen($temporary, 'x');
        if ($handle === false) {
            throw $this->unavailable('no file can be made');
        }
        $written = @fwrite($handle, $bytes);
        $closed = fclose($handle);
        if ($written === \strlen($bytes) && $closed) {
            @chmod($temporary, 0o600);
            if (@rename($temporary, $file)) {
                return true;
            }
        }
        @unlink($temporary);
        $this->remove($key);

        return false;
    }

    private function remove(string $key): void
    {
        $file = $this->file($key);
        $entry = $this->entry($file, headOnly: true);
        if ($entry === null || $entry['key'] === $key) {
            $this->unlink($file);
        }
    }

    private function unlink(string $file): void
    {
        if (!@unlink($file)) {
            clearstatcache(true, $file);
            if (file_exists($file)) {
                throw $this->unavailable('a file cannot be removed');
            }
        }
    }

    private function file(string $key): string
    {
        $hash = hash('xxh128', $key);

        return "{$this->directory}/{$hash[0]}{$hash[1]}/" . substr($hash, 2);
    }

    /** @return list<string> */
    private function shards(): array
    {
        return glob("{$this->directory}/[0-9a-f][0-9a-f]", \GLOB_ONLYDIR | \GLOB_NOSORT) ?: [];
    }

    /** @return list<string> */
    private function files(string $shard): array
    {
        return array_values(array_map(
            static fn(string $name): string => "{$shard}/{$name}",
            array_filter(@scandir($shard, \SCANDIR_SORT_NONE) ?: [], static fn(string $name): bool => $name[0] !== '.'),
        ));
    }

    /**
     * @template T
     *
     * @param \Closure(): T $section
     *
     * @return T
     */
    private function locked(string $key, \Closure $section): mixed
    {
        return $this->lockedShard(\dirname($this->file($key)), $section);
    }

    /**
     * @template T
     *
     * @param \Closure(): T $section
     *
     * @return T
     */
    private function lockedShard(string $shard, \Closure $section): mixed
    {
        $lock = @fopen("{$shard}/.lock", 'c');
        if ($lock === false) {
            $this->make($this->directory);
            $this->make($shard);
            $lock = @fopen("{$shard}/.lock", 'c');
        }
        if ($lock === false) {
            throw $this->unavailable('its lock cannot be opened');
        }
        try {
            $patience = hrtime(true) + (int) ($this->timeout * 1e9);
            while (!flock($lock, \LOCK_EX | \LOCK_NB)) {
                if (hrtime(true) > $patience) {
                    throw $this->unavailable('another process holds a lock in it for too long');
                }
                usleep(200);
            }

            return $section();
        } finally {
            fclose($lock);
        }
    }

    private function make(string $directory): void
    {
        if (!is_dir($directory) && !@mkdir($directory, 0o700, true)) {
            clearstatcache(true, $directory);
            if (!is_dir($directory)) {
                throw $this->unavailable('it cannot be made');
            }
        }
    }

    /** @return ($make is true ? string : ?string) null: there is no secret, so nothing was signed with it */
    private function mac(string $head, string $key, string $payload, bool $make = false): ?string
    {
        $this->secret ??= $this->readSecret();
        if ($this->secret === null) {
            if (!$make) {
                return null;
            }
            $this->secret = $this->makeSecret();
        }

        return hash_hmac('sha256', $head . $key . $payload, $this->secret, true);
    }

    private function readSecret(): ?string
    {
        $secret = @file_get_contents("{$this->directory}/secret");

        return $secret !== false && \strlen($secret) === self::SECRET_BYTES ? $secret : null;
    }

    /** Whoever links first has made it; a linked file is complete. */
    private function makeSecret(): string
    {
        $temporary = "{$this->directory}/.secret-" . bin2hex(random_bytes(12));
        $made = @file_put_contents($temporary, random_bytes(self::SECRET_BYTES)) === self::SECRET_BYTES
            && @chmod($temporary, 0o600);
        if ($made && !@link($temporary, "{$this->directory}/secret") && $this->readSecret() === null) {
            // A secret of the wrong length is none.
            @rename($temporary, "{$this->directory}/secret");
        }
        @unlink($temporary);

        return $this->readSecret() ?? throw $this->unavailable('its secret cannot be made');
    }

    private function unavailable(string $why): StoreUnavailable
    {
        return StoreUnavailable::because(
            "The directory \"{$this->directory}\"",
            $why,
            'see that its disk has room and PHP\'s user may write to it',
        );
    }
}
