<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('tags', 'Invalidate tags')]
final class TagsCommand extends StoreCommand
{
    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            Kills every item that carries one of them, in a time that does not depend on how many there are. With --stale, what it
            kills may still be served for so many seconds while it is computed anew.

              <info>%command.full_name% shm:shop product:7 category:3</info>
              <info>%command.full_name% redis://127.0.0.1 menu --stale=10</info>
            HELP);
        $this->addArgument('tag', InputArgument::REQUIRED | InputArgument::IS_ARRAY, 'The tags');
        $this->addOption('stale', null, InputOption::VALUE_REQUIRED, 'Seconds in which what dies may still be served', '0');
    }

    protected function changesItems(): bool
    {
        return true;
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $stale = filter_var($input->getOption('stale'), \FILTER_VALIDATE_INT);
        if (!\is_int($stale)) {
            return self::say($output, 'The option --stale is no number of seconds: give one.', self::INVALID);
        }
        $tags = self::texts($input->getArgument('tag'));
        $cache->invalidateTags($tags, $stale);
        if (self::wantsJson($input)) {
            self::json($output, ['invalidated' => $tags]);
        } else {
            $output->writeln(\sprintf('%d %s invalidated.', \count($tags), \count($tags) === 1 ? 'tag is' : 'tags are'));
        }

        return self::SUCCESS;
    }
}
