<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Key;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('delete', 'Delete keys')]
final class DeleteCommand extends StoreCommand
{
    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            Exits with 1 if none of them was there; with --json it says which were.

              <info>%command.full_name% shm:shop page:42 page:43</info>
            HELP);
        $this->addArgument('key', InputArgument::REQUIRED | InputArgument::IS_ARRAY, 'The keys');
    }

    protected function changesItems(): bool
    {
        return true;
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $keys = self::texts($input->getArgument('key'));
        array_map(Key::check(...), $keys);
        $existed = $cache->store->delete($keys);
        if (self::wantsJson($input)) {
            self::json($output, ['deleted' => $existed]);
        } else {
            $output->writeln(\sprintf('%d of %d keys were there and are deleted.', \count($existed), \count($keys)));
        }

        return $existed === [] ? self::FAILURE : self::SUCCESS;
    }
}
