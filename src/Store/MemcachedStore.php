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
use Larder\Item;
use Larder\SaveMode;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in Memcached: for several machines.
 *
 *     prefix:generation                  a random name that is part of all others; a clear changes it
 *     prefix:<generation>:k:<key>        an item, if the key is short and printable
 *     prefix:<generation>:h:<sha256>     an item of any other key, which is inside and compared
 *     prefix:<generation>:p:<random>:<n> a piece of a value that is too large for one item
 *
 *     item = expiry ";" length of the kept key ";" kept key, payload
 *
 * Reading asks for the generation along with the items: one round trip, unless somebody has cleared since.
 * Writing asks for it first: two. A generation that the server has evicted is replaced, and all is a miss.
 *
 * A value over 1 MB is pieces under a random name, written before the manifest that names it, their count and
 * their checksum; a missing piece is a miss. The pieces of a value that was replaced are left to the server's
 * eviction, like everything of a former generation: nobody can list a Memcached's keys.
 *
 * A counter is changed by compare and swap, as the server's own increment knows neither negative numbers nor
 * the end of the range.
 */
final class MemcachedStore implements Store
{
    /** With the item's own overhead below the server's usual limit of 1 MiB. */
    private const PIECE = 1_000_000;

    private const LONGEST_NAME = 250;

    /** Beyond, the server takes seconds for a point in time. */
    private const LONGEST_RELATIVE = 2_592_000;

    /** The server's times have 31 bits; what dies later is only dead by what the item itself says. */
    private const LATEST = 2_147_483_647;

    private const MANIFEST = 'M';

    private readonly string $prefix;

    private readonly Token $token;

    private readonly \stdClass $foreign;

    private ?\Memcached $client = null;

    private int $process = 0;

    /** Whether this connection has ever worked. */
    private bool $hasAnswered = false;

    /** Whether a failure now may only mean that an established connection has been closed. */
    private bool $mayBeClosed = false;

    /** When to try to connect again; hrtime in ns. */
    private int $notBefore = 0;

    /** @var list<\Memcached> clients that a fork took along: letting go of one would say good-bye in the parent's name */
    private array $inherited = [];

    private string $generation = '';

    /**
     * @param ?string $socket     the path of a unix socket; null: host and port count
     * @param float   $timeout    seconds to wait for a connection, and for each reply
     * @param float   $retryAfter seconds in which no other attempt is made after one has failed
     * @param bool    $persistent keep the connection for later requests of this process
     *
     * @throws Exception
     */
    public function __construct(
        private readonly string $host = '127.0.0.1',
        private readonly int $port = 11_211,
        private readonly ?string $socket = null,
        string $prefix = Prefix::DEFAULT,
        private readonly Payload $payload = new Payload(new PhpSerializer()),
        private readonly float $timeout = 1.0,
        private readonly float $retryAfter = 1.0,
        private readonly bool $persistent = false,
    ) {
        $this->prefix = Prefix::check($prefix);
        if (!\extension_loaded('memcached')) {
            throw ExtensionMissing::of('MemcachedStore', 'memcached');
        }
        $this->token = new Token('', 0);
        $this->foreign = new \stdClass();
    }

    /** Options: prefix; timeout, retry_after (seconds); persistent (switch); those of Payload::fromDsn(). */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow('prefix', 'timeout', 'retry_after', 'persistent', ...Payload::OPTIONS);
        $isSocket = $dsn->scheme === 'memcached+unix';
        if (!$isSocket && ($dsn->path !== '' || $dsn->user !== null)) {
            throw InvalidDsn::part("memcached://{$dsn->host}/{$dsn->path}", 'has a user or a path', 'write it as "memcached://host:port"');
        }

