<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Capability;
use Larder\Key;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Helper\QuestionHelper;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Question\ConfirmationQuestion;

#[AsCommand('flush', 'Delete everything in the store, or in a namespace of it')]
final class FlushCommand extends StoreCommand
{
    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            Asks first, unless --force is given. What others keep in the same place, under another prefix, is not touched.

              <info>%command.full_name% shm:shop</info>
              <info>%command.full_name% redis://127.0.0.1 --namespace=menus --force</info>
            HELP);
        $this->addOption('force', 'f', InputOption::VALUE_NONE, 'Do not ask');
    }

    protected function changesItems(): bool
    {
        return true;
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        if ($input->getOption('force') !== true) {
            if (!$input->isInteractive()) {
                return self::say($output, 'Nothing was deleted: give --force where there is no terminal to ask for a confirmation.', self::INVALID);
            }
            $question = new ConfirmationQuestion('Delete everything in it? [y/N] ', false);
            if ((new QuestionHelper())->ask($input, $output, $question) !== true) {
                return self::say($output, 'Nothing was deleted.', self::FAILURE);
            }
        }
        $namespace = $input->getOption('namespace');
        $isEmpty = \is_string($namespace) && \in_array(Capability::Keys, $cache->store->capabilities(), true) && self::isEmpty($cache);
        $cache->clear();
        if ($isEmpty) {
            self::wantsJson($input) && self::json($output, ['flushed' => false]);

            return self::say($output, "There was nothing in the namespace \"{$namespace}\".", self::FAILURE);
        }
        if (self::wantsJson($input)) {
            self::json($output, ['flushed' => true]);
        } else {
            $output->writeln('Everything is deleted.');
        }

        return self::SUCCESS;
    }

    private static function isEmpty(Cache $cache): bool
    {
        foreach ($cache->store->keys() as $key) {
            if (!Key::isInternal($key)) {
                return false;
            }
        }

        return true;
    }
}
