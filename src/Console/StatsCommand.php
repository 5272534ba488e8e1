<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('stats', 'What a store knows about itself')]
final class StatsCommand extends StoreCommand
{
    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            A dash stands for what the store cannot tell. Of what a server says of itself, the useful part; all of it with --json.
            Of a tier whose far store does not answer, what the near one knows.

              <info>%command.full_name% shm:shop</info>
              <info>%command.full_name% redis://127.0.0.1 --json</info>
              <info>%command.full_name% redis://127.0.0.1 --journal=/var/lib/shop/store.journal</info>
            HELP);
        Journals::describe($this);
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $journals = Journals::of($input);
        try {
            $known = $cache->store->statistics();
        } catch (StoreUnavailable $failure) {
            // Its missed changes are asked for just then, and so are the items in this host's memory.
            $near = NearDetails::of(self::text($input->getArgument('dsn')), $cache->store);
            $answer = ($near === [] ? [] : ['details' => $near]) + ($journals === [] ? [] : ['undelivered' => $journals]);
            if ($answer !== [] && self::wantsJson($input)) {
                self::json($output, $answer);
            } elseif (!self::wantsJson($input)) {
                $output->writeln([...$journals === [] ? [] : ['undelivered  ' . Journals::text($journals)], ...Printed::rows(Figures::near($near))], OutputInterface::OUTPUT_RAW);
            }

            throw $failure;
        }
        $lookups = $known->hits === null || $known->misses === null ? null : $known->hits + $known->misses;
        if (self::wantsJson($input)) {
            self::json($output, get_object_vars($known) + ($journals === [] ? [] : ['undelivered' => $journals]));

            return self::SUCCESS;
        }
        $rows = [
            'items' => Printed::count($known->items),
            'memory' => Printed::bytes($known->bytes) . ($known->capacity === null ? '' : ' of ' . Printed::bytes($known->capacity)),
            'hits' => Printed::count($known->hits) . ' (' . Printed::share($known->hits, $lookups) . ')',
            'misses' => Printed::count($known->misses),
            'evictions' => Printed::count($known->evictions),
            'expired' => Printed::count($known->expired),
        ];
        if ($journals !== []) {
            $rows['undelivered'] = Journals::text($journals);
        }
        $output->writeln(Printed::rows($rows + Figures::rows($known->details)), OutputInterface::OUTPUT_RAW);

        return self::SUCCESS;
    }
}
