<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidDsn;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Leases;
use Larder\SaveMode;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\Store\Memcached\MemcachedLeases;
use Larder\Store\Memcached\Ring;
use Larder\Store\Memcached\Server;
use Larder\Store\Memcached\Shard;
use Larder\StoreStatistics;
use Larder\Token;

/**
 * Items in Memcached: for several machines.
 *
 *     prefix!clock                       of each server: the epoch, the tick, and which slots of tags there are (see TagVersions)
 *     prefix:<epoch>:k:<key>             an item, if the key is short and printable (see Entry)
 *     prefix:<epoch>:h:<sha256>          an item of any other key, which is inside and compared
 *     prefix:<epoch>:p:<random>:<n>      a piece of a value that is too large for one item (see Values)
 *     prefix!<epoch>:t<n>                when tags were last invalidated
 *     prefix!lease:<name>                a lease
 *
 * A read asks for the clock along with the items, and with the slots of tags that these needed last time: one round trip. It
 * takes a second one if a tag was invalidated since an item was stored, and the item's slots are not known yet. A write asks
 * for the clock and the item first, to swap the item. That is two round trips, and two more for a key that was never read. A clear
 * changes the epoch, and so all names.
 *
 * A miss leaves a hole under the item's name, with a random lineage that becomes the token. Every stored item has a lineage. A
 * write begins another one, and a delete leaves none. A fill is swapped in only if the lineage is the one of its token. So a
 * late fill never comes in between, and fills that overlap do not refuse each other. This is the lease of Nishtala et al.,
 * "Scaling Memcache at Facebook", 2013, made of Memcached's own compare and swap.
 *
 * With several servers, a key and everything that judges it lie on one of them (see Ring). Each server has its own clock, and a
 * tag is invalidated on all. A lost server takes its share of the items along and nothing else. Its keys are not given to other
 * servers, which would have stale items when it is back. Change the list of servers everywhere at once, and clear.
 *
 * A loss by eviction or a flush kills everything that the lost entry judges. Without the clock, all items on that server are
 * dead; without a slot, the items with its tags; without a hole, the fill. No client can list a Memcached's keys, so dead items
 * are left to its eviction.
 *
 * Any other client that can write into a server can have PHP make any object, however secret the payload's key is. The extension
 * unserialises values that a client has marked as serialised, before this class sees them, and has no option against it.
 *
 * A counter is changed by compare and swap, as the server's own increment knows neither negative numbers nor
 * the end of the range.
 */
final class MemcachedStore implements Store, Leases
{
    /** @var non-empty-list<Shard> */
    private readonly array $shards;

    private readonly Ring $ring;

    private readonly MemcachedLeases $leases;

    /**
     * @param non-empty-list<Server> $servers in any order, which all that use them have to name alike
     *
     * @throws Exception
     */
    public function __construct(
        array $servers = [new Server()],
        string $prefix = Prefix::DEFAULT,
        private readonly Payload $payload = new Payload(new PhpSerializer()),
    ) {
        $checked = Prefix::check($prefix);
        if (!\extension_loaded('memcached')) {
            throw ExtensionMissing::of('MemcachedStore', 'memcached');
        }
        $this->shards = array_map(static fn(Server $server): Shard => new Shard($server, $checked, $payload), $servers);
        $this->ring = new Ring(array_map(static fn(Server $server): string => $server->name(), $servers));
        $this->leases = new MemcachedLeases($servers, $this->ring, $prefix . '!');
    }

    /** Options: prefix; timeout, retry_after (seconds); persistent (switch); those of Payload::fromDsn(). */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow('prefix', 'timeout', 'retry_after', 'persistent', ...Payload::OPTIONS);
        $isSocket = $dsn->scheme === 'memcached+unix';
        if (!$isSocket && ($dsn->path !== '' || $dsn->user !== null)) {
            throw InvalidDsn::part("memcached://{$dsn->host}/{$dsn->path}", 'has a user or a path', 'write it as "memcached://host:port"');
        }
        $server = static fn(string $host, ?int $port, ?string $socket): Server => new Server(
            $host,
            $port ?? 11_211,
            $socket,
            $dsn->seconds('timeout', Server::TIMEOUT),
            $dsn->seconds('retry_after', Server::RETRY_AFTER),
            $dsn->switch('persistent', false),
        );

