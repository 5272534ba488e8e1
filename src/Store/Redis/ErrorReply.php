<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/** The server understood and said no. */
final class ErrorReply
{
    public function __construct(
        public readonly string $message,
    ) {}

    /** Whether a client's exception tells what a server has said, rather than that it said nothing: then it begins with a code. */
    public static function isOne(string $message): bool
    {
        return preg_match('/^[A-Z][A-Z0-9]+ /', $message) === 1;
    }

    /**
     * Whether a replica has answered, where only a master should: a failover has left it its address. One that has lost its
     * master may have words of its own for scripts.
     *
     * @param array<int, mixed> $replies
     */
    public static function isByReplica(array $replies): bool
    {
        foreach ($replies as $reply) {
            if ($reply instanceof self && ($reply->is('READONLY', 'MASTERDOWN') || str_contains($reply->message, 'command on a stale replica'))) {
                return true;
            }
        }

        return false;
    }

    /** Whether it would have refused all users that want to store something. */
    public function takesNothing(): bool
    {
        return $this->is('OOM', 'MISCONF', 'READONLY', 'NOREPLICAS') || $this->isOfRights();
    }

    /** Whether the user may not do that, or not with that key. What a user may not do in a script has no code of its own. */
    public function isOfRights(): bool
    {
        return $this->is('NOPERM') || preg_match('/^ERR (The user executing the script can\'t|ACL failure in script)/', $this->message) === 1;
    }

    /** Whether it does not have a command: it is older than that, or its configuration has taken it away. A script's has no code of its own. */
    public function isOfAMissingCommand(): bool
    {
        return preg_match('/unknown (redis )?command/i', $this->message) === 1;
    }

    /** Whether it is one of these codes. What a script has met stands behind words of the server's own until Redis 6. */
    public function is(string ...$codes): bool
    {
        return preg_match('/^(?:ERR Error running script .* -)?(?:' . implode('|', $codes) . ') /s', $this->message) === 1;
    }
}
