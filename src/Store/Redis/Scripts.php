<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/** Runs scripts on the server, several in one round trip; the server keeps their texts, and is asked by their hashes. */
final class Scripts
{
    /** @var array<string, string> */
    private array $hashes = [];

    public function __construct(
        private readonly Connection $connection,
    ) {}

    /**
     * @param list<array{Script, non-empty-list<string>, list<string>}> $calls each with its keys and arguments
     *
     * @return list<mixed> the replies
     *
     * @throws StoreUnavailable
     */
    public function run(array $calls): array
    {
        if ($calls === []) {
            return [];
        }
        $commands = [];
        foreach ($calls as [$script, $keys, $arguments]) {
            // A name for a new epoch, should one begin: never the same twice, or what died with the last would live again.
            $hash = $this->hashes[$script->name] ??= sha1($script->text());
            $commands[] = ['EVALSHA', $hash, (string) \count($keys), ...$keys, random_bytes(8), ...$arguments];
        }
        $replies = $this->connection->send($commands);
        $unknown = [];
        foreach ($replies as $i => $reply) {
            if ($reply instanceof ErrorReply && str_starts_with($reply->message, 'NOSCRIPT')) {
                $unknown[$i] = ['EVAL', $calls[$i][0]->text(), ...\array_slice($commands[$i], 2)];
            }
        }
        if ($unknown !== []) {
            $replies = array_replace($replies, array_combine(array_keys($unknown), $this->connection->send(array_values($unknown))));
        }

        return self::accepted($replies);
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @return list<mixed> the replies
     *
     * @throws StoreUnavailable also if the server refused one of them
     */
    public function send(array $commands): array
    {
        return self::accepted($this->connection->send($commands));
    }

    public static function nonsense(): StoreUnavailable
    {
        return StoreUnavailable::because('The Redis server', 'its reply makes no sense', 'see what answers there');
    }

    /**
     * @param array<int, mixed> $replies
     *
     * @return list<mixed>
     */
    private static function accepted(array $replies): array
    {
        foreach ($replies as $reply) {
            if ($reply instanceof ErrorReply) {
                throw StoreUnavailable::because(
                    'The Redis server',
                    "it said \"{$reply->message}\"",
                    'see its configuration',
                    takesNothing: preg_match('/^(OOM|MISCONF|READONLY|NOREPLICAS|NOPERM) /', $reply->message) === 1,
                );
            }
        }

        return array_values($replies);
    }
}
