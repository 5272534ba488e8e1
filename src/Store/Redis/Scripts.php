<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/** Runs scripts on the server, several in one round trip; the server keeps their texts, and is asked by their hashes. */
final class Scripts
{
    /** As in docs/operate.md. */
    private const RIGHTS = 'ACL SETUSER USER +@read +@write +@scripting +@connection +time +info, with the keys ~PREFIX:* and ~PREFIX!*';

    /** How often a script is sent again that the server did not know, or whose clock was of another life. */
    private const TRIES = 4;

    /**
     * The commands that go behind the next ones, and the taker of their replies.
     *
     * @var ?array{non-empty-list<non-empty-list<string>>, \Closure(list<mixed>): void}
     */
    private ?array $behind = null;

    private readonly ?Living $living;

    /** Sends one command in fewer steps. */
    private readonly ?PhpRedisConnection $direct;

    /** @param bool $isTrusted as of Lives */
    public function __construct(
        private readonly Connection $connection,
        private readonly bool $isTrusted = false,
    ) {
        $this->living = $connection instanceof Living ? $connection : null;
        $this->direct = $connection instanceof PhpRedisConnection ? $connection : null;
    }

    /** @return string the life that the server of that clock is in; '': it was not asked yet */
    public function life(string $clock): string
    {
        return $this->living === null ? '' : $this->living->life($clock);
    }

    /** Goes on over another connection. */
    public function leave(): void
    {
        $this->living?->leave();
    }

    /**
     * @param list<array{Script, non-empty-list<string>, list<string>}> $calls each with its keys and arguments
     * @param list<non-empty-list<string>>                              $first commands that put aside what the scripts are to take; one
     *                                                                         that a full server refuses is no error
     *
     * @return list<mixed> the replies to the calls
     *
     * @throws StoreUnavailable
     */
    public function run(array $calls, array $first = []): array
    {
        if ($calls === []) {
            return [];
        }
        $commands = [];
        foreach ($calls as $call) {
            $commands[] = $this->commandByHash($call);
        }
        $replies = $this->exchange($first === [] ? $commands : [...$first, ...$commands]);
        $isRefused = false;
        foreach ($first === [] ? [] : array_splice($replies, 0, \count($first)) as $reply) {
            $isFull = $reply instanceof ErrorReply && self::isFull($reply);
            $isRefused = $isRefused || $isFull;
            $isFull || self::accepted([$reply]);
        }
        if (!self::isAnyRefused($replies)) {
            // So nearly always.
            return $replies;
        }
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $again = $this->again($calls, $replies);
            foreach ($isRefused && $tries === 0 ? $replies : [] as $i => $reply) {
                if ($reply instanceof ErrorReply && self::isFull($reply)) {
                    // A client that cannot tell which of the commands was refused.
                    $again[$i] = $commands[$i];
                }
            }
            if ($again === []) {
                break;
            }
            $replies = array_replace($replies, array_combine(array_keys($again), $this->exchange(array_values($again))));
        }

