<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Statistics\Interval;
use Larder\Bench\Subject\Operation;

/** What single reads and writes of shared memory may cost. */
final readonly class EnginePromises
{
    private const OURS = 'shared-memory';
    private const ARRAYS = ['list' => 'a list of 1,000 integers', 'map' => 'a map of 100 strings', 'alloptions' => 'the 100 KB array of options', 'product' => 'a nested product'];
    private const ARRAYS_IN_PLACE = [...self::ARRAYS, 'list-100k' => 'a list of 100,000 integers'];
    private const VALUES = [...self::ARRAYS, 'string-20' => 'a string of 20 bytes', 'string-1k' => 'a string of 1 KiB', 'post' => 'a stdClass object', 'entity' => 'an object of a class'];
    private const SERVERS = [
        ['redis-tcp', 'Redis over TCP', 150], ['valkey-tcp', 'Valkey over TCP', 150], ['memcached-tcp', 'Memcached over TCP', 75],
        ['memcached-unix', 'Memcached over a Unix socket', 75], ['file-disk', 'file_get_contents on disk', 30], ['file-tmpfs', 'file_get_contents on tmpfs', 30],
    ];

    private function __construct(private Findings $findings) {}

    /** @return array<string, list<Promise>> by the experiment that shows them */
    public static function of(Findings $findings): array
    {
        $promises = new self($findings);

        return ['gets' => [...$promises->reads(), ...$promises->arrays(), ...$promises->writes(), ...$promises->pages(), $promises->harness()]];
    }

    /** @return list<Promise> */
    private function reads(): array
    {
        return [
            $this->apcu('get of the 100 KB array of options', 'alloptions', Operation::Get, 1 / 500),
            $this->apcu('get of the array of options and look-up of one', 'alloptions', Operation::LookUp, 1 / 300),
            $this->apcu('get of a string of 20 bytes', 'string-20', Operation::Get, 0.4),
            $this->apcu('get of a stdClass object of 20 properties', 'post', Operation::Get, 0.12),
            $this->apcu('get of an object of a class with 20 properties', 'entity', Operation::Get, 0.12),
        ];
    }

    /** @return list<Promise> */
    private function arrays(): array
    {
        $promises = [];
        foreach (self::ARRAYS_IN_PLACE as $value => $title) {
            $promises[] = Promise::atMost("get of {$title} against ArrayObject::offsetGet", 'time, ours over theirs', $this->ratio($value, Operation::Get, self::OURS, 'array-object'), 0.8);
        }
        foreach (self::ARRAYS_IN_PLACE as $value => $title) {
            $promises[] = Promise::atMost("get of {$title} with 100 tags against ArrayObject::offsetGet", 'time, ours over theirs', $this->ratio($value, Operation::Get, 'shared-memory-tags', 'array-object'), 1.0);
        }

        return $promises;
    }

    /** @return list<Promise> */
    private function writes(): array
    {
        return array_map(
            fn(string $value, string $title): Promise => $this->apcu("set of {$title}", $value, Operation::Set, 1.0),
            array_keys(self::VALUES),
            array_values(self::VALUES),
        );
    }

    /** @return list<Promise> */
    private function pages(): array
    {
        $promises = [];
        foreach (self::SERVERS as [$subject, $title, $bound]) {
            // A machine has one of the two that speak Redis's protocol, or both.
            if (str_starts_with($subject, 'valkey') && $this->ratio('page', Operation::Get, $subject, self::OURS) === null) {
                continue;
            }
            $promises[] = Promise::atLeast("gets of the page of 30 KB against {$title}", 'time, theirs over ours', $this->ratio('page', Operation::Get, $subject, self::OURS), $bound);
        }

        return $promises;
    }

    private function harness(): Promise
    {
        $empty = $this->findings->measurement('gets', 'time', self::case('string-20', Operation::Get), 'none');

        return Promise::atMost('the loop that everything is timed in, before it is subtracted', 'ns per operation', $empty === null ? null : $this->findings->median('gets', $empty), 10);
    }

    private function apcu(string $title, string $value, Operation $operation, float $bound): Promise
    {
        $apcu = $this->findings->fastest('gets', self::case($value, $operation), 'apcu-');

        return Promise::atMost(
            $title . ' against ' . ($apcu === null ? 'APCu' : $this->findings->run->title($apcu)),
            'time, ours over theirs',
            $apcu === null ? null : $this->ratio($value, $operation, self::OURS, $apcu),
            $bound,
        );
    }

    private function ratio(string $value, Operation $operation, string $above, string $below): ?Interval
    {
        return $this->findings->ratio('gets', 'time', self::case($value, $operation), $above, $below);
    }

    /** @return array<string, string> */
    private static function case(string $value, Operation $operation): array
    {
        return ['value' => $value, 'operation' => $operation->value, 'keys' => 'one hot key'];
    }
}
