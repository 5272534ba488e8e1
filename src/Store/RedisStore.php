<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\Dsn;
use Larder\Exception\InvalidOption;
use Larder\Fetched;
use Larder\Item;
use Larder\Leases;
use Larder\SaveMode;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\Store\Redis\ClusterConnection;
use Larder\Store\Redis\Connection;
use Larder\Store\Redis\Connections;
use Larder\Store\Redis\Layout;
use Larder\Store\Redis\RedisLeases;
use Larder\Store\Redis\Script;
use Larder\Store\Redis\Scripts;
use Larder\Store\Redis\Walk;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in Redis or Valkey: for several machines. Every operation and every batch is one round trip, mostly a script
 * (see Script); replicas are never read.
 *
 *     prefix:key      an item, with the server's own expiry
 *     prefix!clock    the epoch, the tick, and when a tag was last invalidated
 *     prefix!tags     a hash of the tags' stamps
 *     prefix!<n>      a guard, one of some thousand that the keys share by their hashes
 *
 * Whatever of these is lost (evicted, flushed), what needed it is dead: without the clock, the next script begins another
 * epoch, and every item, guard and token of the last one is of no use; without the tags, an item that has some is dead if
 * any tag was invalidated since its stamp. A clear removes the clock, and is done. What is dead then goes by and by: some
 * of it at once, the rest with prune(), or when its time is over.
 *
 * A miss gives its key's guard a new tick, if it has none; a write or a delete removes the guard, which even a full
 * server allows; a fill is stored only if the guard is there and not younger than its token. So fills that overlap do
 * not refuse each other, and one that was overtaken finds no guard or a younger one.
 *
 * A tag has a stamp only once it was invalidated. If there are too many, the older half goes, and what stands for them is
 * the tick of the youngest of those; prune() finds out which ones no item can need.
 *
 * As long as no tag was invalidated and nothing is missing, reading needs no script: a plain MGET of the clock, the items and
 * the guards tells all, and costs the server less. A read is plain if the one before it could have been; the first one
 * is a script, so that it is one round trip whatever it finds. What a plain read cannot tell is asked in a second one.
 *
 * A write says how long we wait for its answer, by the server's clock. Reads bring the time along; a write that no read
 * came before asks for it, which is a second round trip, once a minute.
 *
 * In a cluster (Redis Cluster), items are divided into shards by their keys; each has its names in one slot, with a clock, tags and
 * guards of its own. An invalidation reaches all of them, so that no read ever has to look elsewhere: one round trip to each
 * master that has one of the keys. How many shards there are must never change while there are items.
 *
 * What a server loses when it fails over to a replica that had not heard of it yet is lost here as well.
 */
final class RedisStore implements Store, Leases
{
    private const KEYS_AT_ONCE = 1_000;

    private const CLOCK_BYTES = 20;

    private const MOST_TAGS = 100_000;

    /** How many names a clear looks at, to free what it can of their memory. */
    private const CLEARED_AT_ONCE = 10_000;

    /** Seconds after which the server's clock is compared with ours again. */
    private const LAG_IS_TRUE_FOR = 60;

    private readonly Layout $layout;

    /** Whether the last read found no tag invalidated and nothing missing: then a plain one probably tells all next time. */
    private bool $readsPlainly = false;

    /** By how many ms the server's clock is ahead of ours, and when it was found; in Unix seconds. */
    private int $lag = 0;

    private float $lagFound = 0.0;

    private readonly Scripts $scripts;

    private readonly Walk $walk;

    private readonly RedisLeases $leases;

    private readonly \stdClass $foreign;

    /** Of what is not missing. */
    private readonly Token $none;

