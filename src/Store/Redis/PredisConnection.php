<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\ExtensionMissing;
use Larder\Exception\StoreUnavailable;
use Predis\Client;
use Predis\Command\RawCommand;
use Predis\PredisException;
use Predis\Response\ErrorInterface;
use Predis\Response\Status;

/** Over the package predis/predis, which needs no extension. */
final class PredisConnection implements Connection
{
    private ?Client $client = null;

    private int $process = 0;

    /** When to try to connect again; hrtime in ns. */
    private int $notBefore = 0;

    /** @throws ExtensionMissing */
    public function __construct(
        private readonly Server $server,
    ) {
        if (!class_exists(Client::class)) {
            throw ExtensionMissing::ofClient('The client "predis" of RedisStore', 'the package predis/predis');
        }
    }

    public function send(array $commands): array
    {
        $client = $this->client();
        try {
            return $this->ask($client, $commands);
        } catch (PredisException $failure) {
            $this->drop();

            throw $this->server->unavailable($failure->getMessage(), $failure);
        }
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @return non-empty-list<mixed>
     */
    private function ask(Client $client, array $commands): array
    {
        $connection = $client->getConnection();
        $prepared = array_map(
            static fn(array $command): RawCommand => new RawCommand($command[0], \array_slice($command, 1)),
            $commands,
        );
        foreach ($prepared as $command) {
            $connection->writeRequest($command);
        }

        return array_map(static fn(RawCommand $command): mixed => self::plain($connection->readResponse($command)), $prepared);
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
        if ($this->client !== null && $this->process === getmypid()) {
            return $this->client;
        }
        if (hrtime(true) < $this->notBefore) {
            throw $this->server->unavailable('it could not be reached a moment ago');
        }
        $server = $this->server;
        $client = new Client([
            'scheme' => $server->socket !== null ? 'unix' : ($server->tls ? 'tls' : 'tcp'),
            'path' => $server->socket,
            'host' => $server->host,
            'port' => $server->port,
            'timeout' => $server->timeout,
            'read_write_timeout' => $server->readTimeout,
            'persistent' => $server->persistent ? "larder:{$server->user}:{$server->database}" : false,
        ], ['exceptions' => false]);
        try {
            $client->connect();
            foreach ($server->greeting() as $command) {
                [$reply] = $this->ask($client, [$command]);
                if ($reply instanceof ErrorReply) {
                    throw $server->unavailable($reply->message);
                }
            }
        } catch (PredisException|StoreUnavailable $failure) {
            $this->notBefore = (int) hrtime(true) + (int) ($server->retryAfter * 1e9);

            throw $failure instanceof StoreUnavailable ? $failure : $server->unavailable($failure->getMessage(), $failure);
        }
        $this->process = (int) getmypid();

        return $this->client = $client;
    }

    /** After an error nobody knows which reply comes next. */
    private function drop(): void
    {
        $this->client?->disconnect();
        $this->client = null;
    }
}
