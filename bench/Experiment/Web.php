<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\Program;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Summary;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\FileSystem;
use Larder\Bench\Subject\Value;
use Larder\Bench\Subject\Values;
use Random\Randomizer;

/** What one read costs a request: nginx and php-fpm with a script for each subject, an empty one among them. */
final class Web implements Experiment
{
    /** The subjects that must have been asked for, for a script to run. */
    private const NEEDS = [
        'shared-memory' => 'shared-memory', 'apcu' => 'apcu-php', 'file' => 'file-disk',
        'redis' => 'redis-tcp', 'redis-persistent' => 'redis-tcp',
        'memcached' => 'memcached-tcp', 'memcached-persistent' => 'memcached-tcp',
    ];
    /** Above this share of a processor the generator, not the server, may have set the pace. */
    private const SATURATED = 0.9;
    private const COLUMNS = ['p50 ns', 'p99 ns', 'errors', 'client cpu', 'server cpu', 'generator share'];

    public function name(): string
    {
        return 'web';
    }

    public function title(): string
    {
        return 'Requests through nginx and php-fpm';
    }

    public function recreates(): string
    {
        return 'Source A makes 10,000 requests with hey, one at a time and 50 at a time, to an empty script and to scripts '
            . 'that read the text "hello world" once. Ours makes requests for a fixed time, with a generator of its own that '
            . 'runs on another processor than the servers where there is one, and adds keep-alive and the array of 600 options. '
            . 'The Redis and Memcached scripts connect with each request, as the source\'s do, unless they say persistent.';
    }

    public function run(Laboratory $laboratory, Progress $progress): Outcome
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $seconds = $isQuick ? 0.15 : 0.5;
        $processes = $isQuick ? 2 : 5;
        $blocks = $isQuick ? 5 : 10;
        $outcome = Outcome::of($this, [
            'php-fpm workers' => Site::WORKERS, 'nginx workers' => 1, 'milliseconds a block' => (int) (1000 * $seconds),
            'starts of nginx and php-fpm' => $processes, 'blocks in each' => $blocks,
        ]);
        $generator = LoadGenerator::build($laboratory->placement->client);
        $cases = $this->cases();
        $progress->begin($this->title(), $processes * (1 + $blocks * count($cases)));
        /** @var array<string, Measurement> $measurements */
        $measurements = [];
        for ($process = 0; $process < $processes && !$laboratory->isInterrupted(); $process++) {
            $root = FileSystem::onDisk() . '/larder-bench-' . bin2hex(random_bytes(6));
            mkdir($root, 0o700);
            [$scripts, $stores] = $this->scripts($laboratory, $outcome, $root);
            $progress->advance('starting nginx and php-fpm');
            try {
                $site = Site::start($laboratory, $scripts, [Values::named('alloptions'), Values::named('hello')], $stores, $root);
            } catch (ServerFailed $failure) {
                FileSystem::remove($root);
                $outcome->leftOut['empty'] = $failure->getMessage();
                break;
            }
            $laboratory->describe($site->descriptions());
            for ($block = 0; $block < $blocks && !$laboratory->isInterrupted(); $block++) {
                foreach ($cases as $case) {
                    foreach ([...array_map(static fn(string $name): array => [$name, false], array_keys($scripts)), ['empty', true]] as [$name, $isTwin]) {
                        $measurements[self::id($case, $name, $isTwin)] ??= new Measurement($case, 'requests per second', 'requests per second', Direction::HigherIsBetter, $name, $isTwin, self::COLUMNS);
                    }
                    $progress->advance("{$case['value']}, concurrency {$case['concurrency']}, keep-alive {$case['keep-alive']}");
                    foreach ($this->turn(array_keys($scripts)) as [$name, $isTwin]) {
                        $id = self::id($case, $name, $isTwin);
                        $before = $site->cpu();
                        $done = $generator->run($site->port(), "/{$name}-{$case['value']}.php", (int) $case['concurrency'], $case['keep-alive'] === 'on', $seconds);
                        $requests = max(1, $done['requests']);
                        $share = $done['cpu'] / $done['seconds'];
                        $measurements[$id]->add(
                            $process,
                            $block,
                            $done['requests'] / $done['seconds'],
                            $done['p50'],
                            $done['p99'],
                            $done['errors'],
                            round($done['cpu'] * 1e9 / $requests),
                            round(($site->cpu() - $before) / $requests),
                            round($share, 3),
                        );
                        if ($done['errors'] > 0) {
                            $outcome->notes[] = sprintf('%d requests of %s failed (%s).', $done['errors'], $name, implode(', ', $case));
                        }
                    }
                }
            }
            if ($process === 0 && !$laboratory->isInterrupted()) {
                $this->crossCheck($outcome, $laboratory, $generator, $site->port());
            }
            unset($site);
        }
        array_push($outcome->measurements, ...array_values($measurements));
        $this->markSaturated($outcome);
        $outcome->isComplete = !$laboratory->isInterrupted();
        $progress->end();

