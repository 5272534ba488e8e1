<?php

declare(strict_types=1);

namespace Larder\Console;

use Symfony\Component\Console\Command\Command;

/** What the command line can do without the benchmark. */
final class Commands
{
    private function __construct() {}

    /** @return list<Command> */
    public static function all(): array
    {
        return [
            new GetCommand(), new SetCommand(), new DeleteCommand(), new KeysCommand(), new TagsCommand(), new FlushCommand(),
            new PruneCommand(), new StatsCommand(), new TopCommand(), new LargestCommand(), new LatencyCommand(), new MetricsCommand(),
            new DoctorCommand(), new PoolsCommand(), new SaveCommand(), new ResizeCommand(), new RemoveCommand(), new SizeCommand(), new TraceCommand(),
        ];
    }
}
