<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Store\CircuitBreaker;
use Larder\System\Process;
use Predis\Client;
use Predis\ClientException;
use Predis\Command\RawCommand;
use Predis\PredisException;
use Predis\Response\ErrorInterface;
use Predis\Response\Status;

/** Over the package predis/predis, which needs no extension. */
final class PredisConnection implements Parallel, Living
{
    /**
     * It is not in use, and all that it was asked is answered. Its user takes it out of here, and puts it back when all
     * replies are read: so what an exception interrupts (a signal's handler may throw one anywhere) is never read by any
     * other user, nor by what such a handler asks itself.
     *
     * @var ?array{Client, Watch}
     */
    private ?array $idle = null;

    private int $process = 0;

    private readonly CircuitBreaker $breaker;

    /** @throws Exception */
    public function __construct(
        private readonly Server $server,
    ) {
        $this->breaker = $server->breaker();
        if (!class_exists(Client::class)) {
            throw ExtensionMissing::ofClient('The client "predis" of RedisStore', 'the package predis/predis');
        }
        if ($server->persistent) {
            throw InvalidOption::unsupported('persistent', 'by the client "predis", as PHP hands a persistent stream to any code that names it, even in the middle of a reply', 'install the extension redis, or remove the option');
        }
    }

    public function send(array $commands): array
    {
        return $this->begin($commands)();
    }

    public function life(string $name): string
    {
        return $this->idle !== null && $this->process === Process::id() ? $this->idle[1]->life : '';
    }

    public function doubt(): void
    {
        if ($this->idle !== null) {
            $this->idle[1]->doubt();
        }
    }

    public function leave(): void
    {
        if ($this->idle !== null) {
            $this->idle[1]->leave();
        }
    }

    public function begin(array $commands): \Closure
    {
        [$client, $watch] = $taken = $this->taken();
        $asks = $watch->asksWith($commands, hrtime(true));
        $begun = self::prepared($asks ? [Watch::QUESTION, ...$commands] : $commands);
        try {
            self::write($client, $begun);
        } catch (\Throwable $failure) {
            throw $this->broken($client, $failure, false);
        }

        return function () use ($taken, $begun, $asks): array {
            [$client, $watch] = $taken;
            $began = hrtime(true);
            try {
                $replies = self::read($client, $begun, $this->server->readTimeout);
                $this->breaker->answered();
                if ($asks) {
                    $answer = array_shift($replies);
                    $watch->learn($answer, $replies, $this->server);
                }
            } catch (\Throwable $failure) {
                // If it is late, it did not break, it is slow: another question would wait again.
                throw $this->broken($client, $failure, $this->server->readTimeout > 0.0 && hrtime(true) - $began >= 0.9e9 * $this->server->readTimeout);
            }
            if (ErrorReply::isByReplica($replies)) {
                // Its address may lead to another one by now.
                $client->disconnect();
            } else {
                $this->idle = $taken;
            }

            return $replies !== [] ? $replies : [null];
        };
    }

    /** After an error it is unknown which reply comes next. */
    private function broken(Client $client, \Throwable $failure, bool $isTooLate): \Throwable
    {
        $client->disconnect();
        if (!$failure instanceof PredisException) {
            return $failure;
        }
        $this->breaker->broke($failure->getMessage(), $isTooLate);

        return $this->server->unavailable($failure->getMessage(), $failure);
    }

    /**
     * @param list<non-empty-list<string>> $commands
     *
     * @return list<RawCommand>
     */
    private static function prepared(array $commands): array
    {
        return array_map(static fn(array $command): RawCommand => new RawCommand($command[0], \array_slice($command, 1)), $commands);
    }

    /** @param list<RawCommand> $commands */
    private static function write(Client $client, array $commands): void
    {
        $connection = $client->getConnection();
        if (\count($commands) > 1 && (new \ReflectionMethod($connection, 'write'))->isPublic()) {
            // At once, or the server answers the first before it has the last. Predis 2 cannot.
            $connection->write(implode('', array_map(static fn(RawCommand $command): string => $command->serializeCommand(), $commands)));

            return;
        }
        foreach ($commands as $command) {
            $connection->writeRequest($command);
        }
    }

    /**
     * The client waits for each reply anew. So none is waited for after the time that all have.
     *
     * @param list<RawCommand> $commands
     * @param float            $seconds  0 or less: without end
     *
     * @return list<mixed>
     */
    private static function read(Client $client, array $commands, float $seconds): array
    {
        $connection = $client->getConnection();
        $end = hrtime(true) + $seconds * 1e9;
        $replies = [];
        foreach ($commands as $command) {
            if ($seconds > 0.0 && $replies !== [] && hrtime(true) >= $end) {
                throw new ClientException('its replies do not come in time');
            }
            $replies[] = self::plain($connection->readResponse($command));
        }

        return $replies;
    }

    private static function plain(mixed $reply): mixed
    {
        return match (true) {
            $reply instanceof ErrorInterface => new ErrorReply($reply->getMessage()),
            $reply instanceof Status => $reply->getPayload(),
            \is_array($reply) => array_map(self::plain(...), array_values($reply)),
            default => $reply,
        };
    }

    /**
     * @return array{Client, Watch}
     *
     * @throws StoreUnavailable
     */
    private function taken(): array
    {
        $taken = $this->process === Process::id() ? $this->idle : null;
        $this->idle = null;
        if ($taken !== null && $taken[1]->isOver()) {
            $taken[0]->disconnect();
            $taken = null;
        }

        return $taken ?? $this->connected();
    }

    /**
     * @return array{Client, Watch}
     *
     * @throws StoreUnavailable
     */
    private function connected(): array
    {
        $server = $this->server;
        if (!$this->breaker->allowsToConnect()) {
            throw $server->unavailable($this->breaker->why('it could not be reached, or refused the login, a moment ago'));
        }
        $client = new Client([
            'scheme' => $server->socket !== null ? 'unix' : ($server->tls !== null ? 'tls' : 'tcp'),
            'path' => $server->socket,
            'host' => $server->host,
            'port' => $server->port,
            'ssl' => $server->tls?->context(),
            'timeout' => $server->timeout,
            'read_write_timeout' => $server->readTimeout,
            // Predis 2 writes several commands one by one: none of them waits for the answer to the one before.
            'tcp_nodelay' => true,
        ], ['exceptions' => false]);
        $handshake = '';
        $greeting = $server->greeting();
        $began = hrtime(true);
        try {
            $watch = Watch::of($server, static fn() => $client->connect(), $handshake);
            foreach ($greeting as $command) {
                $words = self::prepared([$command]);
                self::write($client, $words);
                [$reply] = self::read($client, $words, $server->readTimeout);
                if ($reply instanceof ErrorReply) {
                    $client->disconnect();
                    $this->breaker->refused($reply->message);

                    throw $server->refused($reply->message);
                }
            }
        } catch (PredisException $failure) {
            $why = $handshake === '' ? $failure->getMessage() : $handshake;
            $this->breaker->failed($why, $server->hasWaited((hrtime(true) - $began) / 1e9));

            throw $server->unreachable($why, $handshake !== '', $failure);
        }
        $greeting === [] || $this->breaker->answered();
        $this->process = Process::id();

        return [$client, $watch];
    }
}
