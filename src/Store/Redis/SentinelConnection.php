<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;
use Larder\Store\CircuitBreaker;

/**
 * A line to the master that sentinels name, in the manner of Redis's "Guidelines for Redis clients with support for Redis
 * Sentinel". When it breaks, or the master has become a replica, the sentinels are asked again.
 *
 * So they are where a request begins in a process that stays. A master that stood still goes on as one for ten seconds, and one that is cut
 * off for longer. Meanwhile others write to its successor.
 */
final class SentinelConnection implements Living
{
    /** For so many times as long as sentinels that do not answer were waited for, they are not asked again whether the master is still the same. */
    private const TIMES_TRUSTED = 10;

    private ?Connection $master = null;

    /** Where that is, as the sentinels say it. */
    private string $address = '';

    /**
     * The sentinel that has named it. Another one may not have heard of a failover yet that this one knows.
     *
     * @var ?array{Connection, Server}
     */
    private ?array $sentinel = null;

    /** Whether the sentinels are to be asked whether it still is the master. */
    private bool $isDoubted = false;

    /** By hrtime(): until then the master is not doubted, as no sentinel answers. */
    private int $trustedUntil = 0;

    private readonly CircuitBreaker $breaker;

    /**
     * @param non-empty-list<Server>       $sentinels in any order
     * @param string                       $service   the name that they have for the master
     * @param Server                       $server    how to speak to the master, wherever it is
     * @param \Closure(Server): Connection $connect
     */
    public function __construct(
        private readonly array $sentinels,
        private readonly string $service,
        private readonly Server $server,
        private readonly \Closure $connect,
    ) {
        $circuits = array_map(static fn(Server $each): string => $each->circuit(), [...$sentinels, $server]);
        $this->breaker = new CircuitBreaker("sentinel {$service} " . implode(' ', $circuits), $server->retryAfter, $server->longestTimeout());
    }

    public function send(array $commands): array
    {
        if ($this->isDoubted) {
            $this->isDoubted = false;
            if ($this->isSucceeded()) {
                $this->master = null;
            }
        }
        $master = $this->master ??= $this->find();
        try {
            $replies = $master->send($commands);
        } catch (StoreUnavailable $failure) {
            $this->master = null;

            throw $failure;
        }
        if (ErrorReply::isByReplica($replies)) {
            $this->master = null;

            throw $this->unavailable('its former master is a replica now');
        }

        return $replies;
    }

    public function life(string $name): string
    {
        return $this->master instanceof Living ? $this->master->life($name) : '';
    }

    public function doubt(): void
    {
        if ($this->master instanceof Living) {
            $this->master->doubt();
        }
        $this->isDoubted = $this->master !== null;
    }

    public function leave(): void
    {
        $this->master = null;
    }

    /** @throws StoreUnavailable */
    private function find(): Connection
    {
        if (!$this->breaker->allows()) {
            throw $this->unavailable($this->breaker->why('its master could not be found, or refused the login, a moment ago'));
        }
        $failure = null;
        $began = hrtime(true);
        foreach ($this->sentinels as $sentinel) {
            try {
                $master = $this->ask($sentinel);
                $this->breaker->worked();

                return $master;
            } catch (StoreUnavailable $each) {
                // Another one may know more, or let us in.
                $failure = $failure instanceof Refused ? $failure : $each;
            }
        }
        $why = rtrim($failure->getMessage(), '.');
        $failure instanceof Refused ? $this->breaker->refused($why) : $this->breaker->failed($why, $this->server->hasWaited((hrtime(true) - $began) / 1e9));

        throw $failure;
    }

    private function ask(Server $sentinel): Connection
    {
        $connection = ($this->connect)($sentinel);
        $server = $this->named($connection, $sentinel);
        $master = ($this->connect)($server);
        // Fails where it is a replica: the sentinel may not have heard of it yet.
        $master->send([['PING']]);
        [$this->sentinel, $this->address] = [[$connection, $sentinel], $server->name()];

        return $master;
    }

    /**
     * @return Server the master
     *
     * @throws StoreUnavailable
     */
    private function named(Connection $connection, Server $sentinel): Server
    {
        [$address] = $connection->send([['SENTINEL', 'get-master-addr-by-name', $this->service]]);
        if ($address instanceof ErrorReply && ($address->is('NOAUTH') || $address->isOfRights())) {
            throw $sentinel->refused($address->message);
        }
        [$host, $port] = \is_array($address) ? $address + [null, null] : [null, null];
        if (!\is_string($host) || !is_numeric($port)) {
            throw $this->unavailable("the sentinel {$sentinel->name()} " . ($address instanceof ErrorReply ? "said \"{$address->message}\"" : 'does not know it'));
        }

        return $this->server->at($host, (int) $port);
    }

    /** Whether another server is the master by now. Where no sentinel answers, none was heard of. */
    private function isSucceeded(): bool
    {
        $began = (int) hrtime(true);
        if ($this->sentinel === null || $began < $this->trustedUntil) {
            return false;
        }
        try {
            return $this->named(...$this->sentinel)->name() !== $this->address;
        } catch (StoreUnavailable) {
            // It may have gone.
        }
        foreach ($this->sentinels as $sentinel) {
            try {
                $connection = ($this->connect)($sentinel);
                $address = $this->named($connection, $sentinel)->name();
                $this->sentinel = [$connection, $sentinel];

                return $address !== $this->address;
            } catch (StoreUnavailable) {
                // Another one may answer.
            }
        }
        $now = (int) hrtime(true);
        $this->trustedUntil = $now + self::TIMES_TRUSTED * ($now - $began);

        return false;
    }

    private function names(): string
    {
        return implode(', ', array_map(static fn(Server $sentinel): string => $sentinel->name(), $this->sentinels));
    }

    private function unavailable(string $why): StoreUnavailable
    {
        return StoreUnavailable::because(
            "The Redis service \"{$this->service}\" of the sentinels {$this->names()}",
            $why,
            'see that they run, and that the DSN\'s addresses and its option "service" are right',
        );
    }
}
