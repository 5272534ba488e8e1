<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;
use Larder\Store\SharedMemory\OthersPools;
use Larder\Store\SharedMemoryStore;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('pools', 'List the pools of shared memory')]
final class PoolsCommand extends Command
{
    protected function configure(): void
    {
        $this->addOption('json', null, InputOption::VALUE_NONE, 'Answer in JSON');
        $this->setHelp(<<<'HELP'
            Those of this user (or of the group that the ini setting larder.group names), and the names of those of others, as far as
            this user may see them. Pools of the same name and different owners have nothing to do with each other.

            A pool that does not evict has its locks in another one beside it, NAME.locks. It goes when the pool is removed.

              <info>%command.full_name%</info>
              <info>sudo -u www-data %command.full_name%</info>

            Exit codes: 0 done, also where there are none; 1 they cannot be looked at.
            HELP);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $missing = PoolNames::withoutExtension('list');
        if ($missing !== null) {
            return Complaint::say($output, $missing);
        }
        $pools = [];
        $status = self::SUCCESS;
        try {
            $names = SharedMemory::names();
        } catch (PoolUnusable $failure) {
            return Complaint::say($output, $failure->getMessage());
        }
        sort($names);
        $locks = SharedMemoryStore::leasesAmong($names);
        foreach ($names as $name) {
            try {
                $known = self::opened($name)->statistics();
                $pools[] = ['name' => $name, 'size' => $known['size'], 'bytes' => $known['bytes'], 'capacity' => $known['capacity'], 'items' => $known['items'],
                    'hits' => $known['hits'], 'misses' => $known['misses'], 'evicts' => $known['evict'], 'path' => $known['path'], 'processes' => $known['processes'] - 1,
                    'locks_of' => $known['evict'] ? null : $locks[$name] ?? null];
            } catch (PoolUnusable $failure) {
                $status = Complaint::say($output, $failure->getMessage());
            }
        }
        $others = (new OthersPools())->all();
        if ($input->getOption('json') === true) {
            $output->writeln(Printed::json(['pools' => $pools, 'others' => $others]), OutputInterface::OUTPUT_RAW);

            return $status;
        }
        self::print($pools, $others, $output);

        return $status;
    }

    /** @throws PoolUnusable */
    private static function opened(string $name): SharedMemory
    {
        try {
            return SharedMemory::open($name);
        } catch (PoolUnusable) {
            // One that does not evict is opened by those alone who know that.
            return SharedMemory::open($name, null, false);
        }
    }

    /**
     * @param list<array{name: string, size: int, bytes: int, capacity: int, items: int, hits: int, misses: int, evicts: bool, path: string, processes: int, locks_of: ?string}> $pools
     * @param array<string, ?list<string>>                                                                                                                          $others
     */
    private static function print(array $pools, array $others, OutputInterface $output): void
    {
        if ($pools === []) {
            $output->writeln('This user has no pools.');
        } else {
            $width = max(4, ...array_map(static fn(array $pool): int => mb_strwidth(Printed::key($pool['name'])), $pools));
            $output->writeln(str_pad('pool', $width) . '        size        used       items    hits  processes', OutputInterface::OUTPUT_RAW);
            foreach ($pools as $pool) {
                $output->writeln(\sprintf(
                    '%s %11s %11s %11s %7s %10s%s',
                    Printed::key($pool['name']) . str_repeat(' ', $width - mb_strwidth(Printed::key($pool['name']))),
                    Printed::bytes($pool['size']),
                    Printed::bytes($pool['bytes']),
                    Printed::count($pool['items']),
                    Printed::share($pool['hits'], $pool['hits'] + $pool['misses']),
                    Printed::count($pool['processes']),
                    match (true) {
                        $pool['locks_of'] !== null => '  locks of ' . Printed::key($pool['locks_of']),
                        default => $pool['evicts'] ? '' : '  does not evict',
                    },
                ), OutputInterface::OUTPUT_RAW);
            }
        }
        foreach ($others as $owner => $names) {
            if ($names !== []) {
                $output->writeln(ucfirst($owner) . ': ' . ($names === null ? 'has a directory for pools, which only its owner and root can see' : implode(', ', array_map(Printed::key(...), $names))), OutputInterface::OUTPUT_RAW);
            }
        }
    }
}
