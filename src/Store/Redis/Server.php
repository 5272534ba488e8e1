<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;
use Larder\Store\CircuitBreaker;

/** Where a server is, and how to speak to it. */
final class Server
{
    public const TIMEOUT = 0.4;

    public const READ_TIMEOUT = 1.0;

    public const RETRY_AFTER = 0.5;

    /** Of a timeout, what counts as all of it. */
    private const NEARLY = 0.9;

    /** Seconds that are a wait even where there is no timeout: a name may be looked up for so long. */
    private const LONG = 1.0;

    /**
     * @param ?string $socket         the path of a unix socket; null: host and port count
     * @param ?Tls    $tls            null: the connection is not encrypted
     * @param float   $timeout        seconds to wait for a connection
     * @param float   $readTimeout    seconds to wait for a reply
     * @param float   $retryAfter     seconds in which no process of this machine asks again after it was waited for in vain
     * @param bool    $persistent     keep the connection for later requests of this process (see isKept())
     * @param bool    $isSentinel     it only knows where the master is, and options of its own name its user and password
     */
    public function __construct(
        public readonly string $host = '127.0.0.1',
        public readonly int $port = 6379,
        public readonly ?string $socket = null,
        public readonly ?Tls $tls = null,
        public readonly ?string $user = null,
        #[\SensitiveParameter]
        public readonly ?string $password = null,
        public readonly int $database = 0,
        public readonly float $timeout = self::TIMEOUT,
        public readonly float $readTimeout = self::READ_TIMEOUT,
        public readonly float $retryAfter = self::RETRY_AFTER,
        public readonly bool $persistent = false,
        private readonly bool $isSentinel = false,
    ) {}

    public function name(): string
    {
        return $this->socket ?? (str_contains($this->host, ':') ? "[{$this->host}]:{$this->port}" : "{$this->host}:{$this->port}");
    }

    /**
     * What a breaker is named by: the server, and whatever else decides on whether it answers us. That is not the user, the
     * password or the database, which it answers to, if only with a refusal.
     */
    public function circuit(): string
    {
        return "redis {$this->name()} " . serialize([$this->tls?->context(), $this->timeout, $this->readTimeout]);
    }

    /** What keeps the processes of this machine from waiting for it again and again. */
    public function breaker(): CircuitBreaker
    {
        return new CircuitBreaker($this->circuit(), $this->retryAfter, $this->longestTimeout());
    }

    /** @return float the longer timeout in seconds; 0: one of them has no end */
    public function longestTimeout(): float
    {
        return $this->timeout > 0.0 && $this->readTimeout > 0.0 ? max($this->timeout, $this->readTimeout) : 0.0;
    }

    /** Whether a failure that took so many seconds came of waiting, and not at once. */
    public function hasWaited(float $seconds): bool
    {
        $timeouts = array_filter([$this->timeout, $this->readTimeout], static fn(float $timeout): bool => $timeout > 0.0);

        return $seconds >= self::NEARLY * min([self::LONG, ...$timeouts]);
    }

    /** A process on the command line has no later requests. But it may fork, and a kept connection would have two users then. */
    public function isKept(): bool
    {
        return $this->persistent && \PHP_SAPI !== 'cli';
    }

    /** Another server that is spoken to in the same way. */
    public function at(string $host, int $port): self
    {
        return new self(
            $host,
            $port,
            null,
            $this->tls,
            $this->user,
            $this->password,
            $this->database,
            $this->timeout,
            $this->readTimeout,
            $this->retryAfter,
            $this->persistent,
        );
    }

    /**
     * The first commands on a new connection.
     *
     * @return list<non-empty-list<string>>
     */
    public function greeting(): array
    {
        $greeting = [];
        if ($this->user !== null) {
            // One without a password is a user all the same, and may be allowed another part of the server than the default user.
            $greeting[] = ['AUTH', $this->user, $this->password ?? ''];
        } elseif ($this->password !== null) {
            $greeting[] = ['AUTH', $this->password];
        }
        // The client keeps connections by their address only: the last user may have been in another database.
        if ($this->database !== 0 || $this->isKept()) {
            $greeting[] = ['SELECT', (string) $this->database];
        }

        return $greeting;
    }

    /** @param ?string $remedy null: its place and its login may be wrong */
    public function unavailable(string $why, ?\Throwable $previous = null, ?string $remedy = null): StoreUnavailable
    {
        return StoreUnavailable::because(
            ($this->isSentinel ? 'The sentinel' : 'The Redis server') . " {$this->name()}",
            $why,
            $remedy ?? 'see that it runs and that the DSN\'s address' . ($this->isSentinel ? ' and its options sentinel_user and sentinel_password' : ', user, password and database') . ' are right',
            $previous,
        );
    }

    /** @param bool $isOfTls whether a handshake failed */
    public function unreachable(string $why, bool $isOfTls, ?\Throwable $previous = null): StoreUnavailable
    {
        return $isOfTls
            ? $this->unavailable($why, $previous, 'see that it speaks TLS there, and that the DSN\'s options tls_ca, tls_name, tls_cert and tls_key are right')
            : $this->unavailable($why, $previous);
    }

    /** It answers, and this is what it says. */
    public function refused(string $why): Refused
    {
        return new Refused($this->unavailable($why)->getMessage());
    }
}
