<?php

declare(strict_types=1);

namespace Larder\Bench\Console;

use Larder\Bench\Experiment\ChildProcess;
use Larder\Bench\Experiment\Environment;
use Larder\Bench\Experiment\Experiments;
use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\LeftBehind;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Versions;
use Larder\Bench\Finding\Comparison;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Run;
use Larder\Bench\Report\Charts;
use Larder\Bench\Report\HtmlReport;
use Larder\Bench\Report\TerminalReport;
use Larder\Bench\Statistics\Verdict;
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

/** Measures the caches of this machine: `larder bench`; compares two runs: `larder bench compare`; draws one: `larder bench report`. */
final class BenchCommand extends Command implements SignalableCommandInterface
{
    private const HELP = <<<'HELP'
        Without a name, every experiment runs:

            <info>larder bench</info>
            <info>larder bench gets web --subjects=shared-memory,apcu-*,redis-*</info>

        Ctrl-C stops the servers and writes what there is; <info>--resume</info> goes on from there:

            <info>larder bench --thorough --json=run.json --resume</info>

        What got faster or slower between two runs, beyond the noise (exit code 1 if something got slower):

            <info>larder bench compare before.json after.json --subjects=shared-memory</info>

        The report is drawn from the JSON alone, so it can be drawn anew:

            <info>larder bench report run.json --html=run.html</info>
        HELP;

    private ?Laboratory $laboratory = null;

    public function __construct()
    {
        parent::__construct('bench');
    }

    /** @return list<int> */
    public function getSubscribedSignals(): array
    {
        // A run that nohup(1) starts is to outlive the terminal.
        return [SIGINT, SIGTERM, ...(self::isIgnored(SIGHUP) ? [] : [SIGHUP])];
    }

    /** The first signal ends the run with what it has; the second ends it at once. Nothing is left running or lying about either way. */
    public function handleSignal(int $signal, int|false $previousExitCode = 0): int|false
    {
        if ($this->laboratory === null || $this->laboratory->isInterrupted()) {
            // A third one must not end what removes directories and stops servers.
            array_map(static fn(int $later): bool => pcntl_signal($later, SIG_IGN), $this->getSubscribedSignals());

            return 128 + $signal;
        }
        $this->laboratory->interrupt();

        return false;
    }

    protected function configure(): void
    {
        $this->setDescription('Measure the caches of this machine side by side')
            ->setHelp(self::HELP . "\n\nThe subjects:\n\n" . wordwrap(implode(' ', array_keys(Subjects::all())), 100) . "\n")
            ->addArgument('experiment', InputArgument::IS_ARRAY, 'Which experiments: ' . implode(', ', array_keys(Experiments::all())) . ' (default: all); or compare and two JSON files, or report and one')
            ->addOption('subjects', null, InputOption::VALUE_REQUIRED, 'Which subjects, names or patterns such as redis-*, with commas between them (default: all)')
            ->addOption('json', null, InputOption::VALUE_REQUIRED, 'Where to write the samples', 'report.json')
            ->addOption('html', null, InputOption::VALUE_REQUIRED, 'Where to write the report', 'report.html')
            ->addOption('quick', null, InputOption::VALUE_NONE, 'Wider intervals, in about a quarter of an hour (default)')
            ->addOption('thorough', null, InputOption::VALUE_NONE, 'Narrower intervals, in an hour and a half')
            ->addOption('resume', null, InputOption::VALUE_NONE, 'Keep the experiments that are complete in the JSON file, and run the others')
            ->addOption('trace', null, InputOption::VALUE_REQUIRED | InputOption::VALUE_IS_ARRAY, 'An access trace of your own, 32-bit integers, perhaps compressed by xz')
            ->addOption('zend', null, InputOption::VALUE_REQUIRED, 'A directory with cache back ends of Zend Framework 1 (Zend/Cache/Backend, Cm/Cache/Backend), for tags')
            ->addOption('wordpress', null, InputOption::VALUE_REQUIRED, 'A directory with another WordPress than the distribution\'s, for transients, pages and pagecache')
            ->addOption('wordpress-peers', null, InputOption::VALUE_REQUIRED, 'A directory with original plugins that have an object cache or a page cache, a folder each, for transients, pages and pagecache')
            ->addOption('laravel', null, InputOption::VALUE_REQUIRED, 'The directory of an application of Laravel\'s, or of Debian\'s packages of it (default: where PHP finds these), for tags')
            ->addOption('subject-php', null, InputOption::VALUE_REQUIRED, 'A PHP file that returns a subject of your own');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $errors = $output instanceof ConsoleOutputInterface ? $output->getErrorOutput() : $output;
        $words = $input->getArgument('experiment');
        $words = is_array($words) ? array_values(array_filter($words, is_string(...))) : [];
        try {
            return match ($words[0] ?? '') {
                'compare' => $this->compare($input, $output, array_slice($words, 1)),
                'report' => $this->report($input, $output, $errors, array_slice($words, 1)),
                default => $this->measure(Choice::of($input), $output, $errors),
            };
        } catch (\InvalidArgumentException|\UnexpectedValueException $mistake) {
            $errors->writeln("<error>{$mistake->getMessage()}</error>");

            return Command::INVALID;
        } catch (\RuntimeException $problem) {
            $errors->writeln("<error>{$problem->getMessage()}</error>");

            return Command::FAILURE;
        }
    }

