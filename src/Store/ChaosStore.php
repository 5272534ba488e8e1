<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Cache\Far;
use Larder\Capability;
use Larder\Counts;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\MayEvict;
use Larder\PerRequest;
use Larder\Reads;
use Larder\ReadsFar;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Takes;
use Larder\Tidying;
use Larder\Token;
use Random\Engine\Mt19937;
use Random\Randomizer;

/**
 * A store that fails on demand, for tests of code that caches: is the site still there when its cache is not?
 *
 *     $chaos = new ChaosStore();
 *     $cache = new Cache($chaos);
 *     $chaos->isDown = true;
 */
final class ChaosStore implements Store, Reads, ReadsFar, Takes, Counts, PerRequest, RequestTokens, MayEvict, Tidying
{
    /** Every call fails. */
    public bool $isDown = false;

    /** The share of calls that fail at random, 0.0 to 1.0; the same ones for the same seed. */
    public float $failing = 0.0;

    /** What each call takes, in seconds. */
    public float $delay = 0.0;

    /** @var list<string> keys that it will not save, as if it were full */
    public array $refused = [];

    /** @var list<string> the methods that were called */
    public array $calls = [];

    /** @var ?\Closure(string): void is told of each call before it is made; may throw in its place */
    public ?\Closure $before = null;

    private readonly Randomizer $randomizer;

    /** @throws InvalidOption */
    public function __construct(
        public readonly Store $store = new ArrayStore(),
        int $seed = 1,
    ) {
        $this->randomizer = new Randomizer(new Mt19937($seed));
    }

    public function beginRequest(): void
    {
        $store = $this->up('beginRequest');
        if ($store instanceof PerRequest) {
            $store->beginRequest();
        }
    }

    public function read(string $key, mixed $default = null, ?Fetched &$fetched = null): mixed
    {
        $store = $this->up('read');
        if ($store instanceof Reads) {
            return $store->read($key, $default, $fetched);
        }
        $fetched = $store->fetch([$key]);

        return isset($fetched->items[$key]) ? $fetched->items[$key]->value : $default;
    }

    public function readMany(array $keys): Fetched
    {
        $store = $this->up('readMany');

        return $store instanceof Reads ? $store->readMany($keys) : $store->fetch($keys);
    }

    public function fetch(array $keys): Fetched
    {
        return $this->up('fetch')->fetch($keys);
    }

    public function fetchFar(array $keys): Fetched
    {
        $store = $this->up('fetch');

        return Far::fetch($store, $keys);
    }

    public function count(string $key, int $by, int $initial, ?int $ttl, ?int $min, bool $create, int $version = 0, int $number = 0): ?int
    {
        $store = $this->up('count');

        return $store instanceof Counts
            ? $store->count($key, $by, $initial, $ttl, $min, $create, $version, $number)
            : throw UnsupportedOperation::by((new \ReflectionClass($store))->getShortName(), Capability::Counts);
    }

    public function take(string $key): ?Item
    {
        $store = $this->up('take');

        return $store instanceof Takes ? $store->take($key) : throw UnsupportedOperation::by((new \ReflectionClass($store))->getShortName(), Capability::Takes);
    }

    public function noteRequest(bool $anew = false): void
    {
        $store = $this->up('noteRequest');
        $store instanceof RequestTokens ? $store->noteRequest($anew) : throw UnsupportedOperation::by((new \ReflectionClass($store))->getShortName(), Capability::RequestTokens);
    }

    public function requestToken(string $key): ?Token
    {
        return $this->store instanceof RequestTokens ? $this->store->requestToken($key) : null;
    }

    public function token(string $key): Token
    {
        return $this->up('token')->token($key);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $store = $this->up('save');
        $unsaved = $accepted = [];
        foreach ($items as $item) {
            if (!\in_array($item->key, $this->refused, true)) {
                $accepted[] = $item;
                continue;
            }
            $unsaved[] = $item->key;
            if ($mode !== SaveMode::Add) {
                $store->delete([$item->key]);
            }
        }

        return [...$unsaved, ...$store->save($accepted, $mode)];
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        return $this->up('delete')->delete($keys, $token);
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->up('increment')->increment($key, $by, $initial, $ttl);
    }

    public function touch(array $keys, ?int $ttl): array
    {
        return $this->up('touch')->touch($keys, $ttl);
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        $this->up('invalidateTags')->invalidateTags($tags, $serveStale);
    }

    public function clear(): void
    {
        $this->up('clear')->clear();
    }

    public function prune(): int
    {
        return $this->up('prune')->prune();
    }

    public function tidy(): int
    {
        $store = $this->up('tidy');

        return $store instanceof Tidying ? $store->tidy() : 0;
    }

    public function keys(string $prefix = ''): iterable
    {
        return $this->up('keys')->keys($prefix);
    }

    public function statistics(): StoreStatistics
    {
        return $this->up('statistics')->statistics();
    }

    public function evicts(): ?string
    {
        return Retention::evicts($this->store);
    }

    public function capabilities(): array
    {
        return $this->store->capabilities();
    }

    /** @throws StoreUnavailable */
    private function up(string $call): Store
    {
        $this->calls[] = $call;
        if ($this->before !== null) {
            ($this->before)($call);
        }
        if ($this->delay > 0.0) {
            usleep((int) (1e6 * $this->delay));
        }
        if ($this->isDown || ($this->failing > 0.0 && $this->randomizer->getInt(0, 999_999) < 1e6 * $this->failing)) {
            throw StoreUnavailable::because('The store of chaos', "its {$call}() was to fail", 'look at the test that said so');
        }

        return $this->store;
    }
}