        return self::accepted($replies);
    }

    /**
     * Runs scripts each of which is followed by another command, so that the server does it right afterwards.
     *
     * @param non-empty-list<array{Script, non-empty-list<string>, list<string>}> $calls each with its keys and arguments
     * @param non-empty-list<non-empty-list<string>>                              $after for each call the command that follows it
     *
     * @return list<list<mixed>> the replies to both of each
     *
     * @throws StoreUnavailable
     */
    public function runBefore(array $calls, array $after): array
    {
        $commands = [];
        foreach ($calls as $i => $call) {
            array_push($commands, $this->commandByHash($call), $after[$i]);
        }
        $replies = array_chunk($this->exchange($commands), 2);
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $again = $this->again($calls, array_column($replies, 0));
            if ($again === []) {
                break;
            }
            foreach ($again as $i => $command) {
                // Both, as what follows the script must not have come before it.
                $replies[$i] = $this->exchange([$command, $after[$i]]);
            }
        }
        foreach ($replies as $pair) {
            self::accepted($pair);
        }

        return $replies;
    }

    /**
     * @param list<array{Script, non-empty-list<string>, list<string>}> $calls
     * @param array<int, mixed>                                         $replies
     *
     * @return array<int, non-empty-list<string>> what is to be sent once more, as the script has not been run, by the numbers of the calls
     */
    private function again(array $calls, array $replies): array
    {
        $again = $strange = [];
        foreach ($replies as $i => $reply) {
            if (!$reply instanceof ErrorReply || !isset($calls[$i])) {
                continue;
            }
            if (str_starts_with($reply->message, 'NOSCRIPT')) {
                $again[$i] = $this->commandByText($calls[$i]);
            } elseif ($reply->message === Script::OF_ANOTHER_LIFE) {
                $strange[$calls[$i][1][0]] = $i;
            }
        }
        foreach ($strange as $i) {
            (new Lives($this->connection, $this->isTrusted))->renew(\array_slice($calls[$i][1], 0, Layout::NAMES));
        }
        foreach ($replies as $i => $reply) {
            if ($reply instanceof ErrorReply && $reply->message === Script::OF_ANOTHER_LIFE && isset($calls[$i])) {
                $again[$i] = $this->commandByHash($calls[$i]);
            }
        }

        return $again;
    }

    /**
     * For what is sent beside other commands, and so small that the server need not know it already.
     *
     * @param array{Script, non-empty-list<string>, list<string>} $call
     *
     * @return non-empty-list<string>
     */
    public function commandByText(array $call): array
    {
        return $this->command('EVAL', ScriptText::of($call[0]), $call);
    }

    /**
     * @param array{Script, non-empty-list<string>, list<string>} $call
     *
     * @return non-empty-list<string>
     */
    private function commandByHash(array $call): array
    {
        return $this->command('EVALSHA', $call[0]->value, $call);
    }

    /**
     * @param string                                              $script its text, or the hash of it
     * @param array{Script, non-empty-list<string>, list<string>} $call
     *
     * @return non-empty-list<string>
     */
    private function command(string $command, string $script, array $call): array
    {
        // A name for a new epoch, should one begin: never the same twice, or what died with the last would live again.
        return [$command, $script, (string) \count($call[1]), ...$call[1], random_bytes(Script::EPOCH) . $this->life($call[1][0]), ...$call[2]];
    }

    /** @param array<int, mixed> $replies */
    private static function isAnyRefused(array $replies): bool
    {
        foreach ($replies as $reply) {
            if ($reply instanceof ErrorReply) {
                return true;
            }
        }

        return false;
    }

    private static function isFull(ErrorReply $reply): bool
    {
        return str_starts_with($reply->message, 'OOM ');
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
        return self::accepted($this->exchange($commands));
    }

    /**
     * As send() of one command, in fewer steps.
     *
     * @param non-empty-list<string> $command
     *
     * @return mixed the reply
     *
     * @throws StoreUnavailable also if the server refused it
     */
    public function sendOne(array $command): mixed
    {
        $reply = match (true) {
            $this->behind !== null => $this->exchange([$command])[0] ?? null,
            $this->direct !== null => $this->direct->sendOne($command),
            default => $this->connection->send([$command])[0],
        };

        return $reply instanceof ErrorReply ? self::accepted([$reply])[0] : $reply;
    }

    /**
     * Has commands sent in the same round trip as whatever is sent from now on, and behind it. Where that takes several round trips, the
     * last replies count.
     *
     * @param non-empty-list<non-empty-list<string>> $commands
     * @param \Closure(list<mixed>): void            $take     gets the replies, if there are any
     */
    public function sendBehind(array $commands, \Closure $take): void
    {
        $this->behind = [$commands, $take];
    }

    public function sendNothingBehind(): void
    {
        $this->behind = null;
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @return list<mixed> the replies, also those that are errors
     *
     * @throws StoreUnavailable
     */
    public function exchange(array $commands): array
    {
        if ($this->behind === null) {
            return $this->direct === null || isset($commands[1]) ? $this->connection->send($commands) : [$this->direct->sendOne($commands[0])];
        }
        [$behind, $take] = $this->behind;
        $replies = $this->connection->send([...$commands, ...$behind]);
        $taken = array_splice($replies, \count($commands));
        $take($taken);

        if ($taken[0] instanceof ErrorReply && $taken[0]->is('NOPERM') && \in_array($taken[0], $replies, true)) {
            // A client that cannot tell which of the commands was refused. In front of anything but reads nothing is sent.
            $this->behind = null;

            return $this->connection->send($commands);
        }

        return $replies;
    }

    /** No near store of that user's is read then. Nor is anything changed while others follow the log. */
    public static function denied(): StoreUnavailable
    {
        return StoreUnavailable::because(
            'The log that near stores follow',
            'the user of Redis may not run XADD, XRANGE and XREVRANGE on it',
            'ACL SETUSER USER +xadd +xrange +xrevrange +xtrim',
            takesNothing: true,
        );
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
                if ($reply->message === Script::DENIED) {
                    throw self::denied();
                }
                throw StoreUnavailable::because(
                    'The Redis server',
                    ($reply->isOfRights() ? 'its user may not do all that a cache does, as ' : '') . "it said \"{$reply->message}\"",
                    match (true) {
                        $reply->isOfRights() => self::RIGHTS,
                        $reply->is('TRYAGAIN') => 'wait until the slot has moved to another master',
                        $reply->isOfAMissingCommand() => 'see that it is Redis 6.2 or later, or Valkey, and that its configuration takes no command away',
                        default => 'see its configuration',
                    },
                    takesNothing: $reply->takesNothing(),
                );
            }
        }

        return array_values($replies);
    }
}
