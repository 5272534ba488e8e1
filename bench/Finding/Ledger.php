<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Clients;
use Larder\Bench\Experiment\Pages;
use Larder\Bench\Experiment\Saturation;
use Larder\Bench\Experiment\Transients;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\NoiseFloor;
use Larder\Bench\Statistics\PairedRatio;
use Larder\Bench\Subject\Operation;
use Larder\Bench\WordPress\ObjectCache;

/**
 * Every claim of the four sources, and whether this run agrees with it: a pure function of the samples.
 *
 * The sources are those of Sources: A, B, C and D.
 */
final readonly class Ledger
{
    private function __construct(private Findings $findings) {}

    /** @return list<Claim> */
    public static function of(Findings $findings): array
    {
        $ledger = new self($findings);

        return [...$ledger->ofA(), ...$ledger->ofB(), ...$ledger->ofC(), ...$ledger->ofD()];
    }

    /** @return list<Claim> */
    private function ofA(): array
    {
        $hello = self::gets('hello', Operation::Get);
        $connect = self::gets('hello', Operation::Connect);

        return [
            Claim::about('A', 'files are about three times as fast as Redis in one request', 'time of a get, Redis over TCP over files', $this->ratio('gets', 'time', $hello, 'redis-tcp', 'file-disk'), 3),
            Claim::about('A', 'files are about three times as fast as Memcached in one request', 'time of a get, Memcached over TCP over files', $this->ratio('gets', 'time', $hello, 'memcached-tcp', 'file-disk'), 3),
            Claim::about('A', 'with connections, files are about ten times as fast as Redis', 'time to connect, get and close, Redis over TCP over files', $this->ratio('connect', 'time', $connect, 'redis-tcp', 'file-disk'), 10),
            Claim::about('A', 'with connections, files are about ten times as fast as Memcached', 'time to connect, get and close, Memcached over TCP over files', $this->ratio('connect', 'time', $connect, 'memcached-tcp', 'file-disk'), 10),
            ...$this->requestsOfA(),
            Claim::above('A', 'on one server, files beat Redis', 'time of a get, Redis over a Unix socket over files', $this->ratio('gets', 'time', $hello, 'redis-unix', 'file-disk'), $this->floor('gets', 'redis-unix', 'file-disk')),
            Claim::above('A', 'on one server, files beat Memcached', 'time of a get, Memcached over a Unix socket over files', $this->ratio('gets', 'time', $hello, 'memcached-unix', 'file-disk'), $this->floor('gets', 'memcached-unix', 'file-disk')),
            Claim::above('A', 'the kernel\'s page cache keeps files in memory, and that is why they are fast', 'time of a read, with nothing of it in the page cache over all of it', $this->between('cold', 'time of a read', ['the page cache' => 'has nothing of it'], 'files', ['the page cache' => 'has all of it'], 'files'), new NoiseFloor(0.05)),
        ];
    }

    /** @return list<Claim> one request at a time and fifty, against both servers */
    private function requestsOfA(): array
    {
        $claims = [];
        foreach (['1', '50'] as $concurrency) {
            foreach (['redis' => 'Redis', 'memcached' => 'Memcached'] as $script => $title) {
                $ratio = $this->ratio('web', 'requests per second', ['value' => 'hello', 'keep-alive' => 'off', 'concurrency' => $concurrency], 'file', $script);
                $claims[] = Claim::about('A', "files give about 50 % more requests through the web server than {$title}, {$concurrency} at a time", "requests per second, files over {$title}", $ratio, 1.5);
            }
        }

        return $claims;
    }

    /** @return list<Claim> */
    private function ofB(): array
    {
        $options = self::gets('alloptions', Operation::Get);
        $apcu = $this->findings->fastest('gets', $options, 'apcu-') ?? 'apcu-php';
        $items = $this->findings->measurement('memory', 'items', ['limit' => '64 MiB', 'key' => '20 bytes', 'value' => '20 bytes'], 'apcu');
        $fetch = ['value' => 'alloptions', 'direction' => 'fetch'];
        $store = ['value' => 'alloptions', 'direction' => 'store'];
        $catalogue = ['cache' => Pages::WARM, 'page' => Pages::CATALOGUE];

        return [
            Claim::atMost('B', 'APCu has about 4,096 slots', 'items of 20 bytes that APCu holds in 64 MiB', $items === null ? null : $this->findings->median('memory', $items), 4_096 * 1.5),
            Claim::unmeasured('B', 'APCu has typically 32 MB', 'it is what apc.shm_size is unless set, which every run here sets'),
            Claim::above('B', 'APCu is the fastest of the object caches: faster than SQLite', 'time of a get of the options, SQLite over APCu', $this->ratio('gets', 'time', $options, 'sqlite', $apcu), $this->floor('gets', 'sqlite', $apcu)),
            Claim::above('B', 'APCu is the fastest of the object caches: faster than Redis', 'time of a get of the options, Redis over a Unix socket over APCu', $this->ratio('gets', 'time', $options, 'redis-unix', $apcu), $this->floor('gets', 'redis-unix', $apcu)),
            Claim::above('B', 'levels of APCu and SQLite, written through, might work: faster reads than SQLite alone', 'time of a get of the options, SQLite over SQLite behind APCu', $this->ratio('gets', 'time', $options, 'sqlite', 'sqlite-apcu'), $this->floor('gets', 'sqlite', 'sqlite-apcu')),
            Claim::above('B', 'igbinary explains some of the gain', 'time to unserialise the options, PHP over igbinary', $this->ratio('serializers', 'time', $fetch, 'php+none', 'igbinary+none'), new NoiseFloor(0.05)),
            Claim::above('B', 'round trips dominate Redis', 'time of a get of a short text, one by one over a hundred a pipeline; above 2, most of it is the round trip', $this->ratio('gets', 'time', self::gets('hello', Operation::Get), 'redis-unix', 'redis-pipeline'), $this->floor('gets', 'redis-unix', 'redis-pipeline'), 2.0),
            Claim::above('B', 'round trips dominate Memcached', 'time of a get of a short text, one by one over a hundred at once; above 2, most of it is the round trip', $this->ratio('gets', 'time', self::gets('hello', Operation::Get), 'memcached-unix', 'memcached-multi'), $this->floor('gets', 'memcached-unix', 'memcached-multi'), 2.0),
            Claim::above('B', 'gzdeflate is very slow on large objects', 'time to store the options, with gzdeflate over without; above 5 is taken for very slow', $this->ratio('serializers', 'time', $store, 'igbinary+zlib', 'igbinary+none'), new NoiseFloor(0.05), 5.0),
            Claim::above('B', 'the SQLite Object Cache gives more page views than none (36 %)', 'pages per second of the catalogue, its design over none', $this->ratio('pages', Pages::RATE, $catalogue, ObjectCache::RIVAL_SQLITE, ObjectCache::NONE), new NoiseFloor(0.05)),
            Claim::above('B', 'a Redis object cache gives more page views than none (25 %; 14 % by its own figures)', 'pages per second of the catalogue, its design over none', $this->ratio('pages', Pages::RATE, $catalogue, ObjectCache::RIVAL_REDIS, ObjectCache::NONE), new NoiseFloor(0.05)),
            Claim::unmeasured('B', 'a Redis on another machine gives 14 % fewer page views', 'it takes another machine'),
            Claim::above('B', 'a transient is read faster with SQLite than with Redis (60 against 856 µs)', 'time of a get of a transient, the design of the one over that of the other', $this->ratio('transients', Transients::TIME, ['call' => 'get'], ObjectCache::RIVAL_REDIS, ObjectCache::RIVAL_SQLITE), new NoiseFloor(0.05)),
            Claim::above('B', 'a transient is set faster with APCu than with SQLite (22 against 396 µs)', 'time of a set of a transient, the design of the one over that of the other', $this->ratio('transients', Transients::TIME, ['call' => 'set'], ObjectCache::RIVAL_SQLITE, ObjectCache::RIVAL_APCU), new NoiseFloor(0.05)),
            Claim::unmeasured('B', 'APCu is not compatible with WP-CLI', 'no time tells it; processes that are not forked from one parent do not share APCu, which the feature table says'),
            Claim::unmeasured('B', 'on Windows APCu is not shared between processes', 'it takes Windows'),
            Claim::unmeasured('B', 'in one FreeBSD jail every operation took 5 ms', 'it takes that jail'),
            Claim::unmeasured('B', 'Object Cache 4 Everyone in disk mode is extremely fast', 'it takes that plugin, which --wordpress-peers would measure'),
        ];
    }

    /** @return list<Claim> */
    private function ofC(): array
    {
        $get = self::clients('GET');
        $set = self::clients('SET');
        $occupied = fn(string $store, string $after): ?Interval => $this->value('memory', 'memory occupied', ['limit' => '64 MiB', 'after' => $after], $store);
        $limit = 64 << 20;

        return [
            $this->ofRates('Redis is ahead of Memcached at 32 bytes, reading', 'GETs of 50 clients, Redis over Memcached with one thread', [$get, 'redis'], [$get, 'memcached-1']),
            $this->ofRates('Redis is ahead of Memcached at 32 bytes, writing', 'SETs of 50 clients, Redis over Memcached with one thread', [$set, 'redis'], [$set, 'memcached-1']),
            $this->ofRates('Memcached sets faster than it gets', 'operations of 50 clients, SETs over GETs of Memcached with one thread', [$set, 'memcached-1'], [$get, 'memcached-1']),
            Claim::above('C', 'Redis is limited by the processor only', 'processors that Redis used at the rate of 50 clients; above 0.9 is taken for a full one', $this->busy($get, 'redis'), new NoiseFloor(0.0), 0.9),
            Claim::above('C', 'Memcached is limited by the processor only', 'processors that Memcached with one thread used at the rate of 50 clients; above 0.9 is taken for a full one', $this->busy($get, 'memcached-1'), new NoiseFloor(0.0), 0.9),
            Claim::unmeasured('C', 'Redis takes more packets a second', 'packets are not counted'),
            Claim::above('C', 'Redis gives unused memory back', 'memory of Redis after writing twice what fits, over that after flushing; above 1.5 it has given some back', self::over($occupied('redis', 'writing twice what fits'), $occupied('redis', 'flushing')), new NoiseFloor(0.0), 1.5),
            Claim::atMost('C', 'Memcached does not give unused memory back', 'memory of Memcached after writing twice what fits, over that after flushing', self::over($occupied('memcached', 'writing twice what fits'), $occupied('memcached', 'flushing')), 1.1),
            Claim::atMost('C', 'Redis never exceeds its limit', 'resident memory over the limit, after writing twice what fits', self::over($occupied('redis', 'writing twice what fits'), new Interval($limit, $limit, $limit)), 1.0),
            Claim::above('C', 'Memcached exceeds its limit', 'resident memory over the limit, after writing twice what fits', self::over($occupied('memcached', 'writing twice what fits'), new Interval($limit, $limit, $limit)), new NoiseFloor(0.0)),
            Claim::above('C', 'what evicts by LFU or LRU keeps what is needed', 'hit ratio of Redis when full, LRU over random', $this->ratio('full', 'hit ratio over time', $this->onlyCase('full', 'hit ratio over time'), 'redis-allkeys-lru', 'redis-allkeys-random'), new NoiseFloor(0.01)),
            $this->ofThreads('one core and one thread are unfair to a multi-threaded server (a comment)', $get),
            Claim::unmeasured('C', 'Redis persists and clusters, Memcached does not; values to 512 MB against 1 MB', 'no time tells it; it is in the feature table'),
            Claim::unmeasured('C', 'APCu is local to each server', 'no time tells it; it is in the feature table'),
        ];
    }

    /**
     * That one rate of clients is above another. Where both are the load generator's own, the servers' processor times are compared
     * instead, which are what limits a rate when the generator does not.
     *
     * @param array{array<string, string>, string} $above case and subject
     * @param array{array<string, string>, string} $below
     * @param bool $isOneThread whether both servers have one, whose time for a request says how many it could answer
     */
    private function ofRates(string $claim, string $figure, array $above, array $below, bool $isOneThread = true): Claim
    {
        $saturated = [];
        $times = [];
        foreach ([$above, $below] as [$case, $subject]) {
            $measurement = $this->findings->measurement('clients', 'rate', $case, $this->findings->spoken('clients', $subject));
            $name = sprintf('the %ss of %s', $case['operation of the clients'] ?? '', $this->findings->run->title($measurement->subject ?? $subject, $this->findings->run->outcome('clients')));
            $times[$name] = $measurement?->column('server cpu') ?? [];
            if ($measurement !== null && Saturation::isIn($measurement)) {
                $saturated[] = $name;
            }
        }
        $floor = new NoiseFloor(NoiseFloor::ASSUMED);
        if (count($saturated) === 2) {
            $remark = 'the load generator used up its processor for both, so that the rates are its own';
            // More of a rate is less time for a request.
            $found = $isOneThread ? PairedRatio::of([$times[$saturated[1]]], [$times[$saturated[0]]]) : null;

            return $found === null
                ? Claim::unmeasured('C', $claim, $remark)
                : Claim::above('C', $claim, "processor time of the server for one of {$saturated[1]}, over one of {$saturated[0]}; {$remark}", $found, $floor);
        }
        $remark = $saturated === [] ? '' : "; the load generator used up its processor for {$saturated[0]}, which may be faster than was seen";

        return Claim::above('C', $claim, $figure . $remark, $this->between('clients', 'rate', $above[0], $above[1], $below[0], $below[1]), $floor);
    }

    /** @param array<string, string> $case */
    private function ofThreads(string $claim, array $case): Claim
    {
        $outcome = $this->findings->run->outcome('clients');
        $most = 1;
        foreach ($outcome->measurements ?? [] as $measurement) {
            $most = max($most, preg_match('/^memcached-(\d+)$/', $measurement->subject, $match) === 1 ? (int) $match[1] : 1);
        }

        return match (true) {
            $most === 1 => Claim::unmeasured('C', $claim, 'Memcached did not run with more threads than one'),
            (int) ($outcome->parameters[Clients::PROCESSORS] ?? 1) < $most => Claim::unmeasured('C', $claim, "Memcached's {$most} threads had fewer processors here that were not the load generator's as well"),
            default => $this->ofRates($claim, "GETs of 50 clients, Memcached with {$most} threads over one", [$case, "memcached-{$most}"], [$case, 'memcached-1'], false),
        };
    }

    /** @return list<Claim> */
    private function ofD(): array
    {
        $floor = new NoiseFloor(NoiseFloor::ASSUMED);
        $above = function (string $claim, string $metric, string $design, string $other, string $remark = '', float $bound = 1.0) use ($floor): Claim {
            [$figure, $found] = $this->ofDesigns($metric, $design, $other);

            return Claim::above('D', $claim, $figure . $remark, $found, $floor, $bound);
        };
        [$figure, $found] = $this->ofDesigns('writes', 'tag-sets', 'tag-files');

        return [
            $above('reads are fastest from files', 'reads', 'tag-files', 'tag-sets'),
            $above('reads are fastest from files, faster than from Memcached in two levels', 'reads', 'tag-files', 'memcached-tag-sets'),
            $above('reads are fastest from files, faster than from Memcached in front of them', 'reads', 'tag-files', 'memcached-tag-files'),
            Claim::about('D', 'writes are faster to Redis by a little', $figure, $found, 1.2),
            $above('deletes by tag are fastest in Redis by far', 'cleans by tag', 'tag-sets', 'tag-files', '; above 10 is taken for by far', 10.0),
            // Whether Memcached makes anything faster that lies in front of another store.
            ...array_merge(...array_map(
                static fn(string $design, string $title): array => array_map(
                    static fn(string $metric): Claim => $above("Memcached in two levels is not worth it: {$metric}, in front of {$title}", $metric, $design, "memcached-{$design}"),
                    ['reads', 'writes', 'cleans by tag'],
                ),
                ['tag-sets', 'tag-files'],
                ['Redis', 'files'],
            )),
            Claim::unmeasured('D', 'deletes and writes matter most, because every purchase invalidates', 'it is a weighting; the recommendation has one of its own, and that of the source\'s tool'),
        ];
    }

    /**
     * One design in terms of another, and what was compared: the source's own back ends where they were measured.
     *
     * @return array{string, Interval|null}
     */
    private function ofDesigns(string $metric, string $above, string $below): array
    {
        $designs = TagDesigns::in($this->findings);
        [$above, $below] = $designs->speakers($metric, $above, $below);

        return ["{$metric} per second, {$designs->title($above)} over {$designs->title($below)}", $this->findings->ratio('tags', $metric, $designs->case, $above, $below)];
    }

    /** @param array<string, string> $case */
    private function ratio(string $experiment, string $metric, array $case, string $above, string $below): ?Interval
    {
        return $this->findings->ratio($experiment, $metric, $case, $this->findings->spoken($experiment, $above), $this->findings->spoken($experiment, $below));
    }

    /**
     * The ratio of two cases.
     *
     * @param array<string, string> $case
     * @param array<string, string> $other
     */
    private function between(string $experiment, string $metric, array $case, string $above, array $other, string $below): ?Interval
    {
        return $this->findings->between($experiment, $metric, $case, $this->findings->spoken($experiment, $above), $other, $this->findings->spoken($experiment, $below));
    }

    private function floor(string $experiment, string $one, string $other): NoiseFloor
    {
        return $this->findings->floor($experiment, 'time', $this->findings->spoken($experiment, $one), $this->findings->spoken($experiment, $other));
    }

    /** @param array<string, string> $case */
    private function value(string $experiment, string $metric, array $case, string $subject): ?Interval
    {
        $measurement = $this->findings->measurement($experiment, $metric, $case, $this->findings->spoken($experiment, $subject));

        return $measurement === null ? null : $this->findings->median($experiment, $measurement);
    }

    /**
     * How many processors a server used.
     *
     * @param array<string, string> $case
     */
    private function busy(array $case, string $subject): ?Interval
    {
        $measurement = $this->findings->measurement('clients', 'rate', $case, $this->findings->spoken('clients', $subject));
        $rates = $measurement === null ? [] : $measurement->values();
        $times = $measurement === null ? [] : $measurement->column('server cpu');
        $shares = array_map(static fn(float $rate, float $time): float => $rate * $time / 1e9, $rates, array_slice([...$times, ...array_fill(0, count($rates), 0.0)], 0, count($rates)));
        if ($shares === []) {
            return null;
        }
        sort($shares);

        return new Interval($shares[intdiv(count($shares), 2)], $shares[0], $shares[count($shares) - 1]);
    }

    private static function over(?Interval $above, ?Interval $below): ?Interval
    {
        return $above === null || $below === null || $below->estimate <= 0
            ? null
            : new Interval($above->estimate / $below->estimate, $above->low / max($below->high, 1e-9), $above->high / max($below->low, 1e-9));
    }

    /** @return array<string, string> the first case of a metric */
    private function onlyCase(string $experiment, string $metric): array
    {
        $outcome = $this->findings->run->outcome($experiment);

        return $outcome === null ? [] : $this->findings->cases($outcome, $metric)[0] ?? [];
    }

    /** @return array<string, string> */
    private static function gets(string $value, Operation $operation): array
    {
        return ['value' => $value, 'operation' => $operation->value, 'keys' => 'one hot key'];
    }

    /** @return array<string, string> */
    private static function clients(string $operation): array
    {
        return ['operation of the clients' => $operation, 'requests' => '10,000', 'clients' => '50'];
    }
}
