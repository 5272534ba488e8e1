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

#[AsCommand('remove', 'Remove pools of shared memory, with all that is in them')]
final class RemoveCommand extends Command
{
    protected function configure(): void
    {
        $this->addArgument('name', InputArgument::REQUIRED | InputArgument::IS_ARRAY, 'The pools; <info>larder pools</info> lists them');
        $this->addOption('force', null, InputOption::VALUE_NONE, 'Remove a pool that processes have open, too');
        $this->addOption('json', null, InputOption::VALUE_NONE, 'Answer in JSON');
        $this->setHelp(<<<'HELP'
            Gives the memory of pools back that no site uses any more. Each tier has a near pool of its own for each far store and prefix, so a
            prefix that changes with each release leaves one behind. The locks of a pool go with it.

            A pool that processes have open stays, unless <info>--force</info> is given. These processes go on with an empty one of the same name.

              <info>%command.full_name% shop blog</info>

            Exit codes: 0 done; 1 a pool is not there, is open, or cannot be removed; 2 no pool can have such a name.
            HELP);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $missing = PoolNames::withoutExtension('remove');
        if ($missing !== null) {
            return Complaint::say($output, $missing);
        }
        $names = $input->getArgument('name');
        $names = array_values(array_filter(\is_array($names) ? $names : [], is_string(...)));
        $removed = [];
        $status = self::SUCCESS;
        try {
            $pools = array_column(ListedPool::all($names, static fn() => null), null, 'name');
            foreach ($names as $name) {
                $mistake = PoolNames::mistake($name);
                $processes = isset($pools[$name]) ? $pools[$name]->processes() : 0;
                $refusal = match (true) {
                    $mistake !== null => $mistake,
                    $processes > 0 && $input->getOption('force') !== true => \sprintf('%s the pool "%s" open; stop php-fpm and what else uses it, or give --force.', $processes === 1 ? 'One process has' : "{$processes} processes have", $name),
                    default => SharedMemory::remove($name) ? null : PoolNames::absent($name),
                };
                if ($refusal === null) {
                    $removed[] = ['name' => $name, 'size' => isset($pools[$name]) ? $pools[$name]->number('size') : null];
                } else {
                    $status = max($status, Complaint::say($output, $refusal, $mistake === null ? self::FAILURE : self::INVALID));
                }
            }
        } catch (PoolUnusable $failure) {
            $status = max($status, Complaint::say($output, $failure->getMessage()));
        }
        self::print($removed, $input->getOption('json') === true, $output);

        return $status;
    }

    /** @param list<array{name: string, size: ?int}> $removed */
    private static function print(array $removed, bool $json, OutputInterface $output): void
    {
        if ($json) {
            $output->writeln(Printed::json(['removed' => $removed]), OutputInterface::OUTPUT_RAW);

            return;
        }
        foreach ($removed as $pool) {
            $output->writeln("{$pool['name']}: It is removed" . ($pool['size'] === null ? '' : ', and ' . Printed::bytes($pool['size']) . ' are free again') . '.', OutputInterface::OUTPUT_RAW);
        }
    }
}
