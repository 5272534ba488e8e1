<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Item;
use Larder\Key;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('largest', 'List the largest items')]
final class LargestCommand extends StoreCommand
{
    private const AT_ONCE = 50;

    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            Reads every item, and tells the bytes of its key and serialised value; what it takes up in the store may be more or less.

              <info>%command.full_name% shm:shop</info>
              <info>%command.full_name% redis://127.0.0.1 page: --limit=5</info>
            HELP);
        $this->addArgument('prefix', InputArgument::OPTIONAL, 'How their keys begin', '');
        $this->addOption('limit', null, InputOption::VALUE_REQUIRED, 'At most so many', '20');
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $limit = filter_var($input->getOption('limit'), \FILTER_VALIDATE_INT, ['options' => ['min_range' => 1, 'max_range' => 100_000]]);
        if (!\is_int($limit)) {
            return self::say($output, 'The limit is no number from 1 to 100,000: give one.', self::INVALID);
        }
        /** @var \SplMinHeap<array{int, string, string}> $largest bytes, key and type of the value */
        $largest = new \SplMinHeap();
        $seen = $bytes = 0;
        foreach (self::items($cache, self::text($input->getArgument('prefix'))) as $item) {
            $size = self::size($item);
            $seen++;
            $bytes += $size;
            $largest->insert([$size, $item->key, get_debug_type($item->value)]);
            if ($largest->count() > $limit) {
                $largest->extract();
            }
        }
        $rows = array_reverse(iterator_to_array($largest, false));
        if (self::wantsJson($input)) {
            self::json($output, ['items' => $seen, 'bytes' => $bytes, 'largest' => array_map(static fn(array $row): array => ['key' => $row[1], 'bytes' => $row[0], 'type' => $row[2]], $rows)]);

            return self::SUCCESS;
        }
        foreach ($rows as [$size, $key, $type]) {
            $output->writeln(\sprintf('%10s  %-8s  %s', Printed::bytes($size), $type, Printed::key($key)), OutputInterface::OUTPUT_RAW);
        }
        $output->writeln(\sprintf('%10s  in all %s items', Printed::bytes($bytes), Printed::count($seen)), OutputInterface::OUTPUT_RAW);

        return self::SUCCESS;
    }

    /** @return iterable<int, Item> */
    private static function items(Cache $cache, string $prefix): iterable
    {
        $keys = [];
        foreach ($cache->store->keys($prefix) as $key) {
            if (Key::isInternal($key)) {
                continue;
            }
            $keys[] = $key;
            if (\count($keys) === self::AT_ONCE) {
                yield from array_values($cache->store->fetch($keys)->items);
                $keys = [];
            }
        }
        yield from $keys === [] ? [] : array_values($cache->store->fetch($keys)->items);
    }

    private static function size(Item $item): int
    {
        return \strlen($item->key) + (\is_string($item->value) ? \strlen($item->value) : \strlen(serialize($item->value)));
    }
}