    private function measure(Choice $choice, OutputInterface $output, OutputInterface $errors): int
    {
        $laboratory = new Laboratory($choice->profile, $choice->subjects, Placement::ofThisMachine(), $choice->subjectFile, $choice->traces, $choice->zend, $choice->wordpress, $choice->peers, $choice->laravel);
        $run = $this->newRun($laboratory);
        if ($choice->isResumed && is_file($choice->json)) {
            $run = self::resumed($choice, $run);
        }
        $left = array_diff_key($choice->experiments, array_flip(array_map(static fn(Outcome $outcome): string => $outcome->name, $run->outcomes)));
        $this->laboratory = $laboratory;
        $leftBehind = LeftBehind::remove();
        if ($leftBehind > 0) {
            $errors->writeln("Removed {$leftBehind} directories and pools that a run had left behind when it was killed.");
        }
        $hasFailed = (new Session($run, $laboratory, $errors, $choice->json, $choice->hasNamedSubjects, $choice->hasNamedExperiments))->measure($left);
        $this->write($run, $choice, $output, $errors);

        return match (true) {
            $laboratory->isInterrupted() => 130,
            $hasFailed => Command::FAILURE,
            default => Command::SUCCESS,
        };
    }

    /** The run in the JSON file, without what is not complete in it. */
    private static function resumed(Choice $choice, Run $now): Run
    {
        $run = self::read($choice->json);
        if ($run->profile !== $now->profile || array_keys($run->subjects) !== array_keys($now->subjects) || $run->versions !== $now->versions || $run->environment !== $now->environment) {
            throw new \InvalidArgumentException("The run in {$choice->json} cannot be resumed, because its profile, subjects, versions or machine differ. Give the same options, or another file as --json.");
        }
        $run->outcomes = array_values(array_filter($run->outcomes, static fn(Outcome $outcome): bool => $outcome->isComplete));

        return $run;
    }

    private function write(Run $run, Choice $choice, OutputInterface $output, OutputInterface $errors): void
    {
        $json = $run->toJson();
        // The report is drawn from the JSON and from nothing else, so it is read back.
        $findings = new Findings(Run::fromJson($json));
        (new TerminalReport($output))->write($findings);
        // After the table, which needs no room on a disk.
        ResultFile::write($choice->json, $json);
        self::draw($findings, $choice->html, $errors);
        $output->writeln("\nThe report is in {$choice->html}, the samples in {$choice->json}.");
    }

    private static function draw(Findings $findings, string $html, OutputInterface $errors): void
    {
        $lack = Charts::install();
        if ($lack !== null) {
            $errors->writeln("<comment>{$lack}</comment>");
        }
        ResultFile::write($html, (new HtmlReport(Charts::scripts()))->render($findings));
    }

    /** @param list<string> $files */
    private function compare(InputInterface $input, OutputInterface $output, array $files): int
    {
        if (count($files) !== 2) {
            throw new \InvalidArgumentException(sprintf('Comparing takes two JSON files and %d were given: larder bench compare before.json after.json.', count($files)));
        }
        $comparison = Comparison::of(new Findings(self::read($files[0])), new Findings(self::read($files[1])), Choice::patterns($input));
        (new ComparisonReport($output))->write($comparison);
        if ($comparison->changes === []) {
            // The log of a build must say that nothing was compared.
            throw new \InvalidArgumentException('The two runs have no measurement in common that can be compared: give two runs of the same experiments, subjects and profile.');
        }

        return $comparison->with(Verdict::Loses) === [] ? Command::SUCCESS : Command::FAILURE;
    }

    /** @param list<string> $files */
    private function report(InputInterface $input, OutputInterface $output, OutputInterface $errors, array $files): int
    {
        if (count($files) !== 1) {
            throw new \InvalidArgumentException(sprintf('Drawing takes one JSON file and %d were given: larder bench report run.json.', count($files)));
        }
        $html = Choice::writable(Choice::option($input, 'html') ?? 'report.html');
        self::draw(new Findings(self::read($files[0])), $html, $errors);
        $output->writeln("The report is in {$html}.");

        return Command::SUCCESS;
    }

    private static function read(string $file): Run
    {
        $json = @file_get_contents($file);
        if ($json === false) {
            throw new \InvalidArgumentException("The file {$file} cannot be read: give a file that `larder bench --json` wrote.");
        }
        try {
            return Run::fromJson($json);
        } catch (\UnexpectedValueException $problem) {
            throw new \InvalidArgumentException("{$file}: {$problem->getMessage()}", 0, $problem);
        }
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

    private static function isIgnored(int $signal): bool
    {
        return preg_match('/^SigIgn:\s*[0-9a-f]*([0-9a-f]{8})$/m', (string) @file_get_contents('/proc/self/status'), $match) === 1
            && ((int) hexdec($match[1]) >> ($signal - 1) & 1) === 1;
    }

    /** @return list<string> what was typed, without the program's path */
    private static function arguments(): array
    {
        $arguments = $_SERVER['argv'] ?? [];

        return is_array($arguments) ? array_values(array_filter(array_slice($arguments, 1), is_string(...))) : [];
    }
}