    /**
     * @param int   $shards   in a cluster, the number of parts that the items are divided into; 0: no cluster
     * @param float $patience seconds that the connection waits for a reply; 0: for ever
     *
     * @throws InvalidOption
     */
    public function __construct(
        private readonly Connection $connection,
        string $prefix = Prefix::DEFAULT,
        private readonly Payload $payload = new Payload(new PhpSerializer()),
        int $shards = 0,
        private readonly float $patience = 1.0,
    ) {
        $this->layout = new Layout(Prefix::check($prefix), $shards);
        $this->scripts = new Scripts($connection);
        $this->walk = new Walk($this->scripts, $this->layout);
        $this->leases = new RedisLeases($this->scripts, $this->layout);
        $this->foreign = new \stdClass();
        $this->none = new Token('', 0);
    }

    /**
     * Options: prefix; client (auto, phpredis, predis); database; timeout, read_timeout, retry_after (seconds);
     * persistent (switch); with TLS: tls_ca, tls_cert, tls_key (files), tls_name, tls_verify (switch); with sentinels: service,
     * sentinel_user, sentinel_password; in a cluster: shards (1 to 1024); those of Payload::fromDsn().
     */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow('prefix', ...Connections::options($dsn), ...Payload::OPTIONS);
        $shards = Connections::isCluster($dsn) ? $dsn->integer('shards', Connections::SHARDS) : 0;
        if (Connections::isCluster($dsn) && $shards < 1) {
            throw InvalidOption::range('shards', $shards, 'from 1 to 1024');
        }

