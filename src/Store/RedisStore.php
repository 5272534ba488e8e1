<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\Dsn;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidDsn;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\SaveMode;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\Store\Redis\Connection;
use Larder\Store\Redis\ErrorReply;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\Redis\Server;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in Redis or Valkey: for several machines. Under each key is the payload alone, with the server's own
 * expiry; a counter is the server's own kind of integer. Every operation and every batch is one round trip.
 *
 * A clear walks the server's keys in steps (SCAN, UNLINK) and removes those of the prefix: it takes as long
 * as there are keys in the database, but costs every other operation nothing, leaves nothing behind, and
 * stops nobody. What is written while it runs may or may not survive it.
 */
final class RedisStore implements Store
{
    private const KEYS_AT_ONCE = '1000';

    /** Adds to a counter, or says what is there instead. The result comes back as text: Lua has no 64-bit ints. */
    private const INCREMENT = <<<'LUA'
        local value = redis.call('GET', KEYS[1])
        if not value then
            if ARGV[2] == '' then return {'range', ARGV[4]} end
            if ARGV[3] == '' then
                redis.call('SET', KEYS[1], ARGV[2])
            elseif tonumber(ARGV[3]) > 0 then
                redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
            end
            return {'ok', ARGV[2]}
        end
        if not string.match(value, '^%-?%d+$') then return {'type', string.sub(value, 1, 1)} end
        local reply = redis.pcall('INCRBY', KEYS[1], ARGV[1])
        if type(reply) == 'table' and reply.err then return {'range', value, reply.err} end
        return {'ok', redis.call('GET', KEYS[1])}
        LUA;

    private readonly string $prefix;

    private readonly string $increment;

    private readonly Token $token;

    private readonly \stdClass $foreign;

    /** @throws InvalidOption */
    public function __construct(
        private readonly Connection $connection,
        string $prefix = Prefix::DEFAULT,
        private readonly Payload $payload = new Payload(new PhpSerializer()),
    ) {
        $this->prefix = Prefix::check($prefix);
        $this->increment = sha1(self::INCREMENT);
        $this->token = new Token('', 0);
        $this->foreign = new \stdClass();
    }

    /**
     * Options: prefix; serializer (auto, igbinary, php); client (auto, phpredis, predis); database; timeout,
     * read_timeout, retry_after (seconds); persistent (switch).
     */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow('prefix', 'serializer', 'client', 'database', 'timeout', 'read_timeout', 'retry_after', 'persistent');
        $isSocket = $dsn->scheme === 'redis+unix';
        if (!$isSocket && preg_match('/^\d*$/D', $dsn->path) !== 1) {
            throw InvalidDsn::part("{$dsn->scheme}://{$dsn->host}/{$dsn->path}", 'has no number for its database', 'write it as "redis://host:port/0"');
        }
        $database = $dsn->integer('database', $isSocket ? 0 : (int) $dsn->path);
        if ($database < 0) {
            throw InvalidOption::range('database', $database, '0 or more');
        }
        $server = new Server(
            host: $dsn->host ?? '127.0.0.1',
            port: $dsn->port ?? 6379,
            socket: $isSocket ? $dsn->absolutePath() : null,
            tls: $dsn->scheme === 'rediss',
            user: $dsn->user,
            password: $dsn->password,
            database: $database,
            timeout: $dsn->seconds('timeout', 1.0),
            readTimeout: $dsn->seconds('read_timeout', 1.0),
            retryAfter: $dsn->seconds('retry_after', 1.0),
            persistent: $dsn->switch('persistent', false),
        );

