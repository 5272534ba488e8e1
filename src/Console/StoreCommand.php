<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Dsn;
use Larder\Exception;
use Larder\Store\SharedMemory\PoolFiles;
use Larder\Store\SharedMemoryStore;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Completion\CompletionInput;
use Symfony\Component\Console\Completion\CompletionSuggestions;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

/** A command about one store, which its first argument names by a DSN. */
abstract class StoreCommand extends Command
{
    private const EXIT_CODES = <<<'TEXT'


        Exit codes: 0 done; 1 what was asked for is not there, or the store failed; 2 the command cannot be understood.
        TEXT;

    /** Adds the command's own arguments and options. */
    abstract protected function describe(): void;

    /**
     * @return int the exit code
     *
     * @throws Exception
     */
    abstract protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int;

    /**
     * Asked before the store is opened, so that a command that is refused makes nothing.
     *
     * @return ?string what is wrong with the arguments, in a sentence; null: nothing
     *
     * @throws Exception
     */
    protected function mistake(InputInterface $input): ?string
    {
        return null;
    }

    /** Whether what the command does has to reach those who have a near store in front of this one. */
    protected function changesItems(): bool
    {
        return false;
    }

    /** Whether it makes what the DSN names where that is not there yet. */
    protected function makesItsPlace(): bool
    {
        return false;
    }

    /** Whether it makes sense with a store that ends with this process. */
    protected function isAboutThisProcess(): bool
    {
        return false;
    }

    final protected function configure(): void
    {
        $this->addArgument('dsn', InputArgument::REQUIRED, 'The store, such as "shm:shop", "sqlite:/var/cache/site.db" or "redis://127.0.0.1"');
        $this->addOption('namespace', null, InputOption::VALUE_REQUIRED, 'Only this namespace of the store');
        $this->addOption('json', null, InputOption::VALUE_NONE, 'Answer in JSON');
        $this->describe();
        $this->setHelp(trim($this->getHelp()) . self::EXIT_CODES);
    }

    public function complete(CompletionInput $input, CompletionSuggestions $suggestions): void
    {
        if ($input->mustSuggestArgumentValuesFor('dsn')) {
            $suggestions->suggestValues(StoreName::examples());
        }
    }

    final protected function execute(InputInterface $input, OutputInterface $output): int
    {
        try {
            $dsn = self::text($input->getArgument('dsn'));
            $absent = $this->isAboutThisProcess() ? null : Presence::beyondReach(Dsn::parse($dsn));
            $absent ??= $this->makesItsPlace() ? null : Presence::complaint(Dsn::parse($dsn));
            if ($absent !== null) {
                return self::say($output, $absent, self::FAILURE);
            }
            $mistake = $this->mistake($input);
            if ($mistake !== null) {
                return self::say($output, $mistake, self::INVALID);
            }
            $this->warnOfOthers($dsn, $output);
            $cache = Cache::open($dsn, strict: true);
            $namespace = $input->getOption('namespace');

            return $this->serve(\is_string($namespace) ? $cache->namespace($namespace) : $cache, $input, $output);
        } catch (Exception $failure) {
            return Complaint::of($output, $failure);
        }
    }

    /** Changes in this user's pool do not reach another user's, which a site may be using under the same name. */
    private function warnOfOthers(string $dsn, OutputInterface $output): void
    {
        $parsed = Dsn::parse($dsn);
        if (!$this->changesItems() || $parsed->scheme !== 'shm' || $parsed->far !== null) {
            return;
        }
        $name = SharedMemoryStore::poolOf($parsed);
        foreach ((new PoolFiles())->owners($name) as $owner) {
            self::say($output, ucfirst($owner) . " has a pool \"{$name}\" too, which this does not reach: run it as that user for that one.", self::SUCCESS);
        }
    }

    /** Says on the standard error why nothing came of it, with --quiet, too. */
    final protected static function say(OutputInterface $output, string $message, int $code): int
    {
        return Complaint::say($output, $message, $code);
    }

    final protected static function wantsJson(InputInterface $input): bool
    {
        return $input->getOption('json') === true;
    }

    /** @param array<mixed> $answer */
    final protected static function json(OutputInterface $output, array $answer): void
    {
        $output->writeln(Printed::json($answer), OutputInterface::OUTPUT_RAW);
    }

    final protected static function text(mixed $value): string
    {
        return \is_string($value) ? $value : '';
    }

    /** @return list<string> */
    final protected static function texts(mixed $values): array
    {
        return array_values(array_filter(\is_array($values) ? $values : [], is_string(...)));
    }
}
