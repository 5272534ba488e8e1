<?php

declare(strict_types=1);

namespace Larder\Trace;

use Larder\Cache\Far;
use Larder\Capability;
use Larder\Counts;
use Larder\Exception\InvalidOption;
use Larder\Exception\InvalidTrace;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\Key;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\MayEvict;
use Larder\PerRequest;
use Larder\ReadsFar;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\Retention;
use Larder\StoreStatistics;
use Larder\System\Guests;
use Larder\System\PrivateDirectory;
use Larder\Takes;
use Larder\Tidying;
use Larder\Token;

/**
 * A store that writes down what it is asked, for a share of its keys, and passes it on to another:
 *
 *     $cache = new Cache(new RecordingStore(\Larder\Stores::open('shm:shop'), '/var/lib/shop/shop.trace'));
 *
 * `larder size` tells from the trace how much memory would be enough, `larder trace` replays it on another store. A
 * key's hash decides whether all of its accesses are recorded or none (Waldspurger and others,
 * "Efficient MRC Construction with SHARDS", FAST 2015). Keys are hashed, values are not kept.
 */
final class RecordingStore implements Store, ReadsFar, Leases, Takes, Counts, PerRequest, RequestTokens, MayEvict, Tidying
{
    /** Lines that are written at once. */
    private const BUFFERED = 500;

    /** @var list<string> */
    private array $lines = [];

    private readonly int $below;

    private readonly PrivateDirectory $directory;

    /** Those of the store: a process that has it without a recorder knows the same ones. */
    private readonly Leases $leases;

    /**
     * @param float $rate share of the keys, more than 0.0 to 1.0
     *
     * @throws InvalidOption
     * @throws InvalidTrace  the file cannot be written
     */
    public function __construct(
        private readonly Store $store,
        private readonly string $path,
        float $rate = 0.01,
    ) {
        if (!($rate > 0.0 && $rate <= 1.0)) {
            throw InvalidOption::range('rate', $rate, 'more than 0.0 and at most 1.0');
        }
        $this->below = (int) ($rate * 0x1_0000_0000);
        $this->leases = $store instanceof Leases ? $store : new AddedLeases($store);
        $this->directory = new PrivateDirectory(\dirname($path), Guests::RootAndGroup);
        $file = $this->file();
        if ($file === false) {
            $distrust = $this->directory->distrust() ?? $this->directory->distrustOf($path);
            throw $distrust === null ? InvalidTrace::unwritable($path) : InvalidTrace::distrusted($path, $distrust);
        }
        // The process that makes the file writes its head: all that record into it at the same time take the same share.
        if (flock($file, \LOCK_EX) && (fstat($file)['size'] ?? 0) === 0) {
            @fwrite($file, TraceFile::head($rate));
        }
        fclose($file);
    }

    public function __destruct()
    {
        $this->flush();
    }

    public function beginRequest(): void
    {
        if ($this->store instanceof PerRequest) {
            $this->store->beginRequest();
        }
    }

    public function fetch(array $keys): Fetched
    {
        return $this->fetched($keys, $this->store->fetch($keys));
    }

    public function fetchFar(array $keys): Fetched
    {
        return $this->fetched($keys, Far::fetch($this->store, $keys));
    }

    /** @param list<string> $keys */
    private function fetched(array $keys, Fetched $fetched): Fetched
    {
        foreach ($keys as $key) {
            $this->record(Verb::Read, $key, $fetched->items[$key] ?? null);
        }

        return $fetched;
    }

    public function take(string $key): ?Item
    {
        $item = $this->store instanceof Takes
            ? $this->store->take($key)
            : throw UnsupportedOperation::by((new \ReflectionClass($this->store))->getShortName(), Capability::Takes);
        $this->record(Verb::Read, $key, $item);
        if ($item !== null) {
            $this->record(Verb::Delete, $key, null);
        }

        return $item;
    }

    public function noteRequest(bool $anew = false): void
    {
        $store = $this->store;
        $store instanceof RequestTokens ? $store->noteRequest($anew) : throw UnsupportedOperation::by((new \ReflectionClass($store))->getShortName(), Capability::RequestTokens);
    }

    public function requestToken(string $key): ?Token
    {
        return $this->store instanceof RequestTokens ? $this->store->requestToken($key) : null;
    }

    public function token(string $key): Token
    {
        return $this->store->token($key);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $unsaved = $this->store->save($items, $mode);
        $isUnsaved = array_flip($unsaved);
        foreach ($items as $item) {
            if (!isset($isUnsaved[$item->key])) {
                $this->record(Verb::Write, $item->key, $item);
            }
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $existed = $this->store->delete($keys, $token);
        foreach ($existed as $key) {
            $this->record(Verb::Delete, $key, null);
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $sum = $this->store->increment($key, $by, $initial, $ttl);
        $this->record(Verb::Write, $key, new Item($key, $sum));

        return $sum;
    }

    public function count(string $key, int $by, int $initial, ?int $ttl, ?int $min, bool $create, int $version = 0, int $number = 0): ?int
    {
        $sum = $this->store instanceof Counts
            ? $this->store->count($key, $by, $initial, $ttl, $min, $create, $version, $number)
            : throw UnsupportedOperation::by((new \ReflectionClass($this->store))->getShortName(), Capability::Counts);
        if ($sum !== null) {
            $this->record(Verb::Write, $key, new Item($key, $sum));
        }

        return $sum;
    }

    public function touch(array $keys, ?int $ttl): array
    {
        return $this->store->touch($keys, $ttl);
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        $this->store->invalidateTags($tags, $serveStale);
    }

    public function clear(): void
    {
        $this->store->clear();
    }

    public function prune(): int
    {
        return $this->store->prune();
    }

    public function tidy(): int
    {
        return $this->store instanceof Tidying ? $this->store->tidy() : 0;
    }

    public function keys(string $prefix = ''): iterable
    {
        return $this->store->keys($prefix);
    }

    public function statistics(): StoreStatistics
    {
        return $this->store->statistics();
    }

    public function evicts(): ?string
    {
        return Retention::evicts($this->store);
    }

    public function capabilities(): array
    {
        return $this->store->capabilities();
    }

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        return $this->leases->acquire($name, $owner, $seconds);
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->leases->refresh($name, $owner, $seconds);
    }

    public function fence(string $name, string $owner): ?int
    {
        return $this->leases->fence($name, $owner);
    }

    public function release(string $name, string $owner): bool
    {
        return $this->leases->release($name, $owner);
    }

    private function record(Verb $verb, string $key, ?Item $item): void
    {
        if (Key::isInternal(Key::withoutNamespaces($key))) {
            return;
        }
        $hash = hash('xxh3', $key);
        if (hexdec(substr($hash, 0, 8)) >= $this->below) {
            return;
        }
        $bytes = $item === null ? 0 : \strlen($key) + Size::of($item->value);
        $this->lines[] = TraceFile::line($verb, $hash, $bytes);
        if (\count($this->lines) >= self::BUFFERED) {
            $this->flush();
        }
    }

    /** A trace that cannot be written is no reason to fail. */
    private function flush(): void
    {
        if ($this->lines !== []) {
            $file = $this->file();
            if ($file !== false && flock($file, \LOCK_EX) && fseek($file, 0, \SEEK_END) === 0) {
                @fwrite($file, implode('', $this->lines));
            }
            $this->lines = [];
        }
    }

    /** @return resource|false */
    private function file(): mixed
    {
        $file = $this->directory->exists() && $this->directory->distrust() === null ? $this->directory->open($this->path) : false;

        return $file !== false && $this->directory->holds($file, $this->path) ? $file : false;
    }
}
