<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('save', 'Save pools of shared memory over a reboot')]
final class SaveCommand extends Command
{
    protected function configure(): void
    {
        $this->addArgument('name', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'The pools; if none is named, all of this user but those of locks');
        $this->addOption('json', null, InputOption::VALUE_NONE, 'Answer in JSON');
        $this->setHelp(<<<'HELP'
            Writes what lives in the pools to a disk (the ini setting larder.snapshot says where) and ends them. The process that opens one next
            begins with what was saved. Run it when php-fpm has stopped, as the user that php-fpm runs as; php-fpm and the command line
            need the same larder.snapshot.

              <info>%command.full_name%</info>
              <info>%command.full_name% shop blog</info>

            Exit codes: 0 done; 1 a pool is not there or cannot be saved, and goes on as it was; 2 no pool can have such a name.
            HELP);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $missing = PoolNames::withoutExtension('save');
        if ($missing !== null) {
            return Complaint::say($output, $missing);
        }
        $names = $input->getArgument('name');
        $names = array_values(array_filter(\is_array($names) ? $names : [], is_string(...)));
        $saved = [];
        $status = self::SUCCESS;
        try {
            // No lock outlives a reboot: its holder is dead.
            $names = $names === [] ? PoolNames::ofItems() : $names;
        } catch (PoolUnusable $failure) {
            return Complaint::say($output, $failure->getMessage());
        }
        foreach ($names as $name) {
            $mistake = PoolNames::mistake($name);
            if ($mistake !== null) {
                $status = Complaint::say($output, $mistake, self::INVALID);
                continue;
            }
            try {
                $pool = SharedMemory::save($name);
                if ($pool === null) {
                    $status = max($status, Complaint::say($output, PoolNames::absent($name)));
                } else {
                    $saved[] = ['name' => $name] + $pool;
                }
            } catch (PoolUnusable $failure) {
                $status = max($status, Complaint::say($output, $failure->getMessage()));
            }
        }
        self::print($saved, $input->getOption('json') === true, $output);

        return $status;
    }

    /** @param list<array{name: string, path: string, items: int, bytes: int}> $saved */
    private static function print(array $saved, bool $json, OutputInterface $output): void
    {
        if ($json) {
            $output->writeln(Printed::json(['saved' => $saved]), OutputInterface::OUTPUT_RAW);

            return;
        }
        foreach ($saved as $pool) {
            $output->writeln(
                \sprintf('%s: %s items, %s, are saved in %s.', $pool['name'], Printed::count($pool['items']), Printed::bytes($pool['bytes']), $pool['path']),
                OutputInterface::OUTPUT_RAW,
            );
        }
    }
}
