<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Cache\Counter;
use Larder\Capability;
use Larder\Dsn;
use Larder\Exception\InvalidOption;
use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Item;
use Larder\Leases;
use Larder\MayEvict;
use Larder\PerRequest;
use Larder\Reads;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\Store\Redis\ApcuMemory;
use Larder\Store\Redis\ClusterConnection;
use Larder\Store\Redis\Connection;
use Larder\Store\Redis\Connections;
use Larder\Store\Redis\Entry;
use Larder\Store\Redis\Eviction;
use Larder\Store\Redis\Layout;
use Larder\Store\Redis\Life;
use Larder\Store\Redis\Living;
use Larder\Store\Redis\NearTags;
use Larder\Store\Redis\PoolMemory;
use Larder\Store\Redis\Reading;
use Larder\Store\Redis\RedisLeases;
use Larder\Store\Redis\RedisLog;
use Larder\Store\Redis\Script;
use Larder\Store\Redis\Scripts;
use Larder\Store\Redis\Server;
use Larder\Store\Redis\ServerTime;
use Larder\Store\Redis\Walk;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in Redis or Valkey: for several machines. Every operation and every batch is one round trip (see Reading for an
 * exception, and below for another). All but most reads are a script (see ScriptText). Replicas are never read. Walks over names take more round trips:
 * keys(), prune(), and clear(), whose first round trip kills everything, and whose others, 20 at most, free memory.
 *
 *     prefix:key      an item, with the server's own expiry
 *     prefix!clock    the epoch, the tick, and when a tag was last invalidated
 *     prefix!tags     a hash of the tags' versions
 *     prefix!key_versions   some thousand key versions, which the keys share by their hashes: the tick at which one was last written or
 *                     deleted; and the same of counts
 *     prefix!log      if near stores follow it, what they must forget (see Redis\RedisLog)
 *     prefix!invalidations  the last invalidations, for hosts that judge by tags themselves (see Redis\NearTags)
 *
 * Each script is one moment, and so is a plain read. A token is the epoch and the tick of a moment at or before the one in which
 * its key was found missing. A write or a delete makes fills of its key stale: it moves the key version to a new tick. That tick is
 * later than that of every token given so far, and not later than that of any token given from then on. So a fill is stored only
 * in the same epoch, if its key version and its tags' versions are not later than its token. Fills move no key version, and do not
 * refuse each other. Counting in a counter that exists moves another key version, which only judges values
 * computed from a counter (see Script). Reading moves nothing either, and so takes no script as long as there is a clock.
 *
 * A loss (by eviction or a flush) kills everything that needs the lost name. Without the clock, the next script begins another
 * epoch, and every item, key version and token of the last one is of no use. Without the key versions, the next script that judges
 * by one makes them all anew. Their tick is later than every token given so far. Without the tags, an item with tags is dead
 * if any tag was invalidated since its version. A clear begins another epoch, and is done. Dead items go by and by: some at once,
 * the rest with prune(), or when their time is over.
 *
 * A full server refuses a script's first write, and allows those after it. So the first write frees memory, or stores the item.
 *
 * Only an invalidated tag has a version. If there are too many, the older half is forgotten, and the tick of its youngest
 * stands for all of them. The method prune() drops those that no item can need.
 *
 * A large item is written by a plain SET to a name aside. A script behind it moves it to its place, because Lua copies each value
 * that it touches four times. With phpredis, the commands for one of half a MiB or more go one by one: it copies what it
 * pipelines.
 *
 * A write says how long we wait for its answer, by the server's clock. Reads bring the time along, and the processes of a
 * machine tell each other. A write whose process has learnt no time for a minute asks for it first, in a round trip of its own.
 *
 * In a cluster (Redis Cluster), items are divided into shards by their keys. Each shard has its names in one slot, with a clock,
 * tags and key versions of its own. An invalidation reaches all of them, so that no read has to look elsewhere. A batch is one round
 * trip to each master that has one of its keys. The number of shards must never change while there are items.
 *
 * The clock names the life in which it runs: that of the server's data, from its start or from its becoming a master (see Life). A token
 * names it, too, and judges nothing in another one, whose clock may be behind. A connection learns its server's life with its first
 * commands. A script is told the life, and does nothing if the clock is of another. A command that judges by a token asks the server
 * itself. The clock is taken over then (see Lives). After a failover the items stay. After a restart they die, as the server's disk
 * may be older than a delete that the server has acknowledged.
 *
 * A write is lost if the server fails over to a replica that had not heard of it.
 */
