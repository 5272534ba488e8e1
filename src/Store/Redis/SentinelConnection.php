<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;
use Larder\Store\CircuitBreaker;

/**
 * A line to the master that sentinels name, in the manner of Redis's "Guidelines for Redis clients with support for Redis
 * Sentinel". When it breaks, or the master has become a replica, the sentinels are asked again.
 */
final class SentinelConnection implements Living
{
    private ?Connection $master = null;

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
        $this->breaker = new CircuitBreaker("sentinel {$service} " . implode(' ', $circuits), $server->retryAfter);
    }

    public function send(array $commands): array
    {
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
        $failure instanceof Refused ? $this->breaker->refused($why) : $this->breaker->failed($why);

        throw $failure;
    }

    private function ask(Server $sentinel): Connection
    {
        [$address] = ($this->connect)($sentinel)->send([['SENTINEL', 'get-master-addr-by-name', $this->service]]);
        [$host, $port] = \is_array($address) ? $address + [null, null] : [null, null];
        if (!\is_string($host) || !is_numeric($port)) {
            throw $this->unavailable($address instanceof ErrorReply ? "the sentinel {$sentinel->name()} said \"{$address->message}\"" : "the sentinel {$sentinel->name()} does not know it");
        }
        $master = ($this->connect)($this->server->at($host, (int) $port));
        // Fails where it is a replica: the sentinel may not have heard of it yet.
        $master->send([['PING']]);

        return $master;
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
