<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('get', 'Print the value of a key')]
final class GetCommand extends StoreCommand
{
    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            A string is printed as it is, anything else in a form that shows what it is. With --about, what is known about the
            item besides.

              <info>%command.full_name% shm:shop page:42</info>
              <info>%command.full_name% redis://127.0.0.1 page:42 --about --json</info>
            HELP);
        $this->addArgument('key', InputArgument::REQUIRED, 'The key');
        $this->addOption('about', null, InputOption::VALUE_NONE, 'Print when it expires and which tags it carries');
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $key = self::text($input->getArgument('key'));
        $fetched = $cache->fetch([$key]);
        if ($fetched->failure !== null) {
            throw $fetched->failure;
        }
        $item = $fetched->items[$key] ?? null;
        if ($item === null) {
            if (self::wantsJson($input)) {
                self::json($output, ['key' => $key, 'found' => false]);
            }

            return self::say($output, 'There is no such key: ' . Printed::key($key), self::FAILURE);
        }
        $about = ['type' => get_debug_type($item->value), 'expires' => $item->expiry === null ? null : gmdate('Y-m-d\TH:i:s\Z', $item->expiry), 'tags' => $item->tags];
        if (self::wantsJson($input)) {
            self::json($output, ['key' => $key, 'found' => true, ...$about, 'value' => $item->value]);

            return self::SUCCESS;
        }
        $output->writeln(Printed::value($item->value), OutputInterface::OUTPUT_RAW);
        if ($input->getOption('about') === true) {
            $output->writeln(['', "type     {$about['type']}", 'expires  ' . ($about['expires'] ?? 'never'), 'tags     ' . implode(' ', array_map(Printed::key(...), $item->tags))], OutputInterface::OUTPUT_RAW);
        }

        return self::SUCCESS;
    }
}
