<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Exception\StoreUnavailable;
use Larder\Store\CircuitBreaker;
use Larder\System\Process;

/** A line to one server, over the extension memcached. It connects when first used. */
final class Server
{
    public const TIMEOUT = 1.0;

    public const RETRY_AFTER = 0.5;

    /** Of the timeout, what counts as all of it. */
    private const NEARLY = 0.9;

    /** Beyond, the server takes seconds for a point in time. */
    private const LONGEST_RELATIVE = 2_592_000;

    /** The server's times have 31 bits; what dies later is only dead by what the item itself says. */
    private const LATEST = 2_147_483_647;

    private ?\Memcached $client = null;

    private int $process = 0;

    /** Whether the server has answered since this process has last connected, or was given what an earlier request has left. */
    private bool $hasAnswered = false;

    /** When this process has last begun to connect, by hrtime(). */
    private int $began = 0;

    /** Whether there was a connection already, so that a failure may only mean that it has been closed. */
    private bool $isEstablished = false;

    /** Whether the last failure was of such a one. */
    private bool $wasClosed = false;

    private readonly CircuitBreaker $breaker;

    /** @var list<\Memcached> clients that a fork took along: letting go of one would say good-bye in the parent's name */
    private array $inherited = [];

    /** @var ?non-empty-list<string> the names that were asked for and not yet read */
    private ?array $announced = null;

    /** The trouble when the server was last asked; null: none. */
    private ?StoreUnavailable $failure = null;

    /**
     * @param ?string $socket     the path of a unix socket; null: host and port count
     * @param float   $timeout    seconds to wait for a connection, and for each reply
     * @param float   $retryAfter seconds in which no process of this machine asks again after it was waited for in vain
     * @param bool    $persistent keep the connection for later requests of this process
     */
    public function __construct(
        private readonly string $host = '127.0.0.1',
        private readonly int $port = 11_211,
        private readonly ?string $socket = null,
        private readonly float $timeout = self::TIMEOUT,
        float $retryAfter = self::RETRY_AFTER,
        private readonly bool $persistent = false,
    ) {
        // A process with a short timeout tells nothing about the server to those with a longer one.
        $this->breaker = new CircuitBreaker("memcached {$this->name()} {$timeout}", $retryAfter, $timeout);
    }

    public function name(): string
    {
        return $this->socket ?? "{$this->host}:{$this->port}";
    }

    public function failure(): ?StoreUnavailable
    {
        return $this->failure;
    }

    /**
     * Asks for what read() is going to ask for, so that several servers work at the same time. What fails now fails there.
     *
     * @param non-empty-list<string> $names
     */
    public function announce(array $names): void
    {
        try {
            $this->client()->getDelayed($names);
            $this->announced = $names;
        } catch (StoreUnavailable) {
            // The reader tells it.
        }
    }

    /**
     * @param non-empty-list<string> $names
     *
     * @return array<array-key, string> what is there, by name
     *
     * @throws StoreUnavailable
     */
    public function read(array $names): array
    {
        $announced = $this->announced;
        $this->announced = null;
        if ($announced !== null) {
            $found = $this->reconnecting(fn(): ?array => $this->client === null ? null : $this->announcement());
            if ($found !== null && $announced === $names) {
                return $found;
            }
        }

        return $this->reconnecting(function () use ($names): array {
            $found = $this->client()->getMulti($names);

            return array_filter($this->complete($found), is_string(...));
        });
    }

    /**
     * @param non-empty-list<string> $names
     *
     * @return array<array-key, array{string, int|float}> what is there, and what a swap has to name, by name
     *
     * @throws StoreUnavailable
     */
    public function swappable(array $names): array
    {
        if ($this->announced !== null) {
            $this->read($this->announced);
        }

        return $this->reconnecting(function () use ($names): array {
            $swappable = [];
            foreach ($this->complete($this->client()->getMulti($names, \Memcached::GET_EXTENDED)) as $name => $about) {
                if (\is_array($about) && \is_string($about['value'] ?? null)) {
                    $cas = $about['cas'] ?? 0;
                    $swappable[$name] = [$about['value'], \is_int($cas) || \is_float($cas) ? $cas : 0];
                }
            }

            return $swappable;
        });
    }

    /** @throws StoreUnavailable */
    public function set(string $name, string $bytes, ?int $expiry): Outcome
    {
        return $this->outcome($this->client()->set($name, $bytes, self::ttl($expiry)));
    }

    /** @throws StoreUnavailable */
    public function add(string $name, string $bytes, ?int $expiry): Outcome
    {
        return $this->outcome($this->client()->add($name, $bytes, self::ttl($expiry)));
    }

    /**
     * Stores only if nothing has changed there.
     *
     * @throws StoreUnavailable
     */
    public function swap(int|float $cas, string $name, string $bytes, ?int $expiry): Outcome
    {
        return $this->outcome($this->client()->cas($cas, $name, $bytes, self::ttl($expiry)));
    }

    /**
     * Removes it only if nothing has changed there. The protocol's delete knows no such condition, but an item that is stored with an expiry in the
     * past is gone at once.
     *
     * @throws StoreUnavailable
     */
    public function remove(int|float $cas, string $name): Outcome
    {
        return $this->outcome($this->client()->cas($cas, $name, '', -1));
    }

