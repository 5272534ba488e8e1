<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/**
 * Takes over a clock that names another life than its server's (see Life). No token of the former life judges
 * anything then. Stored items stay if the server was a replica of the server in that life. They stay, too, if it is
 * another node of the cluster, to which the slot has moved. They die if the server has read them from its disk: it may have missed deletes, overwrites and
 * invalidations since that disk was written.
 */
final class Lives
{
    /** @param bool $isTrusted whether what a server has read from its disk is all that it has ever acknowledged */
    public function __construct(
        private readonly Connection $connection,
        private readonly bool $isTrusted = false,
    ) {}

    /**
     * @param non-empty-list<string> $names of the clock, the tags, the key versions and the log
     *
     * @throws StoreUnavailable
     */
    public function renew(array $names): void
    {
        [$reply] = $this->connection->send([['EVAL', ScriptText::of(Script::Ask), '1', $names[0]]]);
        [$clock, $server, $replication, $stats] = \is_array($reply) ? $reply + [null, null, null, null] : [null, null, null, null];
        if (!\is_string($clock) || \strlen($clock) !== Script::CLOCK_BYTES || !\is_string($server) || !\is_string($replication) || !\is_string($stats)) {
            // It is gone, or the server refuses: the next question finds out.
            return;
        }
        $life = Life::toldBy($server, $replication, $stats);
        [$before, $process] = [substr($clock, Script::LIFE, Life::NAME), substr($clock, Script::LIFE + Life::NAME)];
        $stays = $this->isTrusted || $life->continues($before, $process) || $this->isAnotherNode($process);
        $this->connection->send([[
            'EVAL', ScriptText::of(Script::Renew), (string) \count($names), ...$names,
            random_bytes(Script::EPOCH), $before . $process, $life->name . $life->process, $stays ? '1' : '0',
        ]]);
    }

    /** Whether another node of the cluster is that process, which has handed over the slot in its life. */
    private function isAnotherNode(string $process): bool
    {
        foreach ($this->connection instanceof ClusterConnection ? $this->connection->everywhere([['INFO', 'server']]) : [] as [$server]) {
            if (\is_string($server) && Life::processOf($server) === $process) {
                return true;
            }
        }

        return false;
    }
}
