<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Crowd\Crowds;
use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Server\Program;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;

/** Redis against Memcached under a growing number of clients, and caches in the machine's memory beside them. */
final class Clients implements Experiment
{
    private const RATE = 'operations per second';
    /** The parameter that says how many processors the servers had: threads beyond them have none. */
    public const PROCESSORS = 'processors of the servers';
    private const COLUMNS = ['p50 ns', 'p99 ns', 'errors', 'client cpu', 'server cpu', Saturation::SHARE];
    private const KEYS = 100_000;
    /** Of a tier, each of whose items is stored in Redis, and read from there once. */
    private const KEYS_OF_TIERS = 10_000;
    private const COUNTS_OF_TIERS = [1, 5, 10, 20, 50, 100];
    private const COUNTS = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300];
    private const SIZES = [32, 1_024, 16_384];
    /** Subjects that answer from memory, read by as many processes of PHP as there are clients. */
    private const WITHIN = ['shared-memory', 'apcu-php', 'cache-tier-shared-memory-redis', 'cache-tier-apcu-redis'];
    /** Clients beside redis-benchmark: with many it uses up its processor and measures itself, unless the server is slower. */
    private const CHECKED = [CrossCheck::AS_IT_IS => [1, 50], CrossCheck::SLOW => [3, 50]];
    /** Six and more pairs have an interval that one disturbed pair does not widen. */
    private const QUICK_CHECKS = 6;
    private const THOROUGH_CHECKS = 12;

    public function name(): string
    {
        return 'clients';
    }

    public function title(): string
    {
        return 'A growing number of clients';
    }

    public function recreates(): string
    {
        return 'Source C sets and gets values of 32 bytes under 100,000 keys, 10,000 and 100,000 times, from 1 to 300 clients, '
            . 'with redis-benchmark for Redis and its port mc-benchmark for Memcached, three times each. Ours loads both with one '
            . 'generator, over TCP as the source does, after storing every key (random sets would leave a third of the keys '
            . 'out), checks every value, and takes turns between the servers. Memcached runs with one thread and with more, on one processor and on more. Means have standard deviations, as the source\'s. Caches without a server, and memory before Redis, are read by as many processes of PHP.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(300, 1_024, $profile === Profile::Quick ? 95 : 350);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $requests = $isQuick ? [10_000] : [10_000, 100_000];
        $loops = 3;
        $outcome->parameters = ['keys' => self::KEYS, 'keys of memory before Redis' => self::KEYS_OF_TIERS, 'loops' => $loops, 'requests' => implode(' and ', array_map(number_format(...), $requests)), 'bytes of a value' => implode(', ', self::SIZES), 'placement of the processes that need no server' => 'on all processors'];
        $generator = LoadGenerator::build($laboratory->placement->client);
        $within = array_values(array_filter(self::WITHIN, static fn(string $name): bool => $outcome->includes($laboratory, $name, $name)));
        $outcome->parameters[self::PROCESSORS] = $laboratory->placement->ofServers;
        $threads = [1, max(2, $laboratory->placement->ofServers)];
        $progress->begin($this->title(), $loops * (count(self::COUNTS) * count($requests) + count(self::SIZES) + count($within)) + 3);
        $this->within($laboratory, $progress, $outcome, $within, $loops, $isQuick ? 60 : 250);
        $servers = [];
        try {
            $servers = $this->servers($laboratory, $outcome, $threads);
            foreach ($servers as [$protocol, $server]) {
                $this->store($generator, $protocol, $server, 32);
            }
            $this->sweep($laboratory, $progress, $outcome, $generator, $servers, $requests, $loops);
            $progress->advance('the threads of Memcached');
            $this->threads($laboratory, $outcome, $generator, $servers, $isQuick ? 10_000 : 50_000, $loops);
            $progress->advance('the generator beside redis-benchmark');
            $this->crossCheck($laboratory, $outcome, $generator, $servers);
            $this->sizes($laboratory, $progress, $outcome, $generator, $servers, $loops);
            $this->resident($outcome, $servers);
        } finally {
            array_map(static fn(array $entry) => $entry[1]->stop(), $servers);
            Saturation::mark($outcome);
        }
        $progress->end();
    }

    /**
     * @param non-empty-list<int> $threads of Memcached
     * @return array<string, array{'resp'|'memcached', Server}> by name
     */
    private function servers(Laboratory $laboratory, Outcome $outcome, array $threads): array
    {
        $servers = [];
        foreach (RedisFlavour::cases() as $flavour) {
            if ($outcome->includes($laboratory, $flavour->value, "{$flavour->value}-tcp")) {
                $this->start($servers, $outcome, $flavour->value, $flavour->title(), 'resp', static fn(): Server => RedisServer::start($flavour, Laboratory::MEGABYTES, $laboratory->placement->server));
            }
        }
        foreach ($threads as $count) {
            $name = "memcached-{$count}";
            if ($outcome->includes($laboratory, $name, 'memcached-tcp')) {
                $title = sprintf('Memcached, %d thread%s', $count, $count === 1 ? '' : 's');
                $this->start($servers, $outcome, $name, $title, 'memcached', static fn(): Server => MemcachedServer::onPort(Laboratory::MEGABYTES, $laboratory->placement->server, $count));
            }
        }
        $laboratory->describe(array_map(static fn(array $entry): array => $entry[1]->description(), $servers));

        return $servers;
    }

    /**
     * @param array<string, array{'resp'|'memcached', Server}> $servers
     * @param 'resp'|'memcached' $protocol
     * @param \Closure(): Server $start
     */
    private function start(array &$servers, Outcome $outcome, string $name, string $title, string $protocol, \Closure $start): void
    {
        $outcome->titles[$name] = $title;
        try {
            $servers[$name] = [$protocol, $start()];
        } catch (ServerFailed $failure) {
            $outcome->fail($name, $failure);
        }
    }

    /** @param 'resp'|'memcached' $protocol */
    private function store(LoadGenerator $generator, string $protocol, Server $server, int $bytes, int $keys = self::KEYS): void
    {
        $slice = $generator->items($protocol, $server->endpoint(), true, 10, $keys, $keys, $bytes, [], true);
        if ($slice->errors > 0) {
            throw new \RuntimeException("{$slice->errors} items could not be stored in a server: its figures would be worth nothing.");
        }
    }

    /**
     * @param array<string, array{'resp'|'memcached', Server}> $servers
     * @param list<int> $requests
     */
    private function sweep(Laboratory $laboratory, Progress $progress, Outcome $outcome, LoadGenerator $generator, array $servers, array $requests, int $loops): void
    {
        for ($loop = 0; $loop < $loops; $loop++) {
            foreach ($requests as $count) {
                foreach (self::COUNTS as $clients) {
                    $progress->advance("loop " . ($loop + 1) . " of {$loops}: {$clients} clients");
                    foreach (['SET' => true, 'GET' => false] as $operation => $isWrite) {
                        foreach (Shuffled::of($servers) as $name => [$protocol, $server]) {
                            $laboratory->goOn();
                            $slice = $generator->items($protocol, $server->endpoint(), $isWrite, $clients, $count, self::KEYS, 32, $server->processIds(), false, 1 + $loop);
                            $case = ['operation of the clients' => $operation, 'requests' => number_format($count), 'clients' => (string) $clients];
                            $this->write($outcome, $case, $name, $loop, $slice);
                        }
                    }
                }
            }
        }
    }

    /** @param array<string, array{'resp'|'memcached', Server}> $servers */
    private function threads(Laboratory $laboratory, Outcome $outcome, LoadGenerator $generator, array $servers, int $requests, int $loops): void
    {
        if ($laboratory->placement->choices() === []) {
            $outcome->notes[] = 'Memcached did not run on fewer processors and on more: servers cannot be kept from the load generator\'s. That takes two processors and taskset (package util-linux).';

            return;
        }
        $memcached = array_map(static fn(array $entry): Server => $entry[1], array_filter($servers, static fn(array $entry): bool => $entry[0] === 'memcached'));
        (new MemcachedThreads($generator, $laboratory->placement, $memcached, self::KEYS, $requests))->run(
            $loops,
            function (array $case, string $name, int $loop, Slice $slice) use ($outcome): void {
                $this->write($outcome, $case, $name, $loop, $slice);
            },
            $laboratory->goOn(...),
        );
    }

    /** @param array<string, array{'resp'|'memcached', Server}> $servers */
    private function sizes(Laboratory $laboratory, Progress $progress, Outcome $outcome, LoadGenerator $generator, array $servers, int $loops): void
    {
        foreach (self::SIZES as $bytes) {
            $keys = min(self::KEYS, intdiv(64 << 20, $bytes));
            foreach ($servers as [$protocol, $server]) {
                $this->store($generator, $protocol, $server, $bytes, $keys);
            }
            for ($loop = 0; $loop < $loops; $loop++) {
                $progress->advance("values of {$bytes} bytes");
                foreach (['SET' => true, 'GET' => false] as $operation => $isWrite) {
                    foreach (Shuffled::of($servers) as $name => [$protocol, $server]) {
                        $laboratory->goOn();
                        $slice = $generator->items($protocol, $server->endpoint(), $isWrite, 50, 10_000, $keys, $bytes, $server->processIds(), false, 1 + $loop);
                        $this->write($outcome, ['operation of 50 clients' => $operation, 'bytes' => number_format($bytes)], $name, $loop, $slice);
                    }
                }
            }
        }
    }

    /** @param array<string, string> $case */
    private function write(Outcome $outcome, array $case, string $name, int $loop, Slice $slice): void
    {
        $outcome->measurement($case, 'rate', self::RATE, Direction::HigherIsBetter, $name, columns: self::COLUMNS)->add(
            0,
            $loop,
            $slice->rate(),
            ...$slice->columns(),
        );
        if ($slice->errors > 0) {
            $outcome->fail($name, WorkerFailed::said($outcome->titles[$name] ?? $name, sprintf('%d answers were wrong or missing (%s).', $slice->errors, implode(', ', $case))));
        }
    }

    /** @param list<string> $subjects */
    private function within(Laboratory $laboratory, Progress $progress, Outcome $outcome, array $subjects, int $loops, int $milliseconds): void
    {
        for ($loop = 0; $loop < $loops; $loop++) {
            foreach (Shuffled::of($subjects) as $name) {
                $progress->advance("processes that read {$laboratory->subjects[$name]->title}");
                $isTier = $laboratory->subjects[$name]->server !== null;
                if (isset($outcome->leftOut[$name]) || ($isTier && $loop > 0)) {
                    continue;
                }
                // 300 processes that visit 256 MiB each would take minutes; each visits what it is to read. Those of a tier do so through Redis, and do all loops at once.
                $crowds = new Crowds($laboratory, $milliseconds, $isTier ? $loops : 1, false);
                $counts = $isTier ? self::COUNTS_OF_TIERS : self::COUNTS;
                try {
                    foreach ($crowds->run($laboratory->subjects[$name], $counts, 'string-32', $isTier ? self::KEYS_OF_TIERS : self::KEYS, 0) as ['count' => $count, 'round' => $round, 'rate' => $rate, 'cpu' => $cpu]) {
                        foreach ($laboratory->profile === Profile::Quick ? [10_000] : [10_000, 100_000] as $requests) {
                            // The same for both numbers of requests, as a process reads for a while instead.
                            $case = ['operation of the clients' => 'GET', 'requests' => number_format($requests), 'clients' => (string) $count];
                            $outcome->measurement($case, 'rate', self::RATE, Direction::HigherIsBetter, $name, columns: ['client cpu'])->add(0, $loop + $round, $rate, $cpu);
                        }
                    }
                } catch (WorkerFailed $failure) {
                    $outcome->fail($name, $failure);
                }
            }
        }
    }

    /** @param array<string, array{'resp'|'memcached', Server}> $servers */
    private function crossCheck(Laboratory $laboratory, Outcome $outcome, LoadGenerator $generator, array $servers): void
    {
        $program = Program::find('redis-benchmark', 'valkey-benchmark');
        $server = $servers['redis'][1] ?? $servers['valkey'][1] ?? null;
        if ($program === null || $server === null) {
            $outcome->notes[] = 'The load generator was not checked against redis-benchmark, which takes that program (package redis-tools or valkey-tools) and the subject redis-tcp or valkey-tcp.';

            return;
        }
        $outcome->titles += ['generator' => 'our generator', 'redis-benchmark' => basename($program)];
        $blocks = $outcome->parameters['pairs of generators'] = $laboratory->profile === Profile::Quick ? self::QUICK_CHECKS : self::THOROUGH_CHECKS;
        $check = static fn(Server $server, string $kind): CrossCheck => new CrossCheck($generator, new RedisBenchmark([...$laboratory->placement->client, $program], (int) $server->endpoint()['port'], self::KEYS), $server, self::KEYS, $kind);
        $check($server, CrossCheck::AS_IT_IS)->run($outcome, self::CHECKED[CrossCheck::AS_IT_IS], $blocks, $laboratory->goOn(...));
        // redis-benchmark wrote values of its own.
        $this->store($generator, 'resp', $server, 32);
        $slow = RedisServer::start(isset($servers['redis']) ? RedisFlavour::Redis : RedisFlavour::Valkey, Laboratory::MEGABYTES, $laboratory->placement->oneOfServers());
        try {
            $this->store($generator, 'resp', $slow, 32);
            if (CrossCheck::slowDown($slow)) {
                $check($slow, CrossCheck::SLOW)->run($outcome, self::CHECKED[CrossCheck::SLOW], $blocks, $laboratory->goOn(...));
            } else {
                $outcome->notes[] = 'The load generator was checked against redis-benchmark only at a server as it is. This one has no access control lists, by which it could be slowed down. Install Redis 6 or later, or Valkey.';
            }
        } finally {
            $slow->stop();
        }
    }

    /** @param array<string, array{'resp'|'memcached', Server}> $servers */
    private function resident(Outcome $outcome, array $servers): void
    {
        foreach ($servers as $name => [, $server]) {
            $outcome->measurement(['after' => 'all of it'], 'memory of the server', 'bytes', Direction::LowerIsBetter, $name)->add(0, 0, Resident::memory($server->processIds()));
        }
    }
}