    /** @throws StoreUnavailable */
    public function delete(string $name): bool
    {
        if ($this->client()->delete($name)) {
            return true;
        }
        $this->expect(\Memcached::RES_NOTFOUND);

        return false;
    }

    /** @throws StoreUnavailable */
    public function touch(string $name, ?int $expiry): bool
    {
        if ($this->client()->touch($name, self::ttl($expiry))) {
            return true;
        }
        $this->expect(\Memcached::RES_NOTFOUND);

        return false;
    }

    public function hasNoRoom(): StoreUnavailable
    {
        return StoreUnavailable::because("The Memcached server {$this->name()}", 'it has no memory left', 'give it more (-m), or let it evict (no -M)', takesNothing: true);
    }

    /**
     * @return array<string, mixed>
     *
     * @throws StoreUnavailable
     */
    public function statistics(): array
    {
        $servers = $this->client()->getStats() ?: [];
        $about = reset($servers);
        if (!\is_array($about) || $about === []) {
            $this->expect();

            throw $this->unavailable('it tells nothing about itself');
        }
        $statistics = [];
        foreach ($about as $name => $value) {
            $statistics[(string) $name] = $value;
        }

        return $statistics;
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
        $this->wasClosed = false;
        try {
            $answer = $read();
        } catch (StoreUnavailable $failure) {
            $answer = $this->wasClosed() ? $read() : throw $failure;
        }
        $this->answered();
        $this->failure = null;

        return $answer;
    }

    private function answered(): void
    {
        if (!$this->hasAnswered) {
            $this->hasAnswered = $this->isEstablished = true;
            $this->breaker->worked();
        }
    }

    private function wasClosed(): bool
    {
        return $this->wasClosed;
    }

    /** @return array<array-key, string> */
    private function announcement(): array
    {
        $found = [];
        foreach ($this->complete($this->client()->fetchAll()) as $each) {
            if (\is_array($each) && \is_string($each['key'] ?? null) && \is_string($each['value'] ?? null)) {
                $found[$each['key']] = $each['value'];
            }
        }

        return $found;
    }

    /**
     * @param array<array-key, mixed>|false $found
     *
     * @return array<array-key, mixed>
     */
    private function complete(array|false $found): array
    {
        if ($found === false || $this->client()->getResultCode() !== \Memcached::RES_SUCCESS) {
            // Some of the answer may be missing: that is no miss, it is a failure.
            $this->expect(\Memcached::RES_NOTFOUND, \Memcached::RES_END);
        }

        return $found === false ? [] : $found;
    }

    private function outcome(bool $stored): Outcome
    {
        if ($stored) {
            return Outcome::Stored;
        }
        $code = $this->client()->getResultCode();
        if ($code === \Memcached::RES_E2BIG || $code === \Memcached::RES_SERVER_MEMORY_ALLOCATION_FAILURE) {
            return Outcome::NoRoom;
        }
        $this->expect(\Memcached::RES_NOTSTORED, \Memcached::RES_DATA_EXISTS, \Memcached::RES_NOTFOUND);

        return Outcome::Overtaken;
    }

    private static function ttl(?int $expiry): int
    {
        if ($expiry === null || $expiry > self::LATEST) {
            return 0;
        }
        $left = $expiry - time();

        return $left > self::LONGEST_RELATIVE ? $expiry : max(1, $left);
    }

    private function client(): \Memcached
    {
        if ($this->client !== null && $this->process === Process::id()) {
            return $this->client;
        }
        if ($this->client !== null) {
            array_push($this->inherited, $this->client);
            $this->client = null;
            $this->announced = null;
        }
        if (!$this->breaker->allows()) {
            throw $this->unavailable($this->breaker->why('it could not be reached a moment ago'));
        }
        $client = $this->persistent
            ? new \Memcached("larder:{$this->name()}:{$this->timeout}:" . Process::id())
            : new \Memcached();
        $this->isEstablished = $client->getServerList() !== [];
        if (!$this->isEstablished) {
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
        $this->process = Process::id();
        $this->hasAnswered = false;
        $this->began = (int) hrtime(true);

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
            $this->answered();

            return;
        }
        $why = $client->getResultMessage();
        // An established connection may only have been closed; what never was one, or is slow, is given time.
        $this->wasClosed = $this->isEstablished && $client->getResultCode() !== \Memcached::RES_TIMEOUT;
        if (!$this->wasClosed) {
            // A name that has to be looked up, or a connection, may take that long as well.
            $this->breaker->failed($why, $client->getResultCode() === \Memcached::RES_TIMEOUT || hrtime(true) - $this->began >= self::NEARLY * $this->timeout * 1e9);
        }
        if ($this->persistent) {
            $client->resetServerList();
        }
        $this->client = null;
        $this->announced = null;

        throw $this->unavailable($why);
    }

    private function unavailable(string $why): StoreUnavailable
    {
        return $this->failure = StoreUnavailable::because(
            "The Memcached server {$this->name()}",
            $why,
            'see that it runs and that the DSN\'s address is right',
        );
    }
}
