<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\FileSystem;
use Larder\Bench\Server\Program;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\Values;
use Random\Randomizer;
use Symfony\Component\Process\Process;

/** What one read costs a request: nginx and php-fpm with a script for each subject, an empty one among them. */
final class Web implements Experiment
{
    private const RATE = 'requests per second';
    private const COLUMNS = ['p50 ns', 'p99 ns', 'errors', 'client cpu', 'server cpu', Saturation::SHARE];
    /** The two that a promise compares, which are neighbours in every turn and have turns of their own. */
    private const PAIR = ['empty', 'shared-memory'];
    /**
     * The share of the slowest script's rate at which latencies are measured: a busy server, not an overloaded one, whose requests wait the
     * longer the longer it is measured.
     */
    private const LOAD = 0.4;

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
            . 'that read the text "hello world" once. Ours makes requests for a fixed time, in slices so short that a disturbance of the machine disturbs all scripts. Its generator runs on another processor than the servers where there is one. It adds keep-alive, the array of 600 options, SQLite, Unix sockets, and latencies under a fixed load. '
            . 'What APCu before SQLite costs a request when nothing was written, requests time themselves. '
            . 'The Redis and Memcached scripts connect with each request, as the source\'s do, unless they say persistent.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(128, 768, $profile === Profile::Quick ? 98 : 546);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $plan = WebPlan::of($laboratory->profile);
        $outcome->parameters = [
            'php-fpm workers' => Site::WORKERS, 'nginx workers' => 1, 'milliseconds a slice' => (int) (1000 * $plan->seconds),
            'starts of nginx and php-fpm' => $plan->starts, 'turns of all scripts in each' => $plan->turns,
            'turns of the empty script and shared memory alone' => $plan->pairs,
        ];
        $generator = LoadGenerator::build($laboratory->placement->client);
        $cases = $this->cases();
        $progress->begin($this->title(), 1 + $plan->starts * (2 + count(array_merge(...array_map($plan->runs(...), $cases)))));
        for ($start = 0; $start < $plan->starts; $start++) {
            $laboratory->goOn();
            $root = TemporaryDirectory::make(FileSystem::onDisk());
            $scripts = WebScripts::of($laboratory, $outcome, $root->path);
            $progress->advance('starting nginx and php-fpm');
            try {
                $site = Site::start($laboratory, $scripts->scripts, [Values::named('alloptions'), Values::named('hello')], $scripts->servers, $root);
            } catch (ServerFailed $failure) {
                $outcome->fail('empty', $failure);
                break;
            }
            $laboratory->describe($site->descriptions());
            $turns = new WebTurns($outcome, $generator, $site, $start, self::COLUMNS);
            foreach ($cases as $case) {
                $this->takeTurns($laboratory, $progress, $plan, $turns, array_keys($scripts->scripts), $case);
            }
            $progress->advance('a tier in a request');
            TierRequests::measure($laboratory, $outcome, $site, $root->path, $start, $plan->tiers);
            if ($start === 0) {
                $progress->advance('latencies under load');
                $this->latencies($laboratory, $outcome, $generator, $site, array_keys($scripts->scripts), $plan);
                $this->crossCheck($outcome, $laboratory, $generator, $site->port(), $plan->checks);
            }
            unset($turns, $site, $root);
        }
        Saturation::mark($outcome);
        $progress->end();
    }

    /**
     * @param list<string> $names
     * @param array{value: string, keep-alive: string, concurrency: string} $case
     */
    private function takeTurns(Laboratory $laboratory, Progress $progress, WebPlan $plan, WebTurns $turns, array $names, array $case): void
    {
        $turn = 0;
        foreach ($plan->runs($case) as $run => $length) {
            $laboratory->goOn();
            $progress->advance("{$case['value']}, concurrency {$case['concurrency']}, keep-alive {$case['keep-alive']}");
            $orders = [];
            do {
                $orders[$turn++] = $run < $plan->turns ? $this->order($names) : $this->shuffled(array_values(array_intersect(self::PAIR, $names)));
            } while (--$length > 0);
            $turns->take($orders, $case, $plan->seconds);
        }
    }

    /**
     * All scripts in a random order, the empty one twice: what it differs by from itself is noise. It is beside the
     * script that it is compared with, so that the two share what disturbs them.
     *
     * @param list<string> $names
     * @return non-empty-list<string> the second empty one has an asterisk
     */
    private function order(array $names): array
    {
        $neighbours = array_values(array_intersect(self::PAIR, $names));
        $groups = array_map(static fn(string $name): array => [$name], [...array_diff($names, $neighbours)]);
        $groups[] = [...$this->shuffled($neighbours), 'empty*'];

        return array_merge(...(new Randomizer())->shuffleArray($groups));
    }

    /**
     * @param list<string> $names
     * @return non-empty-list<string>
     */
    private function shuffled(array $names): array
    {
        $shuffled = (new Randomizer())->shuffleArray($names);

        return $shuffled === [] ? ['empty'] : $shuffled;
    }

    /** @return list<array{value: string, keep-alive: string, concurrency: string}> */
    private function cases(): array
    {
        $cases = [];
        foreach (['alloptions' => ['off', 'on'], 'hello' => ['off', 'on']] as $value => $keepAlive) {
            foreach ($keepAlive as $setting) {
                foreach (['1', '50'] as $concurrency) {
                    $cases[] = ['value' => $value, 'keep-alive' => $setting, 'concurrency' => $concurrency];
                }
            }
        }

        return $cases;
    }

    /**
     * How long requests take that arrive at a fixed rate, the same for all scripts.
     *
     * @param list<string> $names
     */
    private function latencies(Laboratory $laboratory, Outcome $outcome, LoadGenerator $generator, Site $site, array $names, WebPlan $plan): void
    {
        $rates = [];
        foreach ($names as $name) {
            $laboratory->goOn();
            $full = $generator->pages($site->port(), ["/{$name}-alloptions.php"], 50, true, 0.3)[0] ?? null;
            if ($full !== null && $full->requests > 0) {
                $rates[] = $full->rate();
            }
        }
        $rate = round(self::LOAD * ($rates === [] ? 100.0 : min($rates)));
        $outcome->parameters['requests a second at which latencies are measured'] = (int) $rate;
        // Without the rate, which is another in each run: so that two runs can be compared.
        $case = ['value' => 'alloptions', 'load' => sprintf('%d %% of what the slowest script can do', 100 * self::LOAD)];
        for ($block = 0; $block < $plan->latencyTurns; $block++) {
            foreach ($this->shuffled($names) as $name) {
                $laboratory->goOn();
                $slice = $generator->pages($site->port(), ["/{$name}-alloptions.php"], 50, true, $plan->latencySeconds, [], $rate)[0] ?? null;
                if ($slice === null) {
                    continue;
                }
                foreach (['p50' => 'median latency', 'p99' => '99th percentile of latency'] as $percentile => $metric) {
                    $outcome->measurement($case, $metric, 'ns from the intended start', Direction::LowerIsBetter, $name, false, ['errors', Saturation::SHARE])
                        ->add(0, $block, $slice->latency[$percentile], $slice->errors, $slice->generatorShare());
                }
                if ($slice->errors > 0) {
                    $outcome->notes[] = sprintf('%d requests of %s failed (%s).', $slice->errors, $name, implode(', ', $case));
                }
            }
        }
    }

    /** Our generator and wrk, one after the other, on the empty script: they should agree. */
    private function crossCheck(Outcome $outcome, Laboratory $laboratory, LoadGenerator $generator, int $port, int $blocks): void
    {
        $wrk = Program::find('wrk');
        if ($wrk === null) {
            $outcome->notes[] = 'The load generator was not checked against wrk, because wrk is not installed: install the package wrk.';

            return;
        }
        $path = '/empty-hello.php';
        $case = ['keep-alive' => 'on', 'concurrency' => '50'];
        $outcome->titles += ['generator' => 'our generator', 'wrk' => 'wrk'];
        for ($block = 0; $block < $blocks; $block++) {
            $laboratory->goOn();
            $slice = $generator->pages($port, [$path], 50, true, 1.0)[0] ?? null;
            $theirs = self::wrk([...$laboratory->placement->client, $wrk], "http://127.0.0.1:{$port}{$path}");
            foreach (['generator' => $slice?->rate(), 'wrk' => $theirs] as $subject => $rate) {
                if ($rate !== null) {
                    $outcome->measurement($case, Saturation::COMPARISON, self::RATE, Direction::HigherIsBetter, $subject)->add(0, $block, $rate);
                }
            }
        }
    }

    /**
     * @param list<string> $command
     * @return float|null requests a second
     */
    private static function wrk(array $command, string $address): ?float
    {
        $process = new Process([...$command, '-t1', '-c50', '-d1s', $address], timeout: null);
        $process->run();

        return preg_match('/^Requests\/sec:\s+([\d.]+)/m', $process->getOutput(), $match) === 1 ? (float) $match[1] : null;
    }
}
