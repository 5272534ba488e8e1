<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Cache\Undelivered;
use Larder\Exception\StoreUnavailable;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\SignalableCommandInterface;
use Symfony\Component\Console\Cursor;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Output\StreamOutput;

#[AsCommand('top', 'Watch a store at work')]
final class TopCommand extends StoreCommand implements SignalableCommandInterface
{
    /** Looks between two counts of the groups, which cost the store more than its statistics do. */
    private const GROUPS_EVERY = 10;

    private bool $isOver = false;

    /** @return list<int> */
    public function getSubscribedSignals(): array
    {
        return \defined('SIGINT') ? [\SIGINT, \SIGTERM] : [];
    }

    public function handleSignal(int $signal, int|false $previousExitCode = 0): int|false
    {
        $this->isOver = true;

        return false;
    }

    protected function describe(): void
    {
        $this->addOption('interval', 'i', InputOption::VALUE_REQUIRED, 'Seconds between two looks', '1');
        $this->addOption('times', 't', InputOption::VALUE_REQUIRED, 'Looks, after which it ends (default: until Ctrl-C)');
        Journals::describe($this);
        $this->setHelp(<<<'HELP'
            Hit ratio, operations, memory and the biggest groups of keys (those that begin alike), live in a terminal of 80
            columns or more; of a tier, both stores side by side; one block after another where the output is no terminal. With --json, one line of JSON a look,
            which has a "failure" where the store did not answer. Of a tier it then shows the near store alone.

              <info>%command.full_name% shm:shop</info>
              <info>%command.full_name% redis://127.0.0.1 --interval=5</info>
              <info>%command.full_name% shm:shop --times=2 --json</info>
              <info>%command.full_name% redis://127.0.0.1 --journal=/var/lib/shop/store.journal</info>

            Exit codes: 0 done; 1 the store did not answer at the last look; 2 the command cannot be understood.
            HELP);
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $interval = filter_var($input->getOption('interval'), \FILTER_VALIDATE_FLOAT);
        $times = $input->getOption('times') === null ? \PHP_INT_MAX : filter_var($input->getOption('times'), \FILTER_VALIDATE_INT);
        if (!\is_float($interval) || $interval < 0.1 || $interval > 3_600 || !\is_int($times) || $times < 1) {
            return self::say($output, 'The interval is from 0.1 to 3600 seconds, and the times are 1 or more: give such numbers.', self::INVALID);
        }
        if ($output->getVerbosity() < OutputInterface::VERBOSITY_NORMAL) {
            return self::say($output, 'There is nothing to watch with --quiet: leave it out, or ask "larder stats" once.', self::INVALID);
        }
        $dsn = self::text($input->getArgument('dsn'));
        $before = $groups = null;
        $at = 0.0;
        // Hits and misses of this command: up to the present look, and up to the next.
        $counted = $own = [0, 0];
        for ($look = 0; $look < $times && !$this->isOver; $look++) {
            if ($look > 0) {
                $this->pause($interval);
            }
            $journals = Journals::of($input);
            try {
                $known = $cache->store->statistics();
                $time = microtime(true);
                $next = $known;
                if ($look % self::GROUPS_EVERY === 0) {
                    $groups = Groups::of($cache->store);
                    // What that has read is not the site's: it is in no rate, and taken off the sums.
                    $next = $cache->store->statistics();
                    $own = [$own[0] + ($groups->found ?? 0), $own[1] + ($groups->lost ?? 0)];
                }
            } catch (StoreUnavailable $failure) {
                // It may come back: that is what one watches for.
                $near = NearDetails::of($dsn, $cache->store);
                if (self::wantsJson($input)) {
                    $this->write($output, self::line(['time' => date(\DATE_ATOM), 'failure' => $failure->getMessage(), ...($near === [] ? [] : ['near' => self::near($near)]), ...($journals === [] ? [] : ['undelivered' => $journals])]));
                } else {
                    $this->show($output, [$failure->getMessage(), ...($journals === [] ? [] : ['undelivered  ' . Journals::text($journals)]), ...Printed::rows(Figures::near($near))], $look);
                }
                $before = null;
                continue;
            }
            $reading = new Reading($known, $before, $time - $at, ...$counted);
            [$before, $at, $counted] = [$next, microtime(true), $own];
            if (self::wantsJson($input)) {
                $this->write($output, self::jsonLine($reading, $groups, $journals, StoreName::isOfTier($dsn)));
            } else {
                $this->show($output, Dashboard::lines($dsn, $reading, $groups, date('H:i:s'), $journals === [] ? null : Journals::text($journals)), $look);
            }
        }

        return $before === null ? self::FAILURE : self::SUCCESS;
    }

    /** @param list<string> $lines */
    private function show(OutputInterface $output, array $lines, int $look): void
    {
        if ($output->isDecorated()) {
            $cursor = new Cursor($output);
            if ($look === 0) {
                $cursor->clearScreen();
            }
            $cursor->moveToPosition(1, 0);
            foreach ($lines as $line) {
                $output->write($line, false, OutputInterface::OUTPUT_RAW);
                $cursor->clearLineAfter();
                $output->writeln('');
            }
            $cursor->clearOutput();
        } else {
            $this->write($output, implode("\n", $lines) . "\n");
        }
    }

    /** Where no process reads it any more, as behind `head`, that was the last. */
    private function write(OutputInterface $output, string $line): void
    {
        if ($output instanceof StreamOutput) {
            $this->isOver = @fwrite($output->getStream(), "{$line}\n") === false || $this->isOver;
        } else {
            $output->writeln($line, OutputInterface::OUTPUT_RAW);
        }
    }

    /** @param array<string, ?Undelivered> $journals */
    private static function jsonLine(Reading $reading, ?Groups $groups, array $journals, bool $isOfTier): string
    {
        $line = ['time' => date(\DATE_ATOM), 'hit_ratio' => $reading->hitRatio()];
        foreach (['hits', 'misses', 'evictions', 'expired'] as $counter) {
            $line["{$counter}_per_second"] = $reading->rate($counter);
        }
        foreach (['items', 'bytes', 'capacity', 'hits', 'misses', 'evictions', 'expired'] as $figure) {
            $line[$figure] = $reading->figure($figure);
        }
        if ($isOfTier) {
            $line['near'] = self::near($reading->known->details);
            $line['near']['hit_ratio'] = $reading->hitRatio('near ');
            foreach (['hits', 'misses', 'evictions', 'expired'] as $counter) {
                $line['near']["{$counter}_per_second"] = $reading->rate("near {$counter}");
            }
        }
        if ($journals !== []) {
            $line['undelivered'] = $journals;
        }
        $line['groups'] = array_map(static fn(array $group): array => ['keys' => $group[0], 'bytes' => $group[1]], $groups->groups ?? []);

        return self::line($line);
    }

    /** @param array<string, mixed> $line */
    private static function line(array $line): string
    {
        return (string) json_encode($line, \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_PARTIAL_OUTPUT_ON_ERROR);
    }

    /**
     * @param array<mixed> $details
     *
     * @return array<string, mixed>
     */
    private static function near(array $details): array
    {
        $near = [];
        foreach ($details as $name => $value) {
            if (str_starts_with((string) $name, 'near ')) {
                $near[substr((string) $name, 5)] = $value;
            }
        }

        return $near;
    }

    /** In steps, so that a signal ends it soon. */
    private function pause(float $seconds): void
    {
        $until = microtime(true) + $seconds;
        while (!$this->isOver && ($left = $until - microtime(true)) > 0) {
            usleep((int) (1e6 * min($left, 0.1)));
        }
    }
}