final class RedisStore implements Store, Leases, MayEvict, Reads, PerRequest, RequestTokens
{
    /** The most tags whose versions are kept. With more, the older half is forgotten: older items that carry any tag are dead. */
    private const MOST_TAGS = 250_000;

    /** How many names a clear looks at to free memory. */
    private const CLEARED_AT_ONCE = 10_000;

    /** Items of at least so many bytes are first written aside. */
    private const LARGE = 2_048;

    /** Seconds until the server drops what was written aside and never moved. */
    private const ASIDE = 60;

    private readonly Layout $layout;

    private readonly Scripts $scripts;

    private readonly ServerTime $time;

    private readonly Reading $reads;

    /** Null until names are walked over. */
    private ?Walk $walk = null;

    /** Null until a caller asks whether the server evicts. */
    private ?Eviction $eviction = null;

    /**
     * @param int    $shards   in a cluster, the number of parts that the items are divided into; 0: no cluster
     * @param float  $timeout seconds that the connection waits for a reply; 0: for ever
     * @param ?string $server  the name by which the processes of this machine tell each other of the server; null: each asks for itself
     * @param bool   $trustsDisk whether what the server has on its disk is always all that it has acknowledged, so that it need not
     *                           die with a restart; the same for all who use the server
     * @param NearTags|\Closure(): ?NearTags|null $nearTags by which this host judges tags itself, or what makes it when it is first
     *                           needed; null: the server does
     *
     * @throws InvalidOption
     */
    public function __construct(
        private readonly Connection $connection,
        string $prefix = Prefix::DEFAULT,
        private readonly Payload $payload = new Payload(new PhpSerializer()),
        int $shards = 0,
        float $timeout = Server::READ_TIMEOUT,
        private readonly ?string $server = null,
        bool $trustsDisk = false,
        NearTags|\Closure|null $nearTags = null,
    ) {
        $this->layout = new Layout(Prefix::check($prefix), $shards);
        $this->scripts = new Scripts($connection, $trustsDisk);
        $this->time = new ServerTime($this->scripts, $timeout, $server);
        $this->reads = new Reading($this->scripts, $this->layout, $this->time, $payload, $nearTags);
    }

    /**
     * Options: prefix; client (auto, phpredis, predis); database; timeout, read_timeout, retry_after (seconds);
     * persistent (switch); persistence (distrusted, trusted); tags (far, near); with TLS: tls_ca, tls_cert, tls_key (files), tls_name, tls_verify (switch); with sentinels: service,
     * sentinel_user, sentinel_password; in a cluster: shards (1 to 1024); those of Payload::fromDsn().
     *
     * @param string $tags where they are judged if the DSN does not say it: "far" or "near"
     */
    public static function fromDsn(Dsn $dsn, string $tags = 'far'): self
    {
        $dsn->hasOptions() && $dsn->allow('prefix', 'persistence', 'tags', ...Connections::options($dsn), ...Payload::OPTIONS);
        $shards = 0;
        if (Connections::isCluster($dsn)) {
            $shards = $dsn->integer('shards', Connections::SHARDS);
            $shards > 0 || throw InvalidOption::range('shards', $shards, 'from 1 to 1024');
        }
        $prefix = $dsn->text('prefix', Prefix::DEFAULT);

        return new self(
            Connections::fromDsn($dsn),
            $prefix,
            Payload::fromDsn($dsn, $prefix),
            $shards,
            $dsn->seconds('read_timeout', Server::READ_TIMEOUT),
            "redis {$dsn->scheme} " . serialize([$dsn->hosts, $dsn->path, $dsn->text('service', '')]),
            match ($persistence = $dsn->text('persistence', 'distrusted')) {
                'distrusted' => false,
                'trusted' => true,
                default => throw InvalidOption::choice('persistence', $persistence, 'distrusted', 'trusted'),
            },
            match ($tags = $dsn->text('tags', $tags)) {
                'far' => null,
                'near' => \extension_loaded('apcu') || \extension_loaded('larder') ? static fn(): ?NearTags => self::nearTags($dsn, $shards) : null,
                default => throw InvalidOption::choice('tags', $tags, 'far', 'near'),
            },
        );
    }

    /** @return ?NearTags null: this process shares no memory with others */
    private static function nearTags(Dsn $dsn, int $shards): ?NearTags
    {
        $memory = ApcuMemory::isThere() ? new ApcuMemory() : PoolMemory::open();

        return $memory === null ? null : new NearTags($memory, 'larder-tags-' . hash('xxh128', "{$dsn->place()}?{$dsn->text('prefix', Prefix::DEFAULT)}"), $shards);
    }

