<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('stats', 'What a store knows about itself')]
final class StatsCommand extends StoreCommand
{
    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            A dash stands for what the store cannot tell.

              <info>%command.full_name% shm:shop</info>
              <info>%command.full_name% redis://127.0.0.1 --json</info>
            HELP);

    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $known = $cache->store->statistics();
        $lookups = $known->hits === null || $known->misses === null ? null : $known->hits + $known->misses;
        if (self::wantsJson($input)) {
            self::json($output, get_object_vars($known));

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
        foreach ($known->details as $name => $value) {
            $rows[$name] ??= \is_scalar($value) ? (string) $value : (string) json_encode($value);
        }
        $width = max(array_map(mb_strwidth(...), array_map(strval(...), array_keys($rows))));
        foreach ($rows as $name => $value) {
            $output->writeln(str_pad((string) $name, $width) . "  {$value}", OutputInterface::OUTPUT_RAW);
        }

        return self::SUCCESS;
    }
}