        return new self(
            Connections::fromDsn($dsn),
            $dsn->text('prefix', Prefix::DEFAULT),
            Payload::fromDsn($dsn, $dsn->text('prefix', Prefix::DEFAULT)),
            $shards,
            $dsn->seconds('read_timeout', 1.0),
        );
    }

    public function fetch(array $keys): Fetched
    {
        $found = $this->readsPlainly ? $this->readPlainly($keys) : [];
        $open = [];
        foreach ($keys as $i => $key) {
            if (!isset($found[$i])) {
                $open[$i] = $key;
            }
        }
        if ($open !== []) {
            $found += $this->readByScript($open);
        }
        $items = $tokens = $stale = [];
        foreach ($keys as $i => $key) {
            [$item, $token, $isStale] = $found[$i];
            if ($item !== null) {
                $isStale ? $stale[$key] = $item : $items[$key] = $item;
            }
            if ($item === null || $isStale) {
                $tokens[$key] = $token;
            }
        }

        return new Fetched($items, $tokens, $stale);
    }

    public function token(string $key): Token
    {
        // The clock is no item: whoever asks for that gets a token and nothing else.
        $clock = $this->layout->clock($this->layout->shard($key));
        [$reply] = $this->scripts->send([['MGET', $clock, $this->layout->guard($key)]]);
        [$found, $guard] = \is_array($reply) ? $reply + [null, null] : [null, null];
        $token = \is_string($found) && \strlen($found) === self::CLOCK_BYTES && \is_string($guard) ? self::guarded($found, $guard) : null;

        return $token ?? $this->readByScript([$key], $clock)[0][1];
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        if ($items === []) {
            return [];
        }
        $bodies = [];
        foreach ($items as $item) {
            $tags = Tags::pack($item->tags);
            $bodies[] = substr(pack('N', \strlen($tags)), 1) . $tags . $this->payload->encode($item->key, $item->value);
        }
        $keys = array_map(static fn(Item $item): string => $item->key, $items);
        $unsaved = [];
        for ($tries = 0; $tries < 2 && $keys !== []; $tries++) {
            $late = [];
            foreach ($this->inShards($keys, Script::Save, [$mode->name[0], $this->deadline()], static fn(int $i): array => [
                $items[$i]->fill ? 'f' : 'w',
                self::milliseconds($items[$i]->ttl),
                $items[$i]->token->epoch ?? '',
                (string) ($items[$i]->token->clock ?? ''),
                $bodies[$i],
            ]) as $i => $saved) {
                if ($saved === -1) {
                    $late[$i] = $items[$i]->key;
                }
                if ($saved !== 1) {
                    $unsaved[$i] = $items[$i]->key;
                } else {
                    unset($unsaved[$i]);
                }
            }
            if ($late !== []) {
                // But here the answer is: it is the clock that was set.
                $this->lagFound = 0.0;
            }
            $keys = $late;
        }
        ksort($unsaved);

        return array_values($unsaved);
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        return $this->answering1($keys, $this->inShards($keys, Script::Delete, [$token->epoch ?? '', (string) ($token->clock ?? '')]));
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        [$reply] = $this->scripts->run([[Script::Increment, $this->names($this->layout->shard($key), [$key]), [
            (string) $by,
            Counter::overflows($initial, $by) ? '' : (string) ($initial + $by),
            self::milliseconds($ttl),
            (string) $initial,
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

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }

        return $this->answering1($keys, $this->inShards($keys, Script::Touch, [self::milliseconds($ttl)]));
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        if ($tags === []) {
            return;
        }
        $calls = [];
        foreach ($this->shards() as $shard) {
            foreach (array_chunk($tags, self::KEYS_AT_ONCE) as $chunk) {
                $calls[] = [Script::Invalidate, [$this->layout->clock($shard), $this->layout->tags($shard)], [(string) max(0, $serveStale), (string) self::MOST_TAGS, ...$chunk]];
            }
        }
        $this->scripts->run($calls);
    }

    public function clear(): void
    {
        $this->scripts->send(array_map(fn(int $shard): array => ['UNLINK', $this->layout->clock($shard)], $this->shards()));
        $this->walk->free(self::CLEARED_AT_ONCE);
    }

    public function prune(): int
    {
        return $this->walk->prune();
    }

    public function keys(string $prefix = ''): iterable
    {
        return $this->walk->keys($prefix);
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

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        return $this->leases->acquire($name, $owner, $seconds);
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->leases->refresh($name, $owner, $seconds);
    }

    public function release(string $name, string $owner): bool
    {
        return $this->leases->release($name, $owner);
    }

    public function capabilities(): array
    {
        return [Capability::Tags, Capability::Tokens, Capability::Keys, Capability::Sharing, Capability::Durability, Capability::Retention];
    }

    /**
     * @param array<int, string> $keys
     *
     * @return array<int, array{?Item, Token, bool}> by the keys' numbers, of those of which this tells all: the item,
     *                                               the token if it is missing, whether it is stale
     */
    private function readPlainly(array $keys): array
    {
        $commands = $numbers = [];
        foreach ($this->grouped($keys) as $shard => $chunks) {
            foreach ($chunks as $chunk) {
                $command = ['MGET', $this->layout->clock($shard)];
                foreach ($chunk as $key) {
                    $command[] = $this->layout->item($key);
                    $command[] = $this->layout->guard($key);
                }
                $commands[] = $command;
                $numbers[] = $chunk;
            }
        }
        if ($commands === []) {
            return [];
        }
        $asksTime = $this->asksTime();
        $replies = $this->scripts->send($asksTime ? [...$commands, ['TIME']] : $commands);
        if ($asksTime) {
            $this->compareClocks(self::time(array_pop($replies)));
        }
        $found = [];
        foreach ($replies as $command => $reply) {
            $clock = \is_array($reply) ? $reply[0] ?? null : throw Scripts::nonsense();
            if (!\is_string($clock) || \strlen($clock) !== self::CLOCK_BYTES) {
                continue;
            }
            $invalidated = substr($clock, 14, 6);
            $at = 1;
            foreach ($numbers[$command] as $i => $key) {
                [$bytes, $guard] = [$reply[$at] ?? null, $reply[$at + 1] ?? null];
                $at += 2;
                $item = null;
                if (\is_string($bytes) && self::isOf($clock, $bytes)) {
                    if (substr($bytes, 21, 3) !== "\0\0\0" && strcmp(substr($bytes, 9, 6), $invalidated) < 0) {
                        continue;
                    }
                    $item = $this->parsed($key, $bytes);
                }
                $token = $item === null && \is_string($guard) ? self::guarded($clock, $guard) : null;
                if ($item !== null || $token !== null) {
                    $found[$i] = [$item, $token ?? $this->none, false];
                }
            }
        }

        return $found;
    }

    /**
     * @param array<int, string> $keys
     * @param ?string            $name to look under instead of the items'
     *
     * @return array<int, array{?Item, Token, bool}> as readPlainly()
     */
    private function readByScript(array $keys, ?string $name = null): array
    {
        $calls = $numbers = [];
        foreach ($this->grouped($keys) as $shard => $chunks) {
            foreach ($chunks as $chunk) {
                $calls[] = [Script::Fetch, $this->names($shard, $chunk, $name), [$this->asksTime() ? '1' : '0']];
                $numbers[] = $chunk;
            }
        }
        $found = $foreign = [];
        $couldBePlain = true;
        foreach ($this->scripts->run($calls) as $call => $reply) {
            if (!\is_array($reply) || !\is_string($reply[0] ?? null) || !\is_int($reply[1] ?? null) || !\is_int($reply[2] ?? null) || !\is_int($reply[3] ?? null)) {
                throw Scripts::nonsense();
            }
            if ($reply[2] > 0) {
                $this->compareClocks($reply[2]);
            }
            $token = new Token($reply[0], $reply[1]);
            $couldBePlain = $couldBePlain && $reply[3] === 1;
            $at = 4;
            foreach ($numbers[$call] as $i => $key) {
                $bytes = $reply[$at++] ?? null;
                $isStale = \is_array($bytes);
                $bytes = $isStale ? $bytes[0] ?? null : $bytes;
                $found[$i] = [\is_string($bytes) ? $this->parsed($key, $bytes) : null, $token, $isStale];
                if (\is_string($bytes) && $found[$i][0] === null) {
                    $foreign[$i] = $key;
                }
            }
        }
        if ($name === null) {
            foreach ($foreign as $i => $key) {
                // The server takes it for living, and made nothing that a fill could be judged by.
                $found[$i] = [null, $this->token($key), false];
            }
            $this->readsPlainly = $couldBePlain;
        }

        return $found;
    }

    private static function isOf(string $clock, string $item): bool
    {
        return isset($item[Script::HEAD - 1]) && $item[0] === Script::MARK && substr($item, 1, 8) === substr($clock, 0, 8);
    }

    /** The token of this moment, if there is a guard to judge by. */
    private static function guarded(string $clock, string $guard): ?Token
    {
        $epoch = substr($clock, 0, 8);
        $tick = unpack('J', "\0\0" . substr($clock, 8, 6));

        return str_starts_with($guard, $epoch) && $tick !== false && \is_int($tick[1]) ? new Token($epoch, $tick[1]) : null;
    }

    /** @return string until when we wait for an answer to what is sent now, in ms of the server's clock, or a little earlier */
    private function deadline(): string
    {
        if ($this->patience <= 0.0) {
            return (string) \PHP_INT_MAX;
        }
        if ($this->asksTime()) {
            [$time] = $this->scripts->send([['TIME']]);
            $this->compareClocks(self::time($time));
        }

        return (string) ((int) ((microtime(true) + 0.9 * $this->patience) * 1000) + $this->lag);
    }

    /** Whether it is time to compare the server's clock with ours. */
    private function asksTime(): bool
    {
        return microtime(true) - $this->lagFound > self::LAG_IS_TRUE_FOR;
    }

    /** @return int in ms */
    private static function time(mixed $reply): int
    {
        return \is_array($reply) && is_numeric($reply[0] ?? null) && is_numeric($reply[1] ?? null)
            ? (int) $reply[0] * 1000 + intdiv((int) $reply[1], 1000)
            : throw Scripts::nonsense();
    }

    /** @param int $time of the server, in ms */
    private function compareClocks(int $time): void
    {
        $this->lagFound = microtime(true);
        $this->lag = $time - (int) ($this->lagFound * 1000);
    }

    private function parsed(string $key, string $bytes): ?Item
    {
        $numbers = unpack('na/Nb/nc/Nd/Ce/nf', $bytes, 9);
        if ($numbers === false) {
            return null;
        }
        /** @var array{a: int, b: int, c: int, d: int, e: int, f: int} $numbers */
        $expiry = $numbers['c'] << 32 | $numbers['d'];
        $length = $numbers['e'] << 16 | $numbers['f'];
        $value = $this->payload->decode(substr($bytes, Script::HEAD + $length), $this->foreign, $key);

        return $value === $this->foreign ? null : Item::found(
            $key,
            $value,
            $expiry === 0 ? null : intdiv($expiry - $this->lag, 1000),
            $numbers['a'] << 32 | $numbers['b'],
            $length === 0 ? [] : Tags::unpack(substr($bytes, Script::HEAD, $length)),
        );
    }

    /**
     * Runs a script on all of these keys, each shard's at once.
     *
     * @param array<int, string>                $keys
     * @param list<string>                      $common    the script's first arguments
     * @param ?\Closure(int): list<string>      $arguments for a key, by its number
     *
     * @return array<int, mixed> the replies, by the keys' numbers
     */
    private function inShards(array $keys, Script $script, array $common, ?\Closure $arguments = null): array
    {
        $calls = $numbers = [];
        foreach ($this->grouped($keys) as $shard => $chunks) {
            foreach ($chunks as $chunk) {
                $words = $common;
                if ($arguments !== null) {
                    foreach (array_keys($chunk) as $i) {
                        array_push($words, ...$arguments($i));
                    }
                }
                $calls[] = [$script, $this->names($shard, $chunk), $words];
                $numbers[] = array_keys($chunk);
            }
        }
        $replies = [];
        foreach ($this->scripts->run($calls) as $call => $reply) {
            if (!\is_array($reply) || \count($reply) !== \count($numbers[$call])) {
                throw Scripts::nonsense();
            }
            $replies += array_combine($numbers[$call], $reply);
        }

        return $replies;
    }

    /**
     * @param array<int, string> $keys of that shard
     * @param ?string            $item to name instead of the items
     *
     * @return non-empty-list<string> the keys of a script: clock, tags, and of each key the item and the guard
     */
    private function names(int $shard, array $keys, ?string $item = null): array
    {
        $names = [$this->layout->clock($shard), $this->layout->tags($shard)];
        foreach ($keys as $key) {
            $names[] = $item ?? $this->layout->item($key);
            $names[] = $this->layout->guard($key);
        }

        return $names;
    }

    /**
     * @param array<int, string> $keys
     *
     * @return array<int, list<array<int, string>>> by shard, in chunks, by the keys' numbers
     */
    private function grouped(array $keys): array
    {
        if ($this->layout->shards === 0 && \count($keys) <= self::KEYS_AT_ONCE) {
            return $keys === [] ? [] : [[$keys]];
        }
        $shards = [];
        foreach ($keys as $i => $key) {
            $shards[$this->layout->shard($key)][$i] = $key;
        }

        return array_map(static fn(array $keys): array => array_chunk($keys, self::KEYS_AT_ONCE, true), $shards);
    }

    /**
     * @param list<string>      $keys
     * @param array<int, mixed> $replies
     *
     * @return list<string> no key twice
     */
    private function answering1(array $keys, array $replies): array
    {
        $found = [];
        foreach ($keys as $i => $key) {
            if (($replies[$i] ?? 0) === 1) {
                $found[$key] = true;
            }
        }

        return array_map(strval(...), array_keys($found));
    }

    /** @return non-empty-list<int> */
    private function shards(): array
    {
        return range(0, max(0, $this->layout->shards - 1));
    }

    private static function milliseconds(?int $ttl): string
    {
        return $ttl === null || $ttl > Ttl::LONGEST ? '' : (string) (max(0, $ttl) * 1000);
    }
}
