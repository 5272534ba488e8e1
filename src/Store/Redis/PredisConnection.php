<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\ExtensionMissing;
use Larder\Exception\StoreUnavailable;
use Larder\Process;
use Larder\Store\Breaker;
use Predis\Client;
use Predis\Command\RawCommand;
use Predis\PredisException;
use Predis\Response\ErrorInterface;
use Predis\Response\Status;

/** Over the package predis/predis, which needs no extension. */
final class PredisConnection implements Parallel
{
    private ?Client $client = null;

    private int $process = 0;

    private readonly Breaker $breaker;

    /** @var list<RawCommand> what was begun and not yet finished */
    private array $begun = [];

    /** @throws ExtensionMissing */
    public function __construct(
        private readonly Server $server,
    ) {
        $this->breaker = new Breaker("redis {$server->name()}", $server->retryAfter);
        if (!class_exists(Client::class)) {
            throw ExtensionMissing::ofClient('The client "predis" of RedisStore', 'the package predis/predis');
        }
    }

    public function send(array $commands): array
    {
        $this->begin($commands);

        return $this->finish();
    }

    public function begin(array $commands): void
    {
        $client = $this->client();
        $this->begun = self::prepared($commands);
        try {
            self::write($client, $this->begun);
        } catch (PredisException $failure) {
            $this->drop();

            throw $this->server->unavailable($failure->getMessage(), $failure);
        }
    }

    public function finish(): array
    {
        $began = hrtime(true);
        $begun = $this->begun;
        $this->begun = [];
        try {
            return self::read($this->client ?? throw $this->server->unavailable('nothing was sent'), $begun);
        } catch (PredisException $failure) {
            $this->drop();
            if (hrtime(true) - $began >= 0.9e9 * $this->server->readTimeout) {
                // It did not break, it is slow: who asks again waits again.
                $this->breaker->failed();
            }

            throw $this->server->unavailable($failure->getMessage(), $failure);
        }
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
     * @param list<RawCommand> $commands
     *
     * @return non-empty-list<mixed>
     */
    private static function read(Client $client, array $commands): array
    {
        $connection = $client->getConnection();
        $replies = array_map(static fn(RawCommand $command): mixed => self::plain($connection->readResponse($command)), $commands);

        return $replies !== [] ? $replies : [null];
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

    /** @throws StoreUnavailable */
    private function client(): Client
    {
        if ($this->client !== null && $this->process === Process::id()) {
            return $this->client;
        }
        if (!$this->breaker->allows()) {
            throw $this->server->unavailable('it could not be reached a moment ago');
        }
        $server = $this->server;
        $client = new Client([
            'scheme' => $server->socket !== null ? 'unix' : ($server->tls !== null ? 'tls' : 'tcp'),
            'path' => $server->socket,
            'host' => $server->host,
            'port' => $server->port,
            'ssl' => $server->tls?->context(),
            'timeout' => $server->timeout,
            'read_write_timeout' => $server->readTimeout,
            'persistent' => $server->persistent ? "larder:{$server->user}:{$server->database}" : false,
        ], ['exceptions' => false]);
        try {
            $client->connect();
            foreach ($server->greeting() as $command) {
                $words = self::prepared([$command]);
                self::write($client, $words);
                [$reply] = self::read($client, $words);
                if ($reply instanceof ErrorReply) {
                    throw $server->unavailable($reply->message);
                }
            }
        } catch (PredisException|StoreUnavailable $failure) {
            $this->breaker->failed();

            throw $failure instanceof StoreUnavailable ? $failure : $server->unavailable($failure->getMessage(), $failure);
        }
        $this->breaker->worked();
        $this->process = Process::id();

        return $this->client = $client;
    }

    /** After an error nobody knows which reply comes next. */
    private function drop(): void
    {
        $this->client?->disconnect();
        $this->client = null;
    }
}
