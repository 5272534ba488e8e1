<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Exception\InvalidTrace;
use Larder\Item;
use Larder\Trace\TraceFile;
use Larder\Trace\Verb;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('trace', 'Replay a recorded trace on a store')]
final class TraceCommand extends StoreCommand
{
    protected function describe(): void
    {
        $this->addArgument('trace', InputArgument::REQUIRED, 'A file that Larder\Trace\RecordingStore has written');
        $this->addOption('integers', null, InputOption::VALUE_NONE, 'The file is a row of little-endian 32-bit integers, each a read of an item of one byte');
        $this->setHelp(<<<'HELP'
            Reads what the trace reads, and stores what is missing, in the size that the trace says, under keys of its own
            ("trace:…"), which are deleted in the end. Tells how much was found, and how long it took.

              <info>%command.full_name% "shm:try?size=16M" /var/lib/shop/site.trace</info>
            HELP);
    }

    protected function makesItsPlace(): bool
    {
        return true;
    }

    protected function isAboutThisProcess(): bool
    {
        return true;
    }

    protected function mistake(InputInterface $input): ?string
    {
        self::trace($input);

        return null;
    }

    /** @throws InvalidTrace */
    private static function trace(InputInterface $input): TraceFile
    {
        return TraceFile::open(self::text($input->getArgument('trace')), $input->getOption('integers') === true);
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $trace = self::trace($input);
        $store = $cache->store;
        $sizes = [];
        $reads = $hits = $writes = $refused = 0;
        $busy = 0;
        foreach ($trace->accesses() as $access) {
            $key = "trace:{$access->key}";
            $sizes[$key] = max($access->bytes, $sizes[$key] ?? 1);
            $began = hrtime(true);
            if ($access->verb === Verb::Delete) {
                $store->delete([$key]);
            } else {
                $isThere = $access->verb === Verb::Read && $store->fetch([$key])->items !== [];
                $reads += $access->verb === Verb::Read ? 1 : 0;
                $hits += $isThere ? 1 : 0;
                if (!$isThere) {
                    $writes++;
                    $refused += $store->save([new Item($key, str_repeat('x', $sizes[$key]))]) === [] ? 0 : 1;
                }
            }
            $busy += hrtime(true) - $began;
        }
        foreach (array_chunk(array_keys($sizes), 1_000) as $keys) {
            $store->delete($keys);
        }
        $ratio = $reads === 0 ? null : round($hits / $reads, 6);
        $micro = $reads + $writes === 0 ? null : round($busy / 1e3 / ($reads + $writes), 3);
        if (self::wantsJson($input)) {
            self::json($output, ['reads' => $reads, 'hits' => $hits, 'hit_ratio' => $ratio, 'writes' => $writes, 'refused' => $refused, 'microseconds' => $micro]);

            return self::SUCCESS;
        }
        $output->writeln([
            \sprintf('reads    %s, of which %s hit', Printed::count($reads), Printed::share($hits, $reads)),
            \sprintf('writes   %s, of which %s refused', Printed::count($writes), Printed::share($refused, $writes)),
            \sprintf('time     %s µs for each on average', $micro ?? '–'),
        ], OutputInterface::OUTPUT_RAW);

        return self::SUCCESS;
    }
}
