<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/**
 * A line to a cluster: to each of its masters, of which some are named and the others learnt from these. Replicas are never
 * asked.
 *
 * Commands for several masters are sent to all before the replies are read, where the client can do that (Predis). Otherwise
 * they go to one master after the other. If a master says that a slot has moved, the commands for it are sent once more.
 */
final class ClusterConnection implements Living
{
    private const SLOTS = 16_384;

    /** How often commands may be sent elsewhere, before the cluster is taken for one that is falling apart. */
    private const MOVES = 5;

    /** How many ranges there may be, with slots that have moved one by one, before all are asked for anew. */
    private const SINGLES = 1_000;

    /** @var array<string, Connection> by the servers' names */
    private array $connections = [];

    /** @var array<string, Server> the masters by their names */
    private array $masters = [];

    /** @var list<array{int, int, string}> the first and the last slot, and the name of the master that has them */
    private array $ranges = [];

    /** @var array<string, int> by what is hashed */
    private array $slots = [];

    /**
     * @param non-empty-list<Server>         $seeds   some of the nodes
     * @param \Closure(Server): Connection   $connect
     */
    public function __construct(
        private readonly array $seeds,
        private readonly \Closure $connect,
    ) {}

    public function send(array $commands): array
    {
        $replies = [];
        $open = $commands;
        for ($moves = 0; $open !== []; $moves++) {
            if ($moves > self::MOVES) {
                throw $this->unavailable('its slots move faster than we can follow');
            }
            $groups = [];
            $node = null;
            foreach ($open as $i => $command) {
                $key = self::key($command);
                $node = $key === null ? $node ?? $this->anyNode() : $this->node($key);
                $groups[$node][$i] = $command;
            }
            $replies = array_replace($replies, $this->sendTo($groups));
            foreach ($open as $i => $command) {
                $reply = $replies[$i];
                $words = $reply instanceof ErrorReply ? explode(' ', $reply->message) : [''];
                if ($words[0] === 'MOVED' && isset($words[2])) {
                    $this->moved((int) $words[1], $words[2]);
                    continue;
                }
                if ($words[0] === 'ASK' && isset($words[2])) {
                    [, $replies[$i]] = $this->connection($words[2])->send([['ASKING'], $command]) + [null, null];
                }
                unset($open[$i]);
            }
        }
        ksort($replies);

        return array_values($replies) ?: throw $this->unavailable('it was asked nothing');
    }

    public function life(string $name): string
    {
        $slot = $this->slot($name);
        foreach ($this->ranges as [$first, $last, $node]) {
            if ($slot >= $first && $slot <= $last) {
                $connection = $this->connections[$node] ?? null;

                return $connection instanceof Living ? $connection->life($name) : '';
            }
        }

        return '';
    }

    public function doubt(): void
    {
        foreach ($this->connections as $connection) {
            if ($connection instanceof Living) {
                $connection->doubt();
            }
        }
    }

    public function leave(): void
    {
        foreach ($this->connections as $connection) {
            if ($connection instanceof Living) {
                $connection->leave();
            }
        }
    }

    /**
     * Sends the same commands to every master.
     *
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @return array<string, list<mixed>> the replies by the masters' names
     *
     * @throws StoreUnavailable
     */
    public function everywhere(array $commands): array
    {
        $this->anyNode();

        return array_map(array_values(...), $this->sendAll(array_map(static fn(): array => $commands, $this->masters)));
    }

    /**
     * @param array<string, array<int, non-empty-list<string>>> $groups by the masters' names
     *
     * @return array<int, mixed> replies by the commands' numbers
     */
    private function sendTo(array $groups): array
    {
        $replies = [];
        foreach ($this->sendAll(array_map(array_values(...), $groups)) as $name => $answers) {
            $replies += array_combine(array_keys($groups[$name]), $answers);
        }

        return $replies;
    }

    /**
     * @param array<string, list<non-empty-list<string>>> $groups by the masters' names
     *
     * @return array<string, list<mixed>>
     */
    private function sendAll(array $groups): array
    {
        $replies = $begun = [];
        $failure = null;
        foreach ($groups as $name => $commands) {
            try {
                $connection = $this->connection($name);
                if ($commands !== [] && \count($groups) > 1 && $connection instanceof Parallel) {
                    $begun[$name] = $connection->begin($commands);
                } elseif ($commands !== []) {
                    $replies[$name] = $connection->send($commands);
                }
            } catch (StoreUnavailable $failure) {
            }
        }
        // Also if one has failed: the others' connections are as good as before.
        foreach ($begun as $name => $finish) {
            try {
                $replies[$name] = $finish();
            } catch (StoreUnavailable $failure) {
            }
        }
        if ($failure !== null) {
            // A replica may have taken its place.
            $this->ranges = [];

            throw $failure;
        }

        return $replies;
    }