    /** A server that has become a replica before the request began is not read in it. */
    public function beginRequest(): void
    {
        if ($this->connection instanceof Living) {
            $this->connection->doubt();
        }
    }

    public function fetch(array $keys): Fetched
    {
        return $this->reads->fetch($keys);
    }

    public function read(string $key, mixed $default = null, ?Fetched &$fetched = null): mixed
    {
        return $this->reads->value($key, $default, $fetched);
    }

    public function readMany(array $keys): Fetched
    {
        return $this->reads->values($keys);
    }

    /** The first read brings the token: each reads the clock. */
    public function noteRequest(bool $anew = false): void
    {
        $this->reads->noteRequest($anew);
    }

    public function requestToken(string $key): ?Token
    {
        $token = $this->reads->requestToken();

        // There may have been a counter then, which only its own key version knows.
        return $token === null ? null : new Token(rtrim($token->epoch, Script::COUNTER) . Script::COUNTER, $token->version);
    }

    public function token(string $key): Token
    {
        return $this->reads->token($key);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        if ($items === []) {
            return [];
        }
        if (!isset($items[1]) && $mode === SaveMode::Set && $items[0]->token === null && !$items[0]->fill && !$items[0]->keeps) {
            return $this->write($items[0]);
        }
        $keys = $arguments = $aside = [];
        $isJudged = $mode !== SaveMode::Set;
        foreach ($items as $i => $item) {
            $key = $keys[$i] = $item->key;
            $token = $item->token;
            $isJudged = $isJudged || $token !== null;
            [$tags, $mark, $bytes, $isLarge] = $this->encoded($item);
            if ($isLarge) {
                $aside[$i] = Entry::ROOM . $tags . $mark . $bytes;
            }
            $kind = $item->fill ? 'f' : ($item->keeps ? 'k' : 'w');
            // As ScriptText lists them.
            $arguments[$i] = [
                $isLarge ? strtoupper($kind) : $kind,
                self::milliseconds($item->ttl),
                $token === null ? '' : self::epoch($token),
                $token === null ? '' : (string) $token->version,
                $isLarge ? $tags : $tags . $mark . $bytes,
                $token === null ? $this->layout->placeOfKeyVersion($key) : $this->places($key, $token),
            ];
        }
        $unsaved = [];
        // Once, as a rule. The second time is for what came after its deadline, or found an unreadable item in its way.
        for ($tries = 0; $tries < 2 && $keys !== []; $tries++) {
            $overdue = $unreadable = [];
            foreach ($this->inShards($keys, $isJudged ? Script::Save : Script::SaveUnjudged, [$mode->name[0], $this->time->deadline()], $arguments, $aside) as $i => $reply) {
                if ($reply === 1) {
                    unset($unsaved[$i]);
                    continue;
                }
                $unsaved[$i] = $items[$i]->key;
                if ($reply === -1) {
                    $overdue[$i] = $items[$i]->key;
                } elseif (\is_string($reply) && !$this->reads->canRead($items[$i]->key, $reply)) {
                    // The item in the way is a miss to every reader. The script may replace exactly this one.
                    $unreadable[$i] = $items[$i]->key;
                    $arguments[$i][0] .= sha1($reply);
                }
            }
            if ($overdue !== []) {
                // The answer has come in time, so a clock was set: the deadline was wrong.
                $this->time->forget();
            }
            $keys = $overdue === [] && $unreadable === [] ? [] : $overdue + $unreadable;
        }
        if ($unsaved === []) {
            return [];
        }
        ksort($unsaved);

        return array_values($unsaved);
    }

    /**
     * As save() of one write without a token, in fewer steps of ours and of the server.
     *
     * @return list<string>
     */
    private function write(Item $item): array
    {
        $shard = $this->layout->shard($item->key);
        $names = $this->layout->names($shard, [$item->key]);
        [$tags, $mark, $bytes, $isLarge] = $this->encoded($item);
        $first = [];
        if ($isLarge) {
            $names[] = $aside = $this->layout->aside($shard);
            $first[] = ['SET', $aside, Entry::ROOM . $tags . $mark . $bytes, 'EX', (string) self::ASIDE];
        }
        $arguments = [self::milliseconds($item->ttl), $this->layout->placeOfKeyVersion($item->key), $isLarge ? '' : $tags . $mark . $bytes];
        for ($tries = 0; $tries < 2; $tries++) {
            [$reply] = $this->scripts->run([[Script::WriteOne, $names, [$this->time->deadline(), ...$arguments]]], $first);
            if ($reply === 1) {
                return [];
            }
            if ($reply !== -1) {
                return $reply === 0 ? [$item->key] : throw Scripts::nonsense();
            }
            // As in save().
            $this->time->forget();
        }

        return [$item->key];
    }

