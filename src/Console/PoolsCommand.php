<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception\PoolUnusable;
use Larder\Store\SharedMemory\PoolFiles;
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

            A pool is unused while no process has it open. <info>larder remove NAME</info> gives its memory back.

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
        $status = self::SUCCESS;
        try {
            $pools = ListedPool::all(null, static function (PoolUnusable $failure) use (&$status, $output): void {
                $status = Complaint::say($output, $failure->getMessage());
            });
        } catch (PoolUnusable $failure) {
            return Complaint::say($output, $failure->getMessage());
        }
        $others = (new PoolFiles())->others();
        if ($input->getOption('json') === true) {
            $output->writeln(Printed::json(['pools' => array_map(static fn(ListedPool $pool): array => $pool->toArray(), $pools), 'others' => $others]), OutputInterface::OUTPUT_RAW);

            return $status;
        }
        self::print($pools, $others, $output);

        return $status;
    }

    /**
     * @param list<ListedPool>                $pools
     * @param array<string, ?list<string>> $others
     */
    private static function print(array $pools, array $others, OutputInterface $output): void
    {
        if ($pools === []) {
            $output->writeln('This user has no pools.');
        } else {
            $width = max(4, ...array_map(static fn(ListedPool $pool): int => mb_strwidth(Printed::key($pool->name)), $pools));
            $output->writeln(str_pad('pool', $width) . '        size        used       items    hits  processes  unused for', OutputInterface::OUTPUT_RAW);
            foreach ($pools as $pool) {
                $output->writeln(\sprintf(
                    '%s %11s %11s %11s %7s %10s %11s%s',
                    Printed::key($pool->name) . str_repeat(' ', $width - mb_strwidth(Printed::key($pool->name))),
                    Printed::bytes($pool->number('size')),
                    Printed::bytes($pool->number('bytes')),
                    Printed::count($pool->number('items')),
                    Printed::share($pool->number('hits'), $pool->number('hits') + $pool->number('misses')),
                    Printed::count($pool->processes()),
                    $pool->processes() > 0 ? '' : Printed::duration($pool->unusedSeconds()),
                    match (true) {
                        $pool->locksOf !== null => '  locks of ' . Printed::key($pool->locksOf),
                        default => $pool->evicts() ? '' : '  does not evict',
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
