<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception;
use Larder\Exception\InvalidTrace;
use Larder\Trace\MissRatioCurve;
use Larder\Trace\TraceFile;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('size', 'How much memory a site would need, from a recorded trace')]
final class SizeCommand extends Command
{
    private const STEPS = 12;

    protected function configure(): void
    {
        $this->addArgument('trace', InputArgument::REQUIRED, 'A file that Larder\Trace\RecordingStore has written');
        $this->addOption('overhead', null, InputOption::VALUE_REQUIRED, 'Bytes that an item costs besides its key and value', '64');
        $this->addOption('json', null, InputOption::VALUE_NONE, 'Answer in JSON');
        $this->addOption('integers', null, InputOption::VALUE_NONE, 'The file is a row of little-endian 32-bit integers, each a read of an item of one byte');
        $this->setHelp(<<<'HELP'
            The share of look-ups that miss, for caches of several sizes that evict what was not used for longest, and the least size
            that keeps 99 % of the hits that a cache without limits has. Larder's shared memory does a little better.

              <info>%command.full_name% /var/lib/shop/site.trace</info>

            Exit codes: 0 done; 2 the file is no trace.
            HELP);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $path = $input->getArgument('trace');
        $overhead = filter_var($input->getOption('overhead'), \FILTER_VALIDATE_INT, ['options' => ['min_range' => 0, 'max_range' => 1 << 20]]);
        if (!\is_int($overhead)) {
            return Complaint::say($output, 'The overhead is no number of bytes from 0 to 1,048,576; give one.', self::INVALID);
        }
        try {
            $path = \is_string($path) ? $path : '';
            $curve = MissRatioCurve::of(TraceFile::open($path, $input->getOption('integers') === true), $overhead);
            if ($curve->reads === 0) {
                throw InvalidTrace::empty($path);
            }
        } catch (Exception $mistake) {
            return Complaint::say($output, $mistake->getMessage(), self::INVALID);
        }
        $enough = $curve->sizeFor(0.99);
        $steps = self::steps($curve);
        if ($input->getOption('json') === true) {
            $output->writeln(Printed::json([
                'reads' => $curve->reads, 'items' => $curve->items, 'footprint' => $curve->footprint, 'enough' => $enough,
                'curve' => array_map(static fn(int $bytes, float $ratio): array => ['bytes' => $bytes, 'miss_ratio' => round($ratio, 6)], array_keys($steps), $steps),
            ]), OutputInterface::OUTPUT_RAW);

            return self::SUCCESS;
        }
        $output->writeln([\sprintf('%s reads of %s items in the trace.', Printed::count($curve->reads), Printed::count($curve->items)), '', \sprintf('%12s  %8s', 'memory', 'misses')], OutputInterface::OUTPUT_RAW);
        foreach ($steps as $bytes => $ratio) {
            $output->writeln(\sprintf('%12s  %6.2f %%  %s', Printed::bytes($bytes), 100 * $ratio, str_repeat('#', (int) round(50 * $ratio))), OutputInterface::OUTPUT_RAW);
        }
        $output->writeln(['', \sprintf('%s are enough: less than 1 %% of the possible hits is lost with it.', Printed::bytes($enough))], OutputInterface::OUTPUT_RAW);

        return self::SUCCESS;
    }

    /** @return array<int, float> miss ratios, by bytes */
    private static function steps(MissRatioCurve $curve): array
    {
        $steps = [];
        for ($step = self::STEPS - 1; $step >= 0; $step--) {
            $bytes = max(1, $curve->footprint >> $step);
            $steps[$bytes] = $curve->missRatio($bytes);
        }

        return $steps;
    }
}