        return new self(
            $isSocket
                ? array_map(static fn(string $path): Server => $server('', null, $path), $dsn->absolutePaths())
                : array_map(static fn(array $place): Server => $server($place[0], $place[1], null), $dsn->hosts),
            $dsn->text('prefix', Prefix::DEFAULT),
            Payload::fromDsn($dsn, $dsn->text('prefix', Prefix::DEFAULT)),
        );
    }

    public function fetch(array $keys): Fetched
    {
        $groups = $this->grouped($keys);
        if (\count($groups) > 1) {
            foreach ($groups as $shard => $group) {
                $this->shards[$shard]->announce($group);
            }
        }
        $found = [];
        $failures = $this->each(array_keys($groups), function (Shard $shard, int $number) use ($groups, &$found): void {
            $found += $shard->fetch($groups[$number]);
        });
        if ($failures !== [] && \count($failures) === \count($groups)) {
            throw $failures[0];
        }
        $items = $tokens = $stale = [];
        foreach ($keys as $key) {
            [$item, $token, $isStale] = $found[$key] ?? [null, null, false];
            if ($item !== null) {
                $isStale ? $stale[$key] = $item : $items[$key] = $item;
            }
            if ($item === null || $isStale) {
                $tokens[$key] = $token ?? new Token('', 0);
            }
        }

        return new Fetched($items, $tokens, $stale, $failures[0] ?? $this->failure());
    }

    public function token(string $key): Token
    {
        return $this->shard($key)->token($key);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $payloads = $groups = [];
        foreach ($items as $i => $item) {
            $payloads[$i] = $this->payload->encode($item->key, $item->value);
            $groups[$this->ring->server($item->key)][$i] = $item;
        }
        $unsaved = [];
        $this->all(array_keys($groups), function (Shard $shard, int $number) use ($groups, $payloads, $mode, &$unsaved): void {
            array_push($unsaved, ...$shard->save($groups[$number], $payloads, $mode));
        });
        sort($unsaved);

        return array_map(static fn(int $i): string => $items[$i]->key, $unsaved);
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $groups = $this->grouped($keys);
        $existed = [];
        $this->all(array_keys($groups), function (Shard $shard, int $number) use ($groups, $token, &$existed): void {
            array_push($existed, ...$shard->delete($groups[$number], $token));
        });

        return self::among($keys, $existed);
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->shard($key)->increment($key, $by, $initial, $ttl);
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }
        $groups = $this->grouped($keys);
        $touched = [];
        $this->all(array_keys($groups), function (Shard $shard, int $number) use ($groups, $ttl, &$touched): void {
            array_push($touched, ...$shard->touch($groups[$number], $ttl));
        });

        return self::among($keys, $touched);
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        if ($tags !== []) {
            $this->all(array_keys($this->shards), static fn(Shard $shard) => $shard->invalidateTags($tags, $serveStale));
        }
    }

    public function clear(): void
    {
        $this->all(array_keys($this->shards), static fn(Shard $shard) => $shard->clear());
    }

    /** The server removes what is dead by itself. */
    public function prune(): int
    {
        return 0;
    }

    public function keys(string $prefix = ''): iterable
    {
        throw UnsupportedOperation::by('MemcachedStore', Capability::Keys);
    }

    /** Of the whole servers, which others may use as well. */
    public function statistics(): StoreStatistics
    {
        $all = $sums = [];
        $this->all(array_keys($this->shards), static function (Shard $shard) use (&$all, &$sums): void {
            $about = $shard->server->statistics();
            $all[$shard->server->name()] = $about;
            foreach (['curr_items', 'bytes', 'limit_maxbytes', 'get_hits', 'get_misses', 'evictions', 'reclaimed'] as $name) {
                $number = $about[$name] ?? null;
                $sums[$name] = ($sums[$name] ?? 0) + (is_numeric($number) ? (int) $number : 0);
            }
        });

        return new StoreStatistics(
            items: $sums['curr_items'] ?? null,
            bytes: $sums['bytes'] ?? null,
            capacity: $sums['limit_maxbytes'] ?? null,
            hits: $sums['get_hits'] ?? null,
            misses: $sums['get_misses'] ?? null,
            evictions: $sums['evictions'] ?? null,
            expired: $sums['reclaimed'] ?? null,
            details: \count($all) === 1 ? reset($all) : $all,
        );
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

    public function capabilities(): array
    {
        return [Capability::WholeClear, Capability::Tags, Capability::Tokens, Capability::Sharing];
    }

    private function shard(string $key): Shard
    {
        return $this->shards[$this->ring->server($key)];
    }

    /** The trouble of a server that has not answered since. */
    private function failure(): ?StoreUnavailable
    {
        foreach ($this->shards as $shard) {
            if ($shard->server->failure() !== null) {
                return $shard->server->failure();
            }
        }

        return null;
    }

    /**
     * @param list<string> $keys
     *
     * @return array<int, non-empty-list<string>> by the number of the shard, none twice
     */
    private function grouped(array $keys): array
    {
        $groups = [];
        foreach (self::once($keys) as $key) {
            $groups[$this->ring->server($key)][] = $key;
        }

        return $groups;
    }

    /**
     * @param list<string> $keys
     *
     * @return list<string>
     */
    private static function once(array $keys): array
    {
        return \count($keys) < 2 ? $keys : array_map(strval(...), array_keys(array_flip($keys)));
    }

    /**
     * @param list<string> $keys
     * @param list<string> $found
     *
     * @return list<string> the keys that were found, none twice, in their order
     */
    private static function among(array $keys, array $found): array
    {
        $found = array_flip($found);

        return array_values(array_filter(self::once($keys), static fn(string $key): bool => isset($found[$key])));
    }

    /**
     * A server that fails keeps no process from the others.
     *
     * @param list<int>                  $numbers
     * @param \Closure(Shard, int): void $do
     *
     * @return list<StoreUnavailable>
     */
    private function each(array $numbers, \Closure $do): array
    {
        $failures = [];
        foreach ($numbers as $number) {
            try {
                $do($this->shards[$number], $number);
            } catch (StoreUnavailable $failure) {
                $failures[] = $failure;
            }
        }

        return $failures;
    }

    /**
     * @param list<int>                  $numbers
     * @param \Closure(Shard, int): void $do
     *
     * @throws StoreUnavailable if one of the servers has failed, after all were asked
     */
    private function all(array $numbers, \Closure $do): void
    {
        foreach ($this->each($numbers, $do) as $failure) {
            throw $failure;
        }
    }
}
