<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/**
 * One life of a server's data. It begins when the server starts or becomes a master, and ends when it ends or becomes a replica.
 * Within a life, no acknowledged write is lost. At its end, the last ones may be: a replica had not heard of them, or they were
 * not on the disk yet.
 *
 * Its name is the first half of the replication id, which a server draws by lot whenever it starts or becomes a master. A server
 * also draws one an hour after its last replica has left. That is no other life, but it is taken for one: the process is the
 * same. The clock of a cache names the life in which it runs, and the process.
 */
final class Life
{
    /** Bytes of the name, and of that of the process. */
    public const NAME = 16;

    private const UNKNOWN = Watch::UNKNOWN;

    /**
     * @param string $before         the name of the life that its server was in before, as a replica of another one
     * @param bool   $hasBeenReplica whether its server has ever heard anything from a master since it started
     */
    private function __construct(
        public readonly string $name,
        public readonly string $process,
        private readonly string $before,
        private readonly bool $hasBeenReplica,
    ) {}

    /** What a server says of itself to INFO, in its sections "server", "replication" and "stats". */
    public static function toldBy(string $server, string $replication, string $stats): self
    {
        return new self(
            Watch::lifeIn($replication),
            self::in($server, 'run_id'),
            self::in($replication, 'master_replid2'),
            // Until Redis 7 it does not say; but there only one that was a replica knows the id of another life.
            preg_match('/^total_net_repl_input_bytes:(\d+)/m', $stats, $found) !== 1 || (int) $found[1] > 0,
        );
    }

    /** @param string $server the section of INFO */
    public static function processOf(string $server): string
    {
        return self::in($server, 'run_id');
    }

    /**
     * Whether the server has what that life had at its end, but for the last of it that a replica may miss: it is the same process, or was
     * that one's replica. Otherwise it has read the data from its disk, and from when is unknown.
     */
    public function continues(string $name, string $process): bool
    {
        return ($this->process === $process && $process !== self::UNKNOWN)
            || ($this->hasBeenReplica && $this->before === $name && $name !== self::UNKNOWN);
    }

    private static function in(string $section, string $name): string
    {
        return preg_match("/^{$name}:([0-9a-f]{16})/m", $section, $found) === 1 ? $found[1] : self::UNKNOWN;
    }
}