    /** What a node says of a slot that it had is newer than what other nodes say, which may not have heard of it yet. */
    private function moved(int $slot, string $name): void
    {
        array_unshift($this->ranges, [$slot, $slot, $name]);
        if (\count($this->ranges) > self::SINGLES) {
            $this->ranges = [];
        }
    }

    private function connection(string $name): Connection
    {
        if (!isset($this->connections[$name])) {
            $colon = (int) strrpos($name, ':');
            $server = $this->masters[$name] ?? $this->seeds[0]->at(trim(substr($name, 0, $colon), '[]'), (int) substr($name, $colon + 1));
            $this->connections[$name] = ($this->connect)($server);
        }

        return $this->connections[$name];
    }

    /** @return string the name of the master that has the key */
    private function node(string $key): string
    {
        if ($this->ranges === []) {
            $this->learn();
        }
        $slot = $this->slot($key);
        foreach ($this->ranges as [$first, $last, $name]) {
            if ($slot >= $first && $slot <= $last) {
                return $name;
            }
        }
        $this->ranges = [];

        throw $this->unavailable("no master has its slot {$slot}");
    }

    private function anyNode(): string
    {
        if ($this->ranges === []) {
            $this->learn();
        }

        return $this->ranges[0][2] ?? throw $this->unavailable('no master has any of its slots');
    }

    private function learn(): void
    {
        $nodes = $this->masters;
        foreach ($this->seeds as $seed) {
            $nodes += [$seed->name() => $seed];
        }
        $failure = null;
        foreach ($nodes as $name => $server) {
            try {
                [$slots] = ($this->connections[$name] ??= ($this->connect)($server))->send([['CLUSTER', 'SLOTS']]);
            } catch (StoreUnavailable $failure) {
                continue;
            }
            if (\is_array($slots) && $this->takeOver($slots, $server)) {
                return;
            }
            $failure = $server->unavailable($slots instanceof ErrorReply ? "it said \"{$slots->message}\"" : 'it knows nothing about a cluster');
        }

        throw $failure;
    }

    /** @param array<mixed> $slots the answer to CLUSTER SLOTS */
    private function takeOver(array $slots, Server $asked): bool
    {
        $ranges = $masters = [];
        foreach ($slots as $range) {
            [$first, $last, $master] = \is_array($range) ? $range + [null, null, null] : [null, null, null];
            [$host, $port] = \is_array($master) ? $master + [null, null] : [null, null];
            if (!\is_int($first) || !\is_int($last) || !is_numeric($port)) {
                return false;
            }
            // A node that does not know its own name is known by the one that we have for it.
            $server = $asked->at(\is_string($host) && $host !== '' ? $host : $asked->host, (int) $port);
            $masters[$server->name()] = $server;
            $ranges[] = [$first, $last, $server->name()];
        }
        if ($ranges === []) {
            return false;
        }
        [$this->ranges, $this->masters] = [$ranges, $masters];
        $this->connections = array_intersect_key($this->connections, $masters);

        return true;
    }

    /**
     * @param non-empty-list<string> $command
     *
     * @return ?string the first key in it; null: any node will do
     */
    private static function key(array $command): ?string
    {
        return match ($command[0]) {
            'EVAL', 'EVALSHA', 'SCAN' => $command[3] ?? null,
            'TIME', 'PING' => null,
            default => $command[1] ?? null,
        };
    }

    /** The slot of a key, by what is between its first braces: CRC16 (XMODEM), as the cluster's specification says. */
    private function slot(string $key): int
    {
        $hashed = preg_match('/\{([^}]+)\}/', $key, $match) === 1 ? $match[1] : $key;
        if (isset($this->slots[$hashed])) {
            return $this->slots[$hashed];
        }
        $crc = 0;
        for ($i = 0; $i < \strlen($hashed); $i++) {
            $crc ^= \ord($hashed[$i]) << 8;
            for ($bit = 0; $bit < 8; $bit++) {
                $crc = ($crc & 0x8000 ? $crc << 1 ^ 0x1021 : $crc << 1) & 0xffff;
            }
        }

        return $this->slots[$hashed] = $crc % self::SLOTS;
    }

    private function unavailable(string $why): StoreUnavailable
    {
        return StoreUnavailable::because(
            'The Redis cluster of ' . implode(', ', array_map(static fn(Server $server): string => $server->name(), $this->seeds)),
            $why,
            'see that its nodes run and that "cluster info" says that its state is ok',
        );
    }
}