        return $outcome;
    }

    /** A rate that the generator itself may have limited is marked. */
    private function markSaturated(Outcome $outcome): void
    {
        foreach ($outcome->measurements as $measurement) {
            $shares = $measurement->column('generator share');
            sort($shares);
            $share = $shares === [] ? 0.0 : Summary::percentile($shares, 0.5);
            if ($share > self::SATURATED) {
                $outcome->notes[] = sprintf(
                    'The load generator used %d %% of its processor for %s (%s): that rate may be the generator\'s, not the server\'s.',
                    100 * $share,
                    $outcome->titles[$measurement->subject] ?? $measurement->subject,
                    implode(', ', $measurement->case),
                );
            }
        }
    }

    /** @param array<string, string> $case */
    private static function id(array $case, string $name, bool $isTwin): string
    {
        return implode('/', [...$case, $name, $isTwin ? 'again' : '']);
    }

    /** @return list<array{value: string, keep-alive: string, concurrency: string}> */
    private function cases(): array
    {
        $cases = [];
        foreach (['alloptions' => ['off', 'on'], 'hello' => ['off']] as $value => $keepAlive) {
            foreach ($keepAlive as $setting) {
                foreach (['1', '50'] as $concurrency) {
                    $cases[] = ['value' => $value, 'keep-alive' => $setting, 'concurrency' => $concurrency];
                }
            }
        }

        return $cases;
    }

    /**
     * All scripts in a random order, the empty one twice: what it differs by from itself is noise.
     *
     * @param list<string> $names
     * @return list<array{string, bool}> name, and whether it is the twin
     */
    private function turn(array $names): array
    {
        $turn = array_map(static fn(string $name): array => [$name, false], $names);
        $turn[] = ['empty', true];

        return (new Randomizer())->shuffleArray($turn);
    }

    /** @return array{array<string, WebScript>, list<Server>} by name, and the servers they need */
    private function scripts(Laboratory $laboratory, Outcome $outcome, string $root): array
    {
        $scripts = ['empty' => new WebScript('an empty script', '', '')];
        $stores = [];
        foreach (self::NEEDS as $name => $need) {
            $subject = $laboratory->subjects[$need] ?? null;
            $missing = $subject === null ? 'it was not among the subjects asked for' : $subject->missing();
            if ($missing !== null) {
                $outcome->leftOut[$name] = $missing;
                continue;
            }
            try {
                $kind = $subject?->server;
                $server = null;
                if ($kind !== null) {
                    $server = $stores[$kind->value] = $laboratory->server($kind);
                }
                $scripts[$name] = $this->script($name, $root, (int) ($server?->endpoint()['port'] ?? 0));
            } catch (ServerFailed $failure) {
                $outcome->leftOut[$name] = $failure->getMessage();
            }
        }
        $outcome->titles = array_map(static fn(WebScript $script): string => $script->title, $scripts);

        return [$scripts, array_values($stores)];
    }

    private function script(string $name, string $root, int $port): WebScript
    {
        $pool = basename($root);
        $redis = 'if (!$isString) { $client->setOption(Redis::OPT_SERIALIZER, ' . (Extension::hasIgbinary() && defined('Redis::SERIALIZER_IGBINARY') ? 'Redis::SERIALIZER_IGBINARY' : 'Redis::SERIALIZER_PHP') . '); } ';
        $memcached = '$client->setOptions([Memcached::OPT_COMPRESSION => false, Memcached::OPT_SERIALIZER => ' . (Extension::hasIgbinary() ? 'Memcached::SERIALIZER_IGBINARY' : 'Memcached::SERIALIZER_PHP') . ", Memcached::OPT_TCP_NODELAY => true]); \$client->addServer('127.0.0.1', {$port}); ";

        return match ($name) {
            'shared-memory' => new WebScript(
                'Larder shared memory',
                "\$value = Larder\\SharedMemory::open('{$pool}')->get(\$key);",
                "Larder\\SharedMemory::open('{$pool}')->set(\$key, \$value);",
                "Larder\\SharedMemory::remove('{$pool}');",
            ),
            'apcu' => new WebScript('APCu', '$value = apcu_fetch($key);', 'apcu_store($key, $value);'),
            'file' => new WebScript(
                'file_get_contents',
                "\$value = file_get_contents('{$root}/item-' . \$key); if (!\$isString) { \$value = " . Extension::unserialize('$value') . '; }',
                "file_put_contents('{$root}/item-' . \$key, \$isString ? \$value : " . Extension::serialize('$value') . ');',
            ),
            'redis', 'redis-persistent' => new WebScript(
                $name === 'redis' ? 'Redis over TCP' : 'Redis over TCP, persistent',
                "\$client = new Redis(); \$client->" . ($name === 'redis' ? 'connect' : 'pconnect') . "('127.0.0.1', {$port}); {$redis}\$value = \$client->get(\$key);",
                "\$client = new Redis(); \$client->connect('127.0.0.1', {$port}); {$redis}\$client->set(\$key, \$value);",
            ),
            'memcached' => new WebScript(
                'Memcached over TCP',
                "\$client = new Memcached(); {$memcached}\$value = \$client->get(\$key);",
                "\$client = new Memcached(); {$memcached}\$client->set(\$key, \$value);",
            ),
            'memcached-persistent' => new WebScript(
                'Memcached over TCP, persistent',
                "\$client = new Memcached('bench'); if (\$client->getServerList() === []) { {$memcached}} \$value = \$client->get(\$key);",
                "\$client = new Memcached(); {$memcached}\$client->set(\$key, \$value);",
            ),
            default => throw new \LogicException("There is no script {$name}."),
        };
    }

    /** Our generator and wrk, one after the other, on the empty script: they should agree. */
    private function crossCheck(Outcome $outcome, Laboratory $laboratory, LoadGenerator $generator, int $port): void
    {
        $wrk = Program::find('wrk');
        if ($wrk === null) {
            $outcome->notes[] = 'The load generator was not checked against wrk, because wrk is not installed.';

            return;
        }
        $path = '/empty-hello.php';
        $case = ['keep-alive' => 'on', 'concurrency' => '50'];
        $ours = new Measurement($case, 'rate seen by two generators', 'requests per second', Direction::HigherIsBetter, 'generator');
        $theirs = new Measurement($case, 'rate seen by two generators', 'requests per second', Direction::HigherIsBetter, 'wrk');
        $outcome->titles += ['generator' => 'our generator', 'wrk' => 'wrk'];
        for ($block = 0; $block < 4; $block++) {
            $done = $generator->run($port, $path, 50, true, 1.0);
            $ours->add(0, $block, $done['requests'] / $done['seconds']);
            $process = proc_open(
                [...$laboratory->placement->client, $wrk, '-t1', '-c50', '-d1s', "http://127.0.0.1:{$port}{$path}"],
                [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']],
                $pipes,
            );
            $report = $process === false ? '' : (string) stream_get_contents($pipes[1]);
            if ($process !== false) {
                proc_close($process);
            }
            if (preg_match('/^Requests\/sec:\s+([\d.]+)/m', $report, $match) === 1) {
                $theirs->add(0, $block, (float) $match[1]);
            }
        }
        array_push($outcome->measurements, $ours, $theirs);
    }
}
