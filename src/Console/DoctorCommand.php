<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Console\Doctor\Finding;
use Larder\Console\Doctor\JournalChecks;
use Larder\Console\Doctor\Machine;
use Larder\Console\Doctor\MachineChecks;
use Larder\Console\Doctor\PoolChecks;
use Larder\Console\Doctor\Severity;
use Larder\Console\Doctor\StoreChecks;
use Larder\Exception\PoolUnusable;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Completion\CompletionInput;
use Symfony\Component\Console\Completion\CompletionSuggestions;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('doctor', 'Find what is missing or wrongly configured, and the line to change')]
final class DoctorCommand extends Command
{
    public function __construct(
        private readonly ?Machine $machine = null,
    ) {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->addArgument('dsn', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Stores to look at besides: each is opened, and a look-up and a save are timed');
        $this->addOption('json', null, InputOption::VALUE_NONE, 'Answer in JSON');
        Journals::describe($this);
        $this->setHelp(<<<'HELP'
            Looks at this PHP and this machine, and at the stores that are named. PHP-FPM may have other settings than the command
            line: php-fpm -i shows them.

              <info>%command.full_name%</info>
              <info>%command.full_name% shm:shop redis://127.0.0.1 sqlite:/var/cache/site.db</info>
              <info>%command.full_name% redis://127.0.0.1 --journal=/var/lib/shop/store.journal</info>

            Exit codes: 0 nothing is wrong, though something may be better; 1 there is a problem, such as something in a journal.
            HELP);
    }

    public function complete(CompletionInput $input, CompletionSuggestions $suggestions): void
    {
        $suggestions->suggestValues(StoreName::examples());
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $machine = $this->machine ?? Machine::this();
        $found = (new MachineChecks($machine))->findings();
        array_push($found, ...self::pools($machine));
        $dsns = $input->getArgument('dsn');
        foreach (\is_array($dsns) ? $dsns : [] as $dsn) {
            array_push($found, ...(new StoreChecks(\is_string($dsn) ? $dsn : '', $machine))->findings());
        }
        foreach (Journals::named($input) as $path) {
            array_push($found, ...(new JournalChecks($path))->findings());
        }
        if ($input->getOption('json') === true) {
            $output->writeln(Printed::json(['findings' => array_map(static fn(Finding $each): array => [
                'severity' => $each->severity->value, 'what' => $each->what, 'says' => $each->says, 'change' => $each->change,
            ], $found)]), OutputInterface::OUTPUT_RAW);
        } else {
            self::print($found, $output);
        }
        $problems = array_filter($found, static fn(Finding $each): bool => $each->severity === Severity::Problem);

        return $problems === [] ? self::SUCCESS : self::FAILURE;
    }

    /** @return list<Finding> */
    private static function pools(Machine $machine): array
    {
        try {
            return \in_array('larder', $machine->extensions, true) && \extension_loaded('larder') ? PoolChecks::unused(ListedPool::all(null, static fn() => null)) : [];
        } catch (PoolUnusable $failure) {
            return [Finding::failure('pools', $failure)];
        }
    }

    /** @param list<Finding> $found */
    private static function print(array $found, OutputInterface $output): void
    {
        foreach ($found as $each) {
            $colour = match ($each->severity) {
                Severity::Fine => 'info',
                Severity::Advice => 'comment',
                Severity::Problem => 'error',
            };
            $output->write(\sprintf('<%s>%-7s</> ', $colour, $each->severity->value));
            $output->writeln("{$each->what}: {$each->says}", OutputInterface::OUTPUT_RAW);
            if ($each->change !== null) {
                $output->writeln("        change: {$each->change}", OutputInterface::OUTPUT_RAW);
            }
        }
    }
}
