<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/**
 * What one connection knows of its server: whether that is still a master, and in which life. It asks in the first round trip,
 * and in the next one when a second has passed. It asks in one of its own only before a huge value over phpredis.
 */
final class Watch
{
    public const QUESTION = ['INFO', 'replication'];

    /** In ns. */
    private const IS_TRUE_FOR = 1_000_000_000;

    /** The name of a life that the server does not tell. */
    public const UNKNOWN = '0000000000000000';

    /** What stands before the name of a life, and how many bytes that has. */
    private const NAMED = "\nmaster_replid:";
    private const NAME = 16;

    /** Commands for any server that knows the way to the master. */
    private const OF_THE_WAY = ['CLUSTER', 'SENTINEL'];

    private ?int $asked = null;

    /** As of Living; '': it was not asked yet. To be read only: a method would be called in each read. */
    public string $life = '';

    /** What the server said last, if it was a master. While it says the same, nothing is to be learnt. */
    private ?string $said = null;

    private bool $isLeft = false;

    /** @param ?resource $stream what the connection goes over; null: whether it is over is not looked at */
    private function __construct(
        private readonly mixed $stream = null,
    ) {}

    /**
     * Of the connection that this makes. Clients do not show their streams: it is the one that was not there before.
     *
     * @param \Closure(): mixed $connect
     * @param string            $why     set to why a TLS handshake failed
     */
    public static function of(Server $server, \Closure $connect, string &$why): self
    {
        if ($server->tls === null) {
            $connect();

            return new self();
        }
        $before = get_resources('stream');
        Tls::handshake($connect, $why);
        $made = array_filter(
            array_diff_key(get_resources('stream'), $before),
            static fn(mixed $stream): bool => stream_get_meta_data($stream)['stream_type'] === 'tcp_socket/ssl',
        );

        // A signal's handler may have made another one.
        return new self(\count($made) === 1 ? current($made) : null);
    }

    /**
     * Whether the connection was closed while it was not in use: over TLS a forked child does so when it ends. As nothing was sent, anything
     * may be sent over another one. All replies are read, so there is nothing to read but the end.
     */
    public function isOver(): bool
    {
        if ($this->isLeft) {
            return true;
        }
        if (!\is_resource($this->stream)) {
            return false;
        }
        $read = [$this->stream];
        $none = null;

        return @stream_select($read, $none, $none, 0) > 0;
    }

    /**
     * Whether the next command may go alone, and nothing is to be looked at before.
     *
     * @param int $now of hrtime()
     */
    public function hasNothingToAsk(int $now): bool
    {
        return $this->asked !== null && $now - $this->asked <= self::IS_TRUE_FOR && $this->stream === null && !$this->isLeft;
    }

    /**
     * Whether the server is to be asked together with these commands.
     *
     * @param non-empty-list<non-empty-list<string>> $commands
     * @param int                                    $now      of hrtime()
     */
    public function asksWith(array $commands, int $now): bool
    {
        if (($this->asked !== null && $now - $this->asked <= self::IS_TRUE_FOR) || \in_array($commands[0][0], self::OF_THE_WAY, true)) {
            return false;
        }
        $this->asked = $now;

        return true;
    }

    /**
     * The name of the life that the server is in (see Life), which needs no class of its own to be found.
     *
     * @param string $replication that section of INFO
     *
     * @return string UNKNOWN if it does not say
     */
    public static function lifeIn(string $replication): string
    {
        $at = strpos($replication, self::NAMED);
        $name = $at === false ? '' : substr($replication, $at + \strlen(self::NAMED), self::NAME);

        return strspn($name, '0123456789abcdef') === self::NAME ? $name : self::UNKNOWN;
    }

    /** The address may lead to another server by now. */
    public function leave(): void
    {
        $this->isLeft = true;
    }

    /** Has the server asked again with the next commands. */
    public function doubt(): void
    {
        $this->asked = null;
    }

    /**
     * @param mixed             $answer  to the question
     * @param array<int, mixed> $replies to what was sent together with it
     *
     * @throws StoreUnavailable if the server is not the one that it was sent for
     */
    public function learn(mixed $answer, array $replies, Server $server): void
    {
        if ($this->said !== null && $answer === $this->said) {
            return;
        }
        if ($answer instanceof ErrorReply && $answer->is('NOAUTH')) {
            throw $server->refused($answer->message);
        }
        if (!\is_string($answer)) {
            throw $server->unavailable(
                'it does not say whether it is a master' . ($answer instanceof ErrorReply ? ", but \"{$answer->message}\"" : ''),
                remedy: 'let the user run INFO: +info',
            );
        }
        $isReplica = str_contains($answer, "\nrole:slave");
        if ($isReplica) {
            foreach ($replies as $reply) {
                // Of a cluster, it also says who has taken its place.
                if (!$reply instanceof ErrorReply || !$reply->is('MOVED')) {
                    throw $server->unavailable('it is a replica');
                }
            }
        }
        $this->life = self::lifeIn($answer);
        $this->said = $isReplica ? null : $answer;
    }
}
