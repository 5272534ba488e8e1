<?php

declare(strict_types=1);

namespace Larder\Bench\Console;

use Larder\Bench\Experiment\ChildProcess;
use Larder\Bench\Experiment\Experiment;
use Larder\Bench\Experiment\Experiments;
use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Profile;
use Larder\Bench\Experiment\Versions;
use Larder\Bench\Report\Charts;
use Larder\Bench\Report\Environment;
use Larder\Bench\Report\Findings;
use Larder\Bench\Report\HtmlReport;
use Larder\Bench\Report\Run;
use Larder\Bench\Report\TerminalReport;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Subjects;
use Larder\Bench\Subject\WorkerProcess;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Command\SignalableCommandInterface;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\ConsoleOutputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** Measures the caches of this machine: `larder bench`. */
final class BenchCommand extends Command implements SignalableCommandInterface
{
    private ?Laboratory $laboratory = null;

    public function __construct()
    {
        parent::__construct('bench');
    }

    /** @return list<int> */
    public function getSubscribedSignals(): array
    {
        return [SIGINT, SIGTERM];
    }

    /** The first signal ends the run with what it has; the second ends it at once. Servers are stopped either way. */
    public function handleSignal(int $signal, int|false $previousExitCode = 0): int|false
    {
        if ($this->laboratory === null || $this->laboratory->isInterrupted()) {
            return 128 + $signal;
        }
        $this->laboratory->interrupt();

        return false;
    }

    protected function configure(): void
    {
        $this->setDescription('Measure the caches of this machine side by side')
            ->addArgument('experiment', InputArgument::IS_ARRAY, 'Which experiments: ' . implode(', ', array_keys(Experiments::all())) . ' (default: all)')
            ->addOption('subjects', null, InputOption::VALUE_REQUIRED, 'Which subjects, names or patterns such as redis-*, with commas between them (default: all)')
            ->addOption('json', null, InputOption::VALUE_REQUIRED, 'Where to write the samples', 'report.json')
            ->addOption('html', null, InputOption::VALUE_REQUIRED, 'Where to write the report', 'report.html')
            ->addOption('quick', null, InputOption::VALUE_NONE, 'Under ten minutes (default)')
            ->addOption('thorough', null, InputOption::VALUE_NONE, 'Narrower intervals, in up to an hour')
            ->addOption('trace', null, InputOption::VALUE_REQUIRED | InputOption::VALUE_IS_ARRAY, 'An access trace of your own, 32-bit integers, perhaps compressed by xz')
            ->addOption('subject-php', null, InputOption::VALUE_REQUIRED, 'A PHP file that returns a subject of your own');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $errors = $output instanceof ConsoleOutputInterface ? $output->getErrorOutput() : $output;
        try {
            if ($input->getOption('quick') === true && $input->getOption('thorough') === true) {
                throw new \InvalidArgumentException('The options --quick and --thorough exclude each other: give one of them.');
            }
            $file = self::option($input, 'subject-php');
            $traces = self::traces($input);
            $experiments = $this->experiments($input);
            $subjects = $this->subjects($input, Subjects::all($file));
            $targets = array_filter([self::option($input, 'json'), self::option($input, 'html')]);
            foreach ($targets as $target) {
                if (!is_dir(dirname($target)) || !is_writable(is_file($target) ? $target : dirname($target))) {
                    throw new \InvalidArgumentException("The file {$target} cannot be written: give a path in a directory that exists and is yours.");
                }
            }
        } catch (\InvalidArgumentException $mistake) {
            $errors->writeln("<error>{$mistake->getMessage()}</error>");

            return Command::INVALID;
        }
        $profile = $input->getOption('thorough') === true ? Profile::Thorough : Profile::Quick;
        $laboratory = new Laboratory($profile, $subjects, Placement::ofThisMachine(), $file, $traces);
        $this->laboratory = $laboratory;
        $run = $this->newRun($laboratory);
        $hasFailed = $this->measure($run, $experiments, $laboratory, $errors);
        $this->write($run, $input, $output, $errors);

        return match (true) {
            $laboratory->isInterrupted() => 130,
            $hasFailed => Command::FAILURE,
            default => Command::SUCCESS,
        };
    }