    /** @return array{string, string, string, bool} its tags, and its value's mark and bytes; whether it is put aside first */
    private function encoded(Item $item): array
    {
        $tags = $item->tags === [] ? Entry::WITHOUT_TAGS : Entry::tagged($item->tags);
        // The mark and the bytes stay apart, so that a large value is copied only once.
        [$mark, $bytes] = \is_int($item->value) ? ['', (string) $item->value] : $this->payload->apart($item->key, $item->value);

        return [$tags, $mark, $bytes, \strlen($tags) + \strlen($bytes) >= self::LARGE];
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        return $this->confirmed($keys, $this->inShards(
            $keys,
            Script::Delete,
            [self::epoch($token), (string) ($token->version ?? '')],
            array_map(fn(string $key): array => [$this->places($key, $token)], $keys),
        ));
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return Counter::anewIfUnreadable($this, $key, $by, $initial, $ttl, fn(): int => $this->incremented($key, $by, $initial, $ttl));
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }

        return $this->confirmed($keys, $this->inShards($keys, Script::Touch, [self::milliseconds($ttl)]));
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        if ($tags === []) {
            return;
        }
        $calls = [];
        foreach ($this->layout->all() as $shard) {
            foreach (array_chunk($tags, Layout::AT_ONCE) as $chunk) {
                $calls[] = [Script::Invalidate, [...$this->layout->names($shard), $this->layout->invalidations($shard)], [(string) max(0, $serveStale), (string) self::MOST_TAGS, ...$chunk]];
            }
        }
        $this->scripts->run($calls);
        if ($this->layout->shards > 1) {
            // A value under a shard's version of now may have been made of items in a shard that was not reached yet.
            $this->scripts->run($calls);
        }
    }

    public function clear(): void
    {
        $this->walk()->clear(self::CLEARED_AT_ONCE);
    }

    public function prune(): int
    {
        return $this->walk()->prune();
    }

    public function keys(string $prefix = ''): iterable
    {
        return $this->walk()->keys($prefix);
    }

    /** Of the whole server, which others may use as well; of all masters of a cluster. */
    public function statistics(): StoreStatistics
    {
        $questions = [['DBSIZE'], ['INFO']];
        $masters = $this->connection instanceof ClusterConnection ? $this->connection->everywhere($questions) : [$this->scripts->send($questions)];
        $sums = $all = [];
        foreach ($masters as $name => [$size, $text]) {
            preg_match_all('/^([a-z_]+):([^\r\n]*)/m', \is_string($text) ? $text : '', $lines);
            $all[$name] = array_combine($lines[1], $lines[2]);
            foreach (['items' => $size] + $all[$name] as $about => $value) {
                $sums[$about] = is_numeric($value) ? ($sums[$about] ?? 0) + (int) $value : null;
            }
        }
        $capacity = $sums['maxmemory'] ?? null;

        return new StoreStatistics(
            items: $sums['items'] ?? null,
            bytes: $sums['used_memory'] ?? null,
            capacity: $capacity === 0 ? null : $capacity,
            hits: $sums['keyspace_hits'] ?? null,
            misses: $sums['keyspace_misses'] ?? null,
            evictions: $sums['evicted_keys'] ?? null,
            expired: $sums['expired_keys'] ?? null,
            details: isset($all[0]) ? $all[0] : array_combine(array_map(strval(...), array_keys($all)), $all),
        );
    }

    /**
     * How the server is configured, or each master of a cluster.
     *
     * @return array<string, array<string, string>> by the servers' names, '' if there is one: its values of these
     *
     * @throws StoreUnavailable
     */
    public function settings(string ...$names): array
    {
        $settings = [];
        foreach ($names as $name) {
            // One by one: until Redis 7 it understands only one.
            $command = ['CONFIG', 'GET', $name];
            $replies = $this->connection instanceof ClusterConnection ? $this->connection->everywhere([$command]) : ['' => $this->connection->send([$command])];
            foreach ($replies as $server => [$reply]) {
                $value = \is_array($reply) ? $reply[1] ?? null : null;
                $settings[$server] = ($settings[$server] ?? []) + (\is_string($value) ? [$name => $value] : []);
            }
        }

        return $settings;
    }

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        return $this->leases()->acquire($name, $owner, $seconds);
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->leases()->refresh($name, $owner, $seconds);
    }

    public function fence(string $name, string $owner): ?int
    {
        return $this->leases()->fence($name, $owner);
    }

    public function release(string $name, string $owner): bool
    {
        return $this->leases()->release($name, $owner);
    }

    /** The log that near stores in front of this one follow (see Tier\TieredStore). */
    public function log(): RedisLog
    {
        return new RedisLog($this->scripts, $this->layout, $this->evicts(...));
    }

    public function evicts(): ?string
    {
        return ($this->eviction ??= new Eviction($this->connection, new Noted($this->server)))->policy();
    }

    public function capabilities(): array
    {
        // In a cluster each shard has a clock of its own, and a request's first read is of some of them only.
        $requests = $this->layout->shards === 0 ? [Capability::RequestTokens] : [];

        return [Capability::WholeClear, Capability::Tags, Capability::Tokens, ...$requests, Capability::Keys, Capability::Sharing, Capability::Durability, Capability::Retention];
    }

    private function walk(): Walk
    {
        return $this->walk ??= new Walk($this->scripts, $this->layout);
    }

    private function leases(): RedisLeases
    {
        return new RedisLeases($this->scripts, $this->layout, $this->time);
    }

    /** @throws NotACounter */
    private function incremented(string $key, int $by, int $initial, ?int $ttl): int
    {
        [$reply] = $this->scripts->run([[Script::Increment, $this->layout->names($this->layout->shard($key), [$key]), [
            (string) $by,
            Counter::overflows($initial, $by) ? '' : (string) ($initial + $by),
            self::milliseconds($ttl),
            (string) $initial,
            $this->layout->placeOfKeyVersion($key),
            $this->layout->placeOfCount($key),
        ]]]);
        [$verdict, $value] = \is_array($reply) ? $reply + [null, null] : [null, null];
        if (!\is_string($value)) {
            throw Scripts::nonsense();
        }

        return match ($verdict) {
            'ok' => (int) $value,
            'range' => throw Counter::leavesItsRange($key, $value, $by),
            default => throw Counter::isNoInteger($key, $value === 'S' ? 'string' : 'object, array, float, bool or null'),
        };
    }

    /**
     * Runs a script on all of these keys, each shard's at once.
     *
     * @param array<int, string>                $keys
     * @param list<string>                      $common    the script's first arguments
     * @param array<int, list<string>>          $arguments those for a key, by its number
     * @param array<int, string>                $aside     what is put aside for a key before, by its number
     *
     * @return array<int, mixed> the replies, by the keys' numbers
     */
    private function inShards(array $keys, Script $script, array $common, array $arguments = [], array $aside = []): array
    {
        $calls = $chunks = $first = [];
        foreach ($this->layout->grouped($keys) as [$shard, $chunk]) {
            $names = $this->layout->names($shard, $chunk);
            $all = $common;
            foreach ($chunk as $i => $key) {
                if (isset($arguments[$i])) {
                    array_push($all, ...$arguments[$i]);
                }
                if (isset($aside[$i])) {
                    $names[] = $name = $this->layout->aside($shard);
                    $first[] = ['SET', $name, $aside[$i], 'EX', (string) self::ASIDE];
                }
            }
            $calls[] = [$script, $names, $all];
            $chunks[] = $chunk;
        }
        $replies = [];
        foreach ($this->scripts->run($calls, $first) as $call => $reply) {
            if (!\is_array($reply) || \count($reply) !== \count($chunks[$call])) {
                throw Scripts::nonsense();
            }
            $replies += array_combine(array_keys($chunks[$call]), $reply);
        }

        return $replies;
    }

    /**
     * @param list<string>      $keys
     * @param array<int, mixed> $replies
     *
     * @return list<string> those whose reply is 1; no key twice
     */
    private function confirmed(array $keys, array $replies): array
    {
        $found = [];
        foreach ($keys as $i => $key) {
            if (($replies[$i] ?? 0) === 1) {
                $found[$key] = true;
            }
        }

        return array_map(strval(...), array_keys($found));
    }

    /** @return string the places of the key versions that judge something; a write moves the first of them */
    private function places(string $key, ?Token $token): string
    {
        return $this->layout->placeOfKeyVersion($key) . (str_ends_with($token->epoch ?? '', Script::COUNTER) ? " {$this->layout->placeOfCount($key)}" : '');
    }

    private static function epoch(?Token $token): string
    {
        return substr($token->epoch ?? '', 0, Script::EPOCH + Life::NAME);
    }

    private static function milliseconds(?int $ttl): string
    {
        return $ttl === null || $ttl > Ttl::LONGEST ? '' : (string) (max(0, $ttl) * 1000);
    }
}
