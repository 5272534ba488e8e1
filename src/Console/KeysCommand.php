<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Key;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('keys', 'List the keys')]
final class KeysCommand extends StoreCommand
{
    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            One a line; bytes that a terminal would act on are escaped. What the cache keeps for itself is not listed.

              <info>%command.full_name% shm:shop</info>
              <info>%command.full_name% redis://127.0.0.1 page: --limit=20</info>
            HELP);
        $this->addArgument('prefix', InputArgument::OPTIONAL, 'How they begin', '');
        $this->addOption('limit', null, InputOption::VALUE_REQUIRED, 'At most so many', '1000');
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $limit = filter_var($input->getOption('limit'), \FILTER_VALIDATE_INT);
        if (!\is_int($limit) || $limit < 1) {
            return self::say($output, 'The limit is no number above 0: give one.', self::INVALID);
        }
        $keys = [];
        $isAll = true;
        foreach ($cache->store->keys(self::text($input->getArgument('prefix'))) as $key) {
            if (Key::isInternal($key)) {
                continue;
            }
            if (\count($keys) === $limit) {
                $isAll = false;
                break;
            }
            $keys[] = $key;
        }
        if (self::wantsJson($input)) {
            self::json($output, ['keys' => $keys, 'complete' => $isAll]);

            return self::SUCCESS;
        }
        $output->writeln(array_map(Printed::key(...), $keys), OutputInterface::OUTPUT_RAW);
        if (!$isAll) {
            self::say($output, "There are more than {$limit}: raise --limit to see them.", self::SUCCESS);
        }

        return self::SUCCESS;
    }
}