        return new self(
            self::connection($server, $dsn->text('client', 'auto')),
            $dsn->text('prefix', Prefix::DEFAULT),
            Payload::named($dsn->text('serializer', 'auto')),
        );
    }

    public function fetch(array $keys): Fetched
    {
        if ($keys === []) {
            return new Fetched([], []);
        }
        $get = ['MGET'];
        $ask = [];
        foreach ($keys as $key) {
            $get[] = $this->prefix . $key;
            $ask[] = ['PTTL', $this->prefix . $key];
        }
        $replies = $this->send([$get, ...$ask]);
        $payloads = \is_array($replies[0]) ? $replies[0] : [];
        $items = $tokens = [];
        $now = (int) (microtime(true) * 1000);
        foreach ($keys as $i => $key) {
            $payload = $payloads[$i] ?? null;
            $left = $replies[$i + 1] ?? null;
            $value = \is_string($payload) ? $this->payload->decode($payload, $this->foreign) : $this->foreign;
            if ($value === $this->foreign) {
                $tokens[$key] = $this->token;
            } else {
                $expiry = \is_int($left) && $left >= 0 ? intdiv($now + $left, 1000) : null;
                $items[$key] = Item::found($key, $value, $expiry);
            }
        }

        return new Fetched($items, $tokens);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $commands = [];
        foreach ($items as $item) {
            if ($item->tags !== []) {
                throw UnsupportedOperation::by('RedisStore', Capability::Tags);
            }
            $name = $this->prefix . $item->key;
            if ($item->ttl !== null && $item->ttl <= 0) {
                $commands[] = [$mode === SaveMode::Add ? 'EXISTS' : 'UNLINK', $name];
                continue;
            }
            $command = ['SET', $name, $this->payload->encode($item->key, $item->value)];
            if ($item->ttl !== null && $item->ttl <= Ttl::LONGEST) {
                array_push($command, 'EX', (string) $item->ttl);
            }
            if ($mode !== SaveMode::Set) {
                $command[] = $mode === SaveMode::Add ? 'NX' : 'XX';
            }
            $commands[] = $command;
        }
        if ($commands === []) {
            return [];
        }
        $unsaved = $refused = [];
        foreach ($this->connection->send($commands) as $i => $reply) {
            $item = $items[$i];
            $isSaved = match ($commands[$i][0]) {
                'EXISTS' => $reply === 0,
                'UNLINK' => $reply === 1 || $mode === SaveMode::Set,
                default => $reply === 'OK',
            };
            if ($reply instanceof ErrorReply) {
                if (!str_starts_with($reply->message, 'OOM ')) {
                    throw $this->said($reply);
                }
                $isSaved = false;
                $refused[] = $this->prefix . $item->key;
            }
            if (!$isSaved) {
                $unsaved[] = $item->key;
            }
        }
        if ($refused !== [] && $mode !== SaveMode::Add) {
            // A full server has kept the old values.
            $this->send([['UNLINK', ...$refused]]);
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        if ($keys === []) {
            return [];
        }
        $existed = [];
        $commands = array_map(fn(string $key): array => ['UNLINK', $this->prefix . $key], $keys);
        foreach ($this->send($commands) as $i => $reply) {
            if ($reply === 1) {
                $existed[] = $keys[$i];
            }
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $arguments = [
            '1',
            $this->prefix . $key,
            (string) $by,
            Counter::overflows($initial, $by) ? '' : (string) ($initial + $by),
            $ttl === null || $ttl > Ttl::LONGEST ? '' : (string) (max(0, $ttl) * 1000),
            (string) $initial,
        ];
        [$reply] = $this->connection->send([['EVALSHA', $this->increment, ...$arguments]]);
        if ($reply instanceof ErrorReply && str_starts_with($reply->message, 'NOSCRIPT')) {
            [$reply] = $this->connection->send([['EVAL', self::INCREMENT, ...$arguments]]);
        }
        if ($reply instanceof ErrorReply) {
            throw $this->said($reply);
        }
        [$verdict, $value] = \is_array($reply) ? $reply + [null, null] : [null, null];
        if (!\is_string($value)) {
            throw StoreUnavailable::because('The Redis server', 'its reply makes no sense', 'see what answers there');
        }

        return match ($verdict) {
            'ok' => (int) $value,
            'range' => throw Counter::leavesItsRange($key, $value, $by),
            default => throw Counter::isNoInteger($key, $value === 'S' ? 'string' : 'object, array, float, bool or null'),
        };
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($keys === []) {
            return [];
        }
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }
        $commands = [];
        foreach ($keys as $key) {
            $name = $this->prefix . $key;
            if ($ttl === null || $ttl > Ttl::LONGEST) {
                $commands[] = ['PERSIST', $name];
                $commands[] = ['EXISTS', $name];
            } else {
                $commands[] = ['EXPIRE', $name, (string) $ttl];
            }
        }
        $replies = $this->send($commands);
        $width = intdiv(\count($commands), \count($keys));
        $touched = [];
        foreach ($keys as $i => $key) {
            if (($replies[$i * $width + $width - 1] ?? null) === 1) {
                $touched[] = $key;
            }
        }

        return $touched;
    }

    public function invalidateTags(array $tags): void
    {
        throw UnsupportedOperation::by('RedisStore', Capability::Tags);
    }

    public function clear(): void
    {
        foreach ($this->scan($this->prefix . '*') as $names) {
            $this->send([['UNLINK', ...$names]]);
        }
    }

    /** The server removes what is dead by itself. */
    public function prune(): int
    {
        return 0;
    }

    public function keys(string $prefix = ''): iterable
    {
        // A walk of a server that is growing may bring a key twice.
        $seen = [];
        foreach ($this->scan($this->prefix . addcslashes($prefix, '*?[]\\^-') . '*') as $names) {
            foreach ($names as $name) {
                $seen[substr($name, \strlen($this->prefix))] = true;
            }
        }

        return array_map(strval(...), array_keys($seen));
    }

    /** Of the whole server, which others may use as well. */
    public function statistics(): StoreStatistics
    {
        [$size, $text] = $this->send([['DBSIZE'], ['INFO']]) + [null, null];
        preg_match_all('/^([a-z_]+):([^\r\n]*)/m', \is_string($text) ? $text : '', $lines);
        $about = array_combine($lines[1], $lines[2]);
        $number = static fn(string $name): ?int => isset($about[$name]) && is_numeric($about[$name]) ? (int) $about[$name] : null;
        $capacity = $number('maxmemory');

        return new StoreStatistics(
            items: \is_int($size) ? $size : null,
            bytes: $number('used_memory'),
            capacity: $capacity === 0 ? null : $capacity,
            hits: $number('keyspace_hits'),
            misses: $number('keyspace_misses'),
            evictions: $number('evicted_keys'),
            expired: $number('expired_keys'),
            details: $about,
        );
    }

    public function capabilities(): array
    {
        return [Capability::Keys, Capability::Sharing, Capability::Durability];
    }

    private static function connection(Server $server, string $client): Connection
    {
        return match ($client) {
            'phpredis' => new PhpRedisConnection($server),
            'predis' => new PredisConnection($server),
            'auto' => match (true) {
                \extension_loaded('redis') => new PhpRedisConnection($server),
                class_exists(\Predis\Client::class) => new PredisConnection($server),
                default => throw ExtensionMissing::ofClient('RedisStore', 'the PHP extension redis', 'the package predis/predis'),
            },
            default => throw InvalidOption::choice('client', $client, 'auto', 'phpredis', 'predis'),
        };
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @return non-empty-list<mixed>
     *
     * @throws StoreUnavailable also if the server refused one of them
     */
    private function send(array $commands): array
    {
        $replies = $this->connection->send($commands);
        foreach ($replies as $reply) {
            if ($reply instanceof ErrorReply) {
                throw $this->said($reply);
            }
        }

        return $replies;
    }

    /** @return iterable<non-empty-list<string>> names that match, in steps */
    private function scan(string $pattern): iterable
    {
        $cursor = '0';
        do {
            [$reply] = $this->send([['SCAN', $cursor, 'MATCH', $pattern, 'COUNT', self::KEYS_AT_ONCE]]);
            if (!\is_array($reply) || !isset($reply[0], $reply[1]) || !\is_array($reply[1]) || !\is_string($reply[0])) {
                throw StoreUnavailable::because('The Redis server', 'its reply makes no sense', 'see what answers there');
            }
            $cursor = $reply[0];
            $names = array_values(array_filter($reply[1], is_string(...)));
            if ($names !== []) {
                yield $names;
            }
        } while ($cursor !== '0');
    }

    private function said(ErrorReply $reply): StoreUnavailable
    {
        return StoreUnavailable::because('The Redis server', "it said \"{$reply->message}\"", 'see its configuration');
    }
}