    /**
     * @param array<string, Experiment> $experiments
     * @return bool whether an experiment failed altogether
     */
    private function measure(Run $run, array $experiments, Laboratory $laboratory, OutputInterface $errors): bool
    {
        $hasFailed = false;
        $began = hrtime(true);
        try {
            foreach ($experiments as $name => $experiment) {
                if ($laboratory->isInterrupted()) {
                    break;
                }
                $start = hrtime(true);
                $steal = Environment::stealTicks();
                try {
                    $outcome = $experiment->run($laboratory, new ConsoleProgress($errors));
                } catch (\RuntimeException $problem) {
                    $errors->writeln("\n<error>The experiment {$name} was given up: {$problem->getMessage()}</error>");
                    $hasFailed = true;
                    continue;
                }
                $outcome->seconds = (hrtime(true) - $start) / 1e9;
                $outcome->notes[] = sprintf('The hypervisor gave %.1f s of processor time to others meanwhile.', (Environment::stealTicks() - $steal) / 100);
                $run->outcomes[] = $outcome;
            }
            $run->servers = array_map(static fn(array $server): array => array_map(strval(...), $server), $laboratory->serverDescriptions());
        } finally {
            $laboratory->stopServers();
        }
        $run->seconds = (hrtime(true) - $began) / 1e9;
        $run->isComplete = !$laboratory->isInterrupted() && !$hasFailed;

        return $hasFailed;
    }

    private function write(Run $run, InputInterface $input, OutputInterface $output, OutputInterface $errors): void
    {
        $json = $run->toJson();
        $jsonFile = self::option($input, 'json') ?? 'report.json';
        file_put_contents($jsonFile, $json);
        // The report is drawn from the JSON and from nothing else, so it is read back.
        $findings = new Findings(Run::fromJson($json));
        (new TerminalReport($output))->write($findings);
        $htmlFile = self::option($input, 'html') ?? 'report.html';
        $lack = Charts::install();
        if ($lack !== null) {
            $errors->writeln("<comment>{$lack}</comment>");
        }
        file_put_contents($htmlFile, (new HtmlReport(Charts::scripts()))->render($findings));
        $output->writeln("\nThe report is in {$htmlFile}, the samples in {$jsonFile}.");
    }

    private function newRun(Laboratory $laboratory): Run
    {
        return new Run(
            'bin/larder ' . implode(' ', self::arguments()),
            $laboratory->profile->value,
            gmdate('Y-m-d\TH:i:s\Z'),
            Environment::ofThisMachine(),
            $laboratory->placement->description,
            WorkerProcess::SETTINGS,
            array_map(
                static fn(Subject $subject): array => ['title' => $subject->title, 'family' => $subject->family->value, 'settings' => $subject->settings],
                $laboratory->subjects,
            ),
            ChildProcess::run('the versions', Versions::class, [])->all(),
        );
    }

    /** @return list<string> */
    private static function traces(InputInterface $input): array
    {
        $files = $input->getOption('trace');
        $traces = array_values(array_filter(is_array($files) ? $files : [], is_string(...)));
        foreach ($traces as $file) {
            if (!is_readable($file)) {
                throw new \InvalidArgumentException("The file {$file} given as --trace cannot be read: give the path of a file of 32-bit integers.");
            }
        }

        return $traces;
    }

    /** @return list<string> what was typed, without the program's path */
    private static function arguments(): array
    {
        $arguments = $_SERVER['argv'] ?? [];

        return is_array($arguments) ? array_values(array_filter(array_slice($arguments, 1), is_string(...))) : [];
    }

    /** @return array<string, Experiment> */
    private function experiments(InputInterface $input): array
    {
        $all = Experiments::all();
        $asked = $input->getArgument('experiment');
        $chosen = [];
        foreach (is_array($asked) ? $asked : [] as $name) {
            if (!is_string($name) || !isset($all[$name])) {
                throw new \InvalidArgumentException(self::unknown('experiment', is_string($name) ? $name : '', array_keys($all)));
            }
            $chosen[$name] = $all[$name];
        }

        return $chosen === [] ? $all : $chosen;
    }

    /**
     * @param array<string, Subject> $all
     * @return array<string, Subject> with the empty loop, which the others' times need
     */
    private function subjects(InputInterface $input, array $all): array
    {
        $asked = self::option($input, 'subjects');
        if ($asked === null) {
            return $all;
        }
        $chosen = ['none' => true];
        foreach (explode(',', $asked) as $pattern) {
            $matching = array_filter(array_keys($all), static fn(string $name): bool => fnmatch(trim($pattern), $name));
            if ($matching === []) {
                throw new \InvalidArgumentException(self::unknown('subject', trim($pattern), array_keys($all)));
            }
            $chosen += array_fill_keys($matching, true);
        }

        return array_intersect_key($all, $chosen);
    }

    /** @param list<string> $names */
    private static function unknown(string $what, string $name, array $names): string
    {
        usort($names, static fn(string $one, string $other): int => levenshtein($name, $one) <=> levenshtein($name, $other));

        return "There is no {$what} {$name}: the nearest is {$names[0]}.";
    }

    private static function option(InputInterface $input, string $name): ?string
    {
        $option = $input->getOption($name);

        return is_string($option) ? $option : null;
    }
}
