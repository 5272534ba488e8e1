<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Statistics\Interval;
use Larder\Bench\Subject\Operation;

/**
 * The promises that Larder makes, computed from a run.
 *
 * Each is a ratio within one run. APCu is the one with the serialiser that was fastest for that very value and
 * operation. A promise whose subjects were not measured is neither met nor missed.
 */
final class Promises
{
    private const OURS = 'shared-memory';

    /** @return list<Promise> */
    public static function of(Findings $findings): array
    {
        return [
            ...self::againstApcu($findings),
            ...self::againstServers($findings),
            self::items($findings),
            self::trace($findings),
            ...self::web($findings),
        ];
    }

    /** @return list<Promise> */
    private static function againstApcu(Findings $findings): array
    {
        $promises = [
            self::apcu($findings, 'get of the 100 KB array of options', 'alloptions', Operation::Get, 1 / 500),
            Promise::atMost(
                'get of the 100 KB array of options against ArrayObject::offsetGet',
                'time, ours over theirs',
                self::ratio($findings, 'alloptions', Operation::Get, self::OURS, 'array-object'),
                1.0,
            ),
            self::apcu($findings, 'get of the array of options and look-up of one', 'alloptions', Operation::LookUp, 1 / 300),
            self::apcu($findings, 'get of a string of 20 bytes', 'string-20', Operation::Get, 0.5),
            self::apcu($findings, 'get of a stdClass object of 20 properties', 'post', Operation::Get, 0.2),
            self::apcu($findings, 'get of an object of a class with 20 properties', 'entity', Operation::Get, 0.2),
        ];
        foreach (['alloptions' => 'the array of options', 'string-20' => 'the string of 20 bytes', 'post' => 'the stdClass object', 'entity' => 'the object of a class'] as $value => $title) {
            $promises[] = self::apcu($findings, "set of {$title}", $value, Operation::Set, 1.3);
        }

        return $promises;
    }

    /** @return list<Promise> */
    private static function againstServers(Findings $findings): array
    {
        $promises = [];
        foreach ([['redis-tcp', 'Redis over TCP', 150], ['memcached-tcp', 'Memcached over TCP', 75], ['memcached-unix', 'Memcached over a Unix socket', 75], ['file-disk', 'file_get_contents on disk', 30], ['file-tmpfs', 'file_get_contents on tmpfs', 30]] as [$subject, $title, $bound]) {
            $promises[] = Promise::atLeast(
                "gets of the page of 30 KB against {$title}",
                'time, theirs over ours',
                self::ratio($findings, 'page', Operation::Get, $subject, self::OURS),
                $bound,
            );
        }

        return $promises;
    }

    private static function items(Findings $findings): Promise
    {
        $case = ['limit' => '64 MiB', 'key' => '20 bytes', 'value' => '20 bytes'];
        $measurement = $findings->measurement('memory', 'items', $case, self::OURS);

        return Promise::atLeast(
            'values of 20 bytes under keys of 20 bytes in a pool of 64 MiB',
            'items',
            $measurement === null ? null : $findings->median('memory', $measurement),
            640_000,
        );
    }

    private static function trace(Findings $findings): Promise
    {
        $ratio = null;
        $outcome = $findings->run->outcome('traces');
        foreach ($outcome === null ? [] : $findings->cases($outcome, 'miss ratio') as $case) {
            if ($case['trace'] === 'orm-busy' && $case['store'] === self::OURS && $case['capacity'] === '10 %') {
                $ratio = $findings->ratio('traces', 'miss ratio', $case, self::OURS, 'LRU');
            }
        }

        return Promise::atMost('misses of the trace orm-busy at about 10 % capacity against LRU of as many items', 'miss ratio, ours over LRU\'s', $ratio, 1.0);
    }

    /** @return list<Promise> */
    private static function web(Findings $findings): array
    {
        $promises = [];
        $outcome = $findings->run->outcome('web');
        foreach ($outcome === null ? [] : $findings->cases($outcome, 'requests per second') as $case) {
            if ($case['value'] !== 'alloptions') {
                continue;
            }
            $promises[] = self::request($case, $findings->ratio('web', 'requests per second', $case, self::OURS, 'empty'));
        }

        return $promises === [] ? [self::request([], null)] : $promises;
    }

    /** @param array<string, string> $case */
    private static function request(array $case, ?Interval $ratio): Promise
    {
        $circumstances = $case === [] ? '' : " (concurrency {$case['concurrency']}, keep-alive {$case['keep-alive']})";

        return Promise::reaches("a PHP-FPM script with one get of the array of options against an empty one{$circumstances}", 'requests per second, ours over the empty script\'s', $ratio, 0.95);
    }

    private static function apcu(Findings $findings, string $title, string $value, Operation $operation, float $bound): Promise
    {
        $apcu = $findings->fastest('gets', self::case($value, $operation), 'apcu-');

        return Promise::atMost(
            $title . ' against ' . ($apcu === null ? 'APCu' : $findings->run->title($apcu)),
            'time, ours over theirs',
            $apcu === null ? null : self::ratio($findings, $value, $operation, self::OURS, $apcu),
            $bound,
        );
    }

    private static function ratio(Findings $findings, string $value, Operation $operation, string $above, string $below): ?Interval
    {
        return $findings->ratio('gets', 'time', self::case($value, $operation), $above, $below);
    }

    /** @return array<string, string> */
    private static function case(string $value, Operation $operation): array
    {
        return ['value' => $value, 'operation' => $operation->value, 'keys' => 'one hot key'];
    }
}
