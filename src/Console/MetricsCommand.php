<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache\Undelivered;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
use Larder\Store;
use Larder\Stores;
use Larder\Tier\TieredStore;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Completion\CompletionInput;
use Symfony\Component\Console\Completion\CompletionSuggestions;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** OpenMetrics 1.0, as Prometheus and others read it. */
#[AsCommand('metrics', 'Print the figures of stores as OpenMetrics')]
final class MetricsCommand extends Command
{
    /** @var array<string, array{string, string, string, string}> name, type, unit and help of each metric, by the property it comes from */
    private const STORES = [
        'up' => ['larder_up', 'gauge', '', 'Whether the store answered.'],
        'items' => ['larder_items', 'gauge', '', 'Items in the store.'],
        'bytes' => ['larder_used_bytes', 'gauge', 'bytes', 'Bytes in use.'],
        'capacity' => ['larder_capacity_bytes', 'gauge', 'bytes', 'Bytes at most.'],
        'hits' => ['larder_hits', 'counter', '', 'Look-ups that found something.'],
        'misses' => ['larder_misses', 'counter', '', 'Look-ups that found nothing.'],
        'evictions' => ['larder_evictions', 'counter', '', 'Items removed to make room.'],
        'expired' => ['larder_expired', 'counter', '', 'Items removed because their time was over.'],
    ];

    /** @var array<string, array{string, string, string, string}> of the near store of a tier, by the detail it comes from */
    private const NEAR = [
        'near items' => ['larder_near_items', 'gauge', '', 'Items in the near store.'],
        'near bytes' => ['larder_near_used_bytes', 'gauge', 'bytes', 'Bytes in use by the near store.'],
        'near capacity' => ['larder_near_capacity_bytes', 'gauge', 'bytes', 'Bytes that the near store has at most.'],
        'near hits' => ['larder_near_hits', 'counter', '', 'Look-ups that the near store answered.'],
        'near misses' => ['larder_near_misses', 'counter', '', 'Look-ups that the near store could not answer.'],
        'near evictions' => ['larder_near_evictions', 'counter', '', 'Items that the near store removed to make room.'],
        'near lag' => ['larder_near_lag_events', 'gauge', '', 'Events of the log that the near store has to follow.'],
        'near events' => ['larder_near_events', 'counter', '', 'Events of the log that the near store has applied.'],
        'near beginnings' => ['larder_near_beginnings', 'counter', '', 'How often the near store has begun anew.'],
        'near bypasses' => ['larder_near_bypasses', 'counter', '', 'Requests that left the near store aside.'],
    ];

    /** @var array<string, array{string, string, string, string}> */
    private const JOURNALS = [
        'flag' => ['larder_health_flag', 'gauge', '', 'Whether the store has missed something, or the journal cannot be read.'],
        'keys' => ['larder_undelivered_keys', 'gauge', '', 'Keys that were deleted or overwritten without the store learning of it.'],
        'tags' => ['larder_undelivered_tags', 'gauge', '', 'Tags that were invalidated without the store learning of it.'],
        'clears' => ['larder_undelivered_clear', 'gauge', '', 'Whether everything was cleared without the store learning of it.'],
    ];

    protected function configure(): void
    {
        $this->addArgument('dsn', InputArgument::REQUIRED | InputArgument::IS_ARRAY, 'The stores');
        Journals::describe($this);
        $this->setHelp(<<<'HELP'
            One family of metrics for each figure, labelled with the store's DSN. Of its options, the label has the prefix,
            database and service. Where two labels would be the same, it has the user as well, or a number, and never a
            password. A store that does not answer, or is not there yet, has larder_up 0 and nothing else. A tier has the
            figures of both its stores, and those of the near one also while the far one does not answer. With --journal, what the caches' stores have missed, labelled with the journal's path.

              <info>%command.full_name% shm:shop sqlite:/var/cache/site.db > /var/lib/node_exporter/larder.prom</info>
              <info>%command.full_name% redis://127.0.0.1 --journal=/var/lib/shop/store.journal</info>

            Exit codes: 0 done; 1 a store did not answer; 2 the command cannot be understood.
            HELP);
    }

    public function complete(CompletionInput $input, CompletionSuggestions $suggestions): void
    {
        $suggestions->suggestValues(StoreName::examples());
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $dsns = $input->getArgument('dsn');
        $stores = [];
        try {
            $journals = Journals::of($input);
            foreach (StoreName::labels(array_values(array_filter(\is_array($dsns) ? $dsns : [], is_string(...)))) as $label => $dsn) {
                $stores[$label] = self::opened($dsn);
            }
        } catch (Exception $failure) {
            return Complaint::of($output, $failure);
        }
        $samples = ['up' => []];
        foreach ($stores as $label => $store) {
            try {
                $known = $store?->statistics() ?? throw new StoreUnavailable('It is not there.');
                $samples['up'][$label] = 1;
            } catch (StoreUnavailable) {
                $samples['up'][$label] = 0;
                $near = $store === null ? [] : NearDetails::of($label, $store);
                foreach ($near === [] ? [] : array_keys(self::NEAR) as $detail) {
                    $samples[$detail][$label] = $near[$detail] ?? null;
                }
                continue;
            }
            foreach (array_keys(self::STORES) as $property) {
                $samples[$property][$label] ??= get_object_vars($known)[$property] ?? null;
            }
            foreach ($store instanceof TieredStore && StoreName::isOfTier($label) ? array_keys(self::NEAR) : [] as $detail) {
                $samples[$detail][$label] = $known->details[$detail] ?? null;
            }
        }
        $output->write(self::exposition([...self::STORES, ...self::NEAR], $samples, 'store') . self::exposition(self::JOURNALS, self::held($journals), 'journal') . "# EOF\n", false, OutputInterface::OUTPUT_RAW);

        return \in_array(0, $samples['up'], true) ? self::FAILURE : self::SUCCESS;
    }

    /**
     * @return ?Store null: it is not there, or cannot be opened now
     *
     * @throws Exception
     */
    private static function opened(string $dsn): ?Store
    {
        try {
            return Presence::complaint(Dsn::parse($dsn)) === null ? Stores::open($dsn) : null;
        } catch (PoolUnusable) {
            return null;
        }
    }

    /**
     * @param array<string, ?Undelivered> $journals
     *
     * @return array<string, array<string, int>> by metric and path
     */
    private static function held(array $journals): array
    {
        $samples = [];
        foreach ($journals as $path => $held) {
            $samples['flag'][$path] = $held === null || !$held->isNothing() ? 1 : 0;
            foreach ($held === null ? [] : ['keys' => $held->keys, 'tags' => $held->tags, 'clears' => (int) $held->clears] as $name => $value) {
                $samples[$name][$path] = $value;
            }
        }

        return $samples;
    }

    /**
     * @param array<string, array{string, string, string, string}> $metrics
     * @param array<string, array<string, mixed>>                  $samples by metric and label
     */
    private static function exposition(array $metrics, array $samples, string $label): string
    {
        $text = '';
        foreach ($metrics as $property => [$name, $type, $unit, $help]) {
            $lines = '';
            foreach ($samples[$property] ?? [] as $of => $value) {
                if (\is_int($value)) {
                    $lines .= \sprintf("%s%s{%s=\"%s\"} %d\n", $name, $type === 'counter' ? '_total' : '', $label, addcslashes($of, "\\\"\n"), $value);
                }
            }
            if ($lines !== '') {
                $text .= "# TYPE {$name} {$type}\n" . ($unit === '' ? '' : "# UNIT {$name} {$unit}\n") . "# HELP {$name} {$help}\n{$lines}";
            }
        }

        return $text;
    }
}