        return new self(
            $dsn->host ?? '127.0.0.1',
            $dsn->port ?? 11_211,
            $isSocket ? $dsn->absolutePath() : null,
            $dsn->text('prefix', Prefix::DEFAULT),
            Payload::fromDsn($dsn, $dsn->text('prefix', Prefix::DEFAULT)),
            $dsn->seconds('timeout', 1.0),
            $dsn->seconds('retry_after', 1.0),
            $dsn->switch('persistent', false),
        );
    }

    public function fetch(array $keys): Fetched
    {
        $items = $tokens = [];
        $found = $keys === [] ? [] : $this->look($keys);
        foreach ($keys as $key) {
            $entry = isset($found[$key]) ? $this->parsed($key, $found[$key]) : null;
            $value = $entry === null ? $this->foreign : $this->value($key, $entry[1]);
            if ($entry === null || $value === $this->foreign) {
                $tokens[$key] = $this->token;
            } else {
                $items[$key] = Item::found($key, $value, $entry[0]);
            }
        }

        return new Fetched($items, $tokens);
    }

    public function token(string $key): Token
    {
        return $this->token;
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $payloads = [];
        foreach ($items as $item) {
            if ($item->tags !== []) {
                throw UnsupportedOperation::by('MemcachedStore', Capability::Tags);
            }
            $payloads[] = $this->payload->encode($item->key, $item->value);
        }
        if ($items === []) {
            return [];
        }
        $this->learnGeneration();
        $unsaved = [];
        foreach ($items as $i => $item) {
            $saved = $item->ttl !== null && $item->ttl <= 0
                ? $this->saveDead($item->key, $mode)
                : $this->saveLive($item->key, $payloads[$i], $item->ttl, $mode);
            if (!$saved) {
                $unsaved[] = $item->key;
            }
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        if ($keys === []) {
            return [];
        }
        $this->learnGeneration();
        $existed = [];
        foreach ($keys as $key) {
            if ($this->remove($key)) {
                $existed[] = $key;
            }
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $this->learnGeneration();
        $name = $this->name($key);
        while (true) {
            [$bytes, $cas] = $this->swappable($name);
            $entry = $bytes === null ? null : $this->parsed($key, $bytes);
            $value = $entry === null ? $this->foreign : $this->value($key, $entry[1]);
            $sum = Counter::sum($key, $value === $this->foreign ? $initial : $value, $by);
            if ($value === $this->foreign && $ttl !== null && $ttl <= 0) {
                return $sum;
            }
            $expiry = $entry === null || $value === $this->foreign ? Ttl::expiry($ttl, time()) : $entry[0];
            $packed = $this->packed($key, (string) $sum, $expiry);
            $done = $bytes === null
                ? $this->client()->add($name, $packed, self::serverTtl($expiry))
                : $this->client()->cas($cas, $name, $packed, self::serverTtl($expiry));
            if ($done) {
                return $sum;
            }
            $this->expect(\Memcached::RES_NOTSTORED, \Memcached::RES_DATA_EXISTS, \Memcached::RES_NOTFOUND);
        }
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }
        if ($keys === []) {
            return [];
        }
        $this->learnGeneration();
        $touched = [];
        foreach ($keys as $key) {
            if ($this->touchOne($key, $ttl)) {
                $touched[] = $key;
            }
        }

        return $touched;
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        throw UnsupportedOperation::by('MemcachedStore', Capability::Tags);
    }

    public function clear(): void
    {
        $generation = bin2hex(random_bytes(8));
        if (!$this->client()->set($this->generationName(), $generation)) {
            $this->expect();
        }
        $this->generation = $generation;
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

    /** Of the whole server, which others may use as well. */
    public function statistics(): StoreStatistics
    {
        $servers = $this->client()->getStats() ?: [];
        $about = reset($servers);
        if (!\is_array($about) || $about === []) {
            $this->expect();

            throw $this->unavailable('it tells nothing about itself');
        }
        $number = static fn(string $name): ?int => isset($about[$name]) && is_numeric($about[$name]) ? (int) $about[$name] : null;
        $details = [];
        foreach ($about as $name => $value) {
            $details[(string) $name] = $value;
        }

        return new StoreStatistics(
            items: $number('curr_items'),
            bytes: $number('bytes'),
            capacity: $number('limit_maxbytes'),
            hits: $number('get_hits'),
            misses: $number('get_misses'),
            evictions: $number('evictions'),
            expired: $number('reclaimed'),
            details: $details,
        );
    }

    public function capabilities(): array
    {
        return [Capability::Sharing];
    }

    /**
     * @param non-empty-list<string> $keys
     *
     * @return array<array-key, string> what lies under the keys in the present generation
     */
    private function look(array $keys): array
    {
        while (true) {
            if ($this->generation === '') {
                $this->learnGeneration();
            }
            $names = [];
            foreach ($keys as $key) {
                $names[$key] = $this->name($key);
            }
            $found = $this->reconnecting(fn(): array => $this->getMany([$this->generationName(), ...array_values($names)]));
            $generation = $found[$this->generationName()] ?? '';
            if ($generation === $this->generation) {
                $bytes = [];
                foreach ($names as $key => $name) {
                    if (isset($found[$name])) {
                        $bytes[$key] = $found[$name];
                    }
                }

                return $bytes;
            }
            $this->generation = $generation;
        }
    }

    private function learnGeneration(): void
    {
        $this->reconnecting(function (): null {
            $name = $this->generationName();
            do {
                $generation = $this->client()->get($name);
                if (\is_string($generation)) {
                    $this->generation = $generation;

                    return null;
                }
                $this->expect(\Memcached::RES_NOTFOUND);
                if (!$this->client()->add($name, bin2hex(random_bytes(8)))) {
                    $this->expect(\Memcached::RES_NOTSTORED);
                }
            } while (true);
        });
    }

    /**
     * Every operation begins with such a read. If the connection has been closed since the last one (by the
     * server, or by a process that was forked from this one and has ended), it is made on a new one.
     *
     * @template T
     *
     * @param \Closure(): T $read
     *
     * @return T
     */
    private function reconnecting(\Closure $read): mixed
    {
        $this->mayBeClosed = $this->hasAnswered;
        try {
            $answer = $read();
        } catch (StoreUnavailable $failure) {
            $answer = $this->wasClosed() ? $read() : throw $failure;
        } finally {
            $this->mayBeClosed = false;
        }
        $this->hasAnswered = true;

        return $answer;
    }

    private function wasClosed(): bool
    {
        return $this->client === null && $this->mayBeClosed;
    }

    private function generationName(): string
    {
        return $this->prefix . 'generation';
    }

    private function name(string $key): string
    {
        return $this->isHashed($key)
            ? "{$this->prefix}{$this->generation}:h:" . hash('sha256', $key)
            : "{$this->prefix}{$this->generation}:k:{$key}";
    }

    private function isHashed(string $key): bool
    {
        return \strlen($this->prefix) + 20 + \strlen($key) > self::LONGEST_NAME || preg_match('/[^\x21-\x7e]/', $key) === 1;
    }

    /**
     * @param list<string> $names
     *
     * @return array<array-key, string>
     */
    private function getMany(array $names): array
    {
        $found = $this->client()->getMulti($names);
        if ($found === false) {
            $this->expect();

            return [];
        }
        if ($this->client()->getResultCode() !== \Memcached::RES_SUCCESS) {
            // Some of the answer may be missing: that is no miss, it is a failure.
            $this->expect(\Memcached::RES_NOTFOUND, \Memcached::RES_END);
        }

        return array_filter($found, is_string(...));
    }

    /** @return array{?string, float|int} what lies there, and what a swap has to name */
    private function swappable(string $name): array
    {
        $found = $this->client()->get($name, null, \Memcached::GET_EXTENDED);
        if (\is_array($found) && \is_string($found['value'] ?? null)) {
            $cas = $found['cas'] ?? 0;

            return [$found['value'], \is_int($cas) || \is_float($cas) ? $cas : 0];
        }
        $this->expect(\Memcached::RES_NOTFOUND);

        return [null, 0];
    }

    private function saveLive(string $key, string $payload, ?int $ttl, SaveMode $mode): bool
    {
        $expiry = Ttl::expiry($ttl, time());
        $name = $this->name($key);
        $packed = $this->packed($key, $payload, $expiry);
        if (\strlen($packed) > self::PIECE) {
            $manifest = $this->saveInPieces($payload, $expiry);
            if ($manifest === null) {
                if ($mode === SaveMode::Set) {
                    $this->remove($key);
                }

                return false;
            }
            $packed = $this->packed($key, $manifest, $expiry);
        }
        $client = $this->client();
        while (true) {
            $saved = match ($mode) {
                SaveMode::Set => $client->set($name, $packed, self::serverTtl($expiry)),
                SaveMode::Add => $client->add($name, $packed, self::serverTtl($expiry)),
                SaveMode::Replace => $client->replace($name, $packed, self::serverTtl($expiry)),
            };
            if ($saved) {
                return true;
            }
            if ($client->getResultCode() === \Memcached::RES_E2BIG || $client->getResultCode() === \Memcached::RES_SERVER_MEMORY_ALLOCATION_FAILURE) {
                $this->remove($key);

                return false;
            }
            $this->expect(\Memcached::RES_NOTSTORED, \Memcached::RES_NOTFOUND);
            if ($mode !== SaveMode::Add) {
                return false;
            }
            // What is in the way may have expired by its own account: the server's clock only counts seconds.
            [$bytes, $cas] = $this->swappable($name);
            if ($bytes === null) {
                continue;
            }
            $entry = $this->parsed($key, $bytes);
            if ($entry !== null && $this->value($key, $entry[1]) !== $this->foreign) {
                return false;
            }
            if ($client->cas($cas, $name, $packed, self::serverTtl($expiry))) {
                return true;
            }
            $this->expect(\Memcached::RES_DATA_EXISTS, \Memcached::RES_NOTFOUND);
        }
    }

    private function saveDead(string $key, SaveMode $mode): bool
    {
        if ($mode === SaveMode::Add) {
            return !$this->isLive($key);
        }

        return $this->remove($key) || $mode === SaveMode::Set;
    }

    private function isLive(string $key): bool
    {
        return $this->fetch([$key])->items !== [];
    }

    private function remove(string $key): bool
    {
        if ($this->client()->delete($this->name($key))) {
            return true;
        }
        $this->expect(\Memcached::RES_NOTFOUND);

        return false;
    }

    private function touchOne(string $key, ?int $ttl): bool
    {
        $name = $this->name($key);
        $expiry = Ttl::expiry($ttl, time());
        while (true) {
            [$bytes, $cas] = $this->swappable($name);
            $entry = $bytes === null ? null : $this->parsed($key, $bytes);
            if ($entry === null) {
                return false;
            }
            foreach ($this->pieces($entry[1]) as $piece) {
                if (!$this->client()->touch($piece, self::serverTtl($expiry))) {
                    $this->expect(\Memcached::RES_NOTFOUND);

                    return false;
                }
            }
            if ($this->client()->cas($cas, $name, $this->packed($key, $entry[1], $expiry), self::serverTtl($expiry))) {
                return true;
            }
            $this->expect(\Memcached::RES_DATA_EXISTS, \Memcached::RES_NOTFOUND);
        }
    }

    /** @return ?string the manifest; null if the server has no room */
    private function saveInPieces(string $payload, ?int $expiry): ?string
    {
        $random = bin2hex(random_bytes(8));
        $count = 0;
        for ($offset = 0; $offset < \strlen($payload); $offset += self::PIECE) {
            $piece = substr($payload, $offset, self::PIECE);
            if (!$this->client()->set($this->piece($random, $count++), $piece, self::serverTtl($expiry))) {
                $this->expect(\Memcached::RES_NOTSTORED, \Memcached::RES_E2BIG, \Memcached::RES_SERVER_MEMORY_ALLOCATION_FAILURE);

                return null;
            }
        }

        return self::MANIFEST . "{$random};{$count};" . hash('xxh128', $payload);
    }

    private function piece(string $random, int $number): string
    {
        return "{$this->prefix}{$this->generation}:p:{$random}:{$number}";
    }

    /** @return list<string> the names of the pieces, if the payload is a manifest */
    private function pieces(string $payload): array
    {
        if (($payload[0] ?? '') !== self::MANIFEST) {
            return [];
        }
        [$random, $count] = explode(';', substr($payload, 1)) + ['', '0'];

        return array_map(fn(int $number): string => $this->piece($random, $number), range(0, max(0, (int) $count - 1)));
    }

    private function value(string $key, string $payload): mixed
    {
        $pieces = $this->pieces($payload);
        if ($pieces === []) {
            return $this->payload->decode($payload, $this->foreign, $key);
        }
        $found = $this->getMany($pieces);
        $whole = '';
        foreach ($pieces as $piece) {
            $whole .= $found[$piece] ?? '';
        }
        $checksum = (string) substr((string) strrchr($payload, ';'), 1);

        return hash('xxh128', $whole) === $checksum ? $this->payload->decode($whole, $this->foreign, $key) : $this->foreign;
    }

    private function packed(string $key, string $payload, ?int $expiry): string
    {
        $kept = $this->isHashed($key) ? $key : '';

        return ($expiry ?? '') . ';' . \strlen($kept) . ';' . $kept . $payload;
    }

    /** @return ?array{?int, string} expiry and payload; null if it is dead, another key's, or nothing of ours */
    private function parsed(string $key, string $bytes): ?array
    {
        if (preg_match('/^(\d*);(\d+);/', $bytes, $match) !== 1) {
            return null;
        }
        $start = \strlen($match[0]);
        $length = (int) $match[2];
        if (substr($bytes, $start, $length) !== ($this->isHashed($key) ? $key : '')) {
            return null;
        }
        $expiry = $match[1] === '' ? null : (int) $match[1];

        return $expiry !== null && $expiry <= time() ? null : [$expiry, substr($bytes, $start + $length)];
    }

    private static function serverTtl(?int $expiry): int
    {
        if ($expiry === null || $expiry > self::LATEST) {
            return 0;
        }
        $left = $expiry - time();

        return $left > self::LONGEST_RELATIVE ? $expiry : max(1, $left);
    }

    private function client(): \Memcached
    {
        if ($this->client !== null && $this->process === getmypid()) {
            return $this->client;
        }
        if ($this->client !== null) {
            array_push($this->inherited, $this->client);
            $this->client = null;
        }
        if (hrtime(true) < $this->notBefore) {
            throw $this->unavailable('it could not be reached a moment ago');
        }
        $client = $this->persistent
            ? new \Memcached("larder:{$this->socket}:{$this->host}:{$this->port}:" . getmypid())
            : new \Memcached();
        if ($client->getServerList() === []) {
            $client->setOptions([
                \Memcached::OPT_COMPRESSION => false,
                \Memcached::OPT_TCP_NODELAY => true,
                \Memcached::OPT_CONNECT_TIMEOUT => (int) ($this->timeout * 1e3),
                \Memcached::OPT_POLL_TIMEOUT => (int) ($this->timeout * 1e3),
                \Memcached::OPT_SEND_TIMEOUT => (int) ($this->timeout * 1e6),
                \Memcached::OPT_RECV_TIMEOUT => (int) ($this->timeout * 1e6),
            ]);
            $client->addServer($this->socket ?? $this->host, $this->socket === null ? $this->port : 0);
        }
        $this->process = (int) getmypid();
        $this->generation = '';
        $this->hasAnswered = false;

        return $this->client = $client;
    }

    /**
     * The last answer was one of these; anything else is a failure.
     *
     * @throws StoreUnavailable
     */
    private function expect(int ...$codes): void
    {
        $client = $this->client();
        if (\in_array($client->getResultCode(), $codes, true)) {
            $this->hasAnswered = true;

            return;
        }
        $why = $client->getResultMessage();
        if ($client->getResultCode() === \Memcached::RES_TIMEOUT) {
            $this->mayBeClosed = false;
        }
        // What was an established connection may only have been closed; what never was one is given time.
        if (!$this->hasAnswered) {
            $this->notBefore = (int) hrtime(true) + (int) ($this->retryAfter * 1e9);
        }
        if ($this->persistent) {
            $client->resetServerList();
        }
        $this->client = null;

        throw $this->unavailable($why);
    }

    private function unavailable(string $why): StoreUnavailable
    {
        return StoreUnavailable::because(
            'The Memcached server ' . ($this->socket ?? "{$this->host}:{$this->port}"),
            $why,
            'see that it runs and that the DSN\'s address is right',
        );
    }
}
