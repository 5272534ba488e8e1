<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Exception;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Key;
use Larder\Log\NoLog;
use Larder\Store\RedisStore;
use Larder\Store\SqliteStore;
use Larder\Stores;
use Larder\Tier\TieredStore;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('latency', 'How long a store takes for one key')]
final class LatencyCommand extends StoreCommand
{
    private const MOST = 1_000_000;

    private const WARM_UP = 10;

    /** Seconds: longer than all the reads of one item take. */
    private const TTL = 3_600;

    /** Saves, and as many deletes, of a store that near stores follow: each is an event, and those who are far behind begin anew. */
    private const FOLLOWED = 100;

    private const COLUMNS = ['least' => 0.0, 'median' => 0.5, '90 %' => 0.9, '99 %' => 0.99, '99.9 %' => 0.999, 'most' => 1.0];

    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            Saves, reads, misses and deletes a key of its own, one call after the other, and tells how the times are distributed. It
            asks the store itself: an application's call to Larder\Cache takes as long, and less where a pool answers it.
            Near stores that follow Redis or SQLite learn of each save and delete. So where there are any, it saves and deletes
            100 times at most, and does not make them begin anew.

              <info>%command.full_name% redis://127.0.0.1</info>
              <info>%command.full_name% shm:shop --times=10000 --bytes=30000</info>
            HELP);
        $this->addOption('times', 't', InputOption::VALUE_REQUIRED, 'Calls of each kind', '1000');
        $this->addOption('bytes', 'b', InputOption::VALUE_REQUIRED, 'Bytes of the value', '1000');
    }

    protected function isAboutThisProcess(): bool
    {
        return true;
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $times = filter_var($input->getOption('times'), \FILTER_VALIDATE_INT, ['options' => ['min_range' => 1, 'max_range' => self::MOST]]);
        $bytes = filter_var($input->getOption('bytes'), \FILTER_VALIDATE_INT, ['options' => ['min_range' => 0, 'max_range' => 64 << 20]]);
        if (!\is_int($times) || !\is_int($bytes)) {
            return self::say($output, 'The times are from 1 to 1,000,000, and the bytes from 0 to 67,108,864: give such numbers.', self::INVALID);
        }
        $store = $cache->store;
        $key = Key::internal('latency', bin2hex(random_bytes(8)));
        $absent = Key::internal('latency', bin2hex(random_bytes(8)));
        $writes = self::isFollowed(self::text($input->getArgument('dsn'))) ? min($times, self::FOLLOWED) : $times;
        $value = $bytes === 0 ? '' : random_bytes($bytes);
        $calls = [
            'save' => static fn(): bool => $store->save([new Item($key, $value, self::TTL)]) === [],
            'read' => static fn(): bool => isset($store->fetch([$key])->items[$key]),
            'miss' => static fn(): bool => $store->fetch([$absent])->items === [],
            'delete' => static fn(): bool => $store->delete([$key]) !== [],
        ];
        $taken = array_fill_keys(array_keys($calls), []);
        try {
            for ($i = -self::WARM_UP; $i < $times; $i++) {
                foreach ($calls as $name => $call) {
                    // The last item is deleted behind its last read.
                    if ($name === 'save' && $i >= $writes || $name === 'delete' && $i >= $writes - 1 && $i < $times - 1) {
                        continue;
                    }
                    $began = hrtime(true);
                    $isDone = $call();
                    $time = hrtime(true) - $began;
                    if (!$isDone) {
                        return self::say($output, 'The store did not keep what it was given: it is full, or two of its servers answer in turn.', self::FAILURE);
                    }
                    if ($i >= 0) {
                        $taken[$name][] = $time / 1e3;
                    }
                }
            }
        } finally {
            try {
                $store->delete([$key]);
            } catch (StoreUnavailable) {
                // It ends by itself.
            }
        }
        $this->tell($taken, $times, $writes, $bytes, $input, $output);

        return self::SUCCESS;
    }

    /**
     * Whether near stores learn of each change from a log. A namespace has that of its store.
     *
     * @throws Exception
     */
    private static function isFollowed(string $dsn): bool
    {
        $store = Stores::open($dsn);

        return match (true) {
            $store instanceof TieredStore => !$store->log instanceof NoLog,
            $store instanceof RedisStore, $store instanceof SqliteStore => $store->log()->isFollowed(),
            default => false,
        };
    }

    /** @param array<string, list<float>> $taken microseconds, by kind of call */
    private function tell(array $taken, int $times, int $writes, int $bytes, InputInterface $input, OutputInterface $output): void
    {
        $rows = [];
        foreach ($taken as $name => $all) {
            sort($all);
            $rows[$name] = array_map(static fn(float $share): float => round($all[(int) round($share * (\count($all) - 1))], 2), self::COLUMNS);
        }
        if (self::wantsJson($input)) {
            self::json($output, ['times' => $times, 'writes' => $writes, 'bytes' => $bytes, 'microseconds' => $rows]);

            return;
        }
        $output->writeln(\sprintf('µs, of %s calls each, with a value of %s', Printed::count($times), Printed::bytes($bytes)), OutputInterface::OUTPUT_RAW);
        if ($writes < $times) {
            $output->writeln(\sprintf('but of %s saves and deletes, as near stores follow the store', Printed::count($writes)), OutputInterface::OUTPUT_RAW);
        }
        $output->writeln(\sprintf('%-6s', '') . implode('', array_map(static fn(string $column): string => \sprintf('%11s', $column), array_keys(self::COLUMNS))), OutputInterface::OUTPUT_RAW);
        foreach ($rows as $name => $row) {
            $output->writeln(\sprintf('%-6s', $name) . implode('', array_map(static fn(float $time): string => \sprintf('%11s', number_format($time, $time < 100 ? 2 : 0)), $row)), OutputInterface::OUTPUT_RAW);
        }
    }
}
