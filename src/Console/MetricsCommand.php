<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\StoreUnavailable;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Completion\CompletionInput;
use Symfony\Component\Console\Completion\CompletionSuggestions;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\ConsoleOutputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** OpenMetrics 1.0, as Prometheus and others read it. */
#[AsCommand('metrics', 'Print the figures of stores as OpenMetrics')]
final class MetricsCommand extends Command
{
    /** @var array<string, array{string, string, string}> type, unit and help of each metric, by the property it comes from */
    private const METRICS = [
        'items' => ['gauge', '', 'Items in the store.'],
        'bytes' => ['gauge', 'bytes', 'Bytes in use.'],
        'capacity' => ['gauge', 'bytes', 'Bytes at most.'],
        'hits' => ['counter', '', 'Look-ups that found something.'],
        'misses' => ['counter', '', 'Look-ups that found nothing.'],
        'evictions' => ['counter', '', 'Items removed to make room.'],
        'expired' => ['counter', '', 'Items removed because their time was over.'],
    ];

    private const NAMES = ['bytes' => 'larder_used_bytes', 'capacity' => 'larder_capacity_bytes'];

    protected function configure(): void
    {
        $this->addArgument('dsn', InputArgument::REQUIRED | InputArgument::IS_ARRAY, 'The stores');
        $this->setHelp(<<<'HELP'
            One family of metrics for each figure, labelled with the store's DSN (without its password and options). A store
            that does not answer has larder_up 0 and nothing else.

              <info>%command.full_name% shm:shop sqlite:/var/cache/site.db > /var/lib/node_exporter/larder.prom</info>

            Exit codes: 0 done; 1 a store did not answer; 2 the command cannot be understood.
            HELP);
    }

    public function complete(CompletionInput $input, CompletionSuggestions $suggestions): void
    {
        $suggestions->suggestValues(StoreName::examples());
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $dsns = $input->getArgument('dsn');
        $stores = [];
        try {
            foreach (\is_array($dsns) ? $dsns : [] as $dsn) {
                $dsn = \is_string($dsn) ? $dsn : '';
                $stores[StoreName::of($dsn)] = Dsn::parse($dsn)->open();
            }
        } catch (Exception $mistake) {
            $errors = $output instanceof ConsoleOutputInterface ? $output->getErrorOutput() : $output;
            $errors->writeln($mistake->getMessage(), OutputInterface::OUTPUT_RAW);

            return self::INVALID;
        }
        $samples = ['up' => []];
        foreach ($stores as $label => $store) {
            try {
                $known = $store->statistics();
                $samples['up'][$label] = 1;
            } catch (StoreUnavailable) {
                $samples['up'][$label] = 0;
                continue;
            }
            foreach (array_keys(self::METRICS) as $property) {
                $samples[$property][$label] = get_object_vars($known)[$property] ?? null;
            }
        }
        $output->write(self::exposition($samples), false, OutputInterface::OUTPUT_RAW);

        return \in_array(0, $samples['up'], true) ? self::FAILURE : self::SUCCESS;
    }

    /** @param array<string, array<string, mixed>> $samples by metric and label */
    private static function exposition(array $samples): string
    {
        $text = '';
        foreach (['up' => ['gauge', '', 'Whether the store answered.']] + self::METRICS as $property => [$type, $unit, $help]) {
            $name = self::NAMES[$property] ?? "larder_{$property}";
            $lines = '';
            foreach ($samples[$property] ?? [] as $label => $value) {
                if (\is_int($value)) {
                    $lines .= \sprintf("%s%s{store=\"%s\"} %d\n", $name, $type === 'counter' ? '_total' : '', addcslashes($label, "\\\"\n"), $value);
                }
            }
            if ($lines !== '') {
                $text .= "# TYPE {$name} {$type}\n" . ($unit === '' ? '' : "# UNIT {$name} {$unit}\n") . "# HELP {$name} {$help}\n{$lines}";
            }
        }

        return "{$text}# EOF\n";
    }
}
