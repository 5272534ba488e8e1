<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('prune', 'Remove what is dead but still takes up room')]
final class PruneCommand extends StoreCommand
{
    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            Stores remove it by themselves sooner or later; this is for a nightly job.

              <info>%command.full_name% sqlite:/var/cache/site.db</info>
            HELP);

    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $removed = 0;
        while (($step = $cache->store->prune()) > 0) {
            $removed += $step;
        }
        if (self::wantsJson($input)) {
            self::json($output, ['removed' => $removed]);
        } else {
            $output->writeln(\sprintf('%s items were removed.', Printed::count($removed)));
        }

        return self::SUCCESS;
    }
}
