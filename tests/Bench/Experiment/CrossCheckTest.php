<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\CrossCheck;
use Larder\Bench\Experiment\LoadGenerator;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\RedisBenchmark;
use Larder\Bench\Experiment\Saturation;
use Larder\Bench\Server\Program;
use Larder\Bench\Server\RedisServer;
use Larder\Tests\Bench\RealServers;
use Redis;

final class CrossCheckTest extends RealServers
{
    /** So few that redis-benchmark writes a value of its own under every one of them. */
    private const KEYS = 50;

    private RedisServer $server;
    private LoadGenerator $generator;

    protected function setUp(): void
    {
        $this->server = self::redis();
        $this->generator = LoadGenerator::build([]);
        $this->generator->items('resp', $this->server->endpoint(), true, 1, self::KEYS, self::KEYS, 32, [], true);
    }

    protected function tearDown(): void
    {
        $this->server->stop();
    }

    public function testBothGeneratorsReadWhatWasStoredBeforeRedisBenchmarkWritesItsOwn(): void
    {
        $outcome = new Outcome('of a test', 'Of a test', 'nothing');
        $pairs = 0;
        $this->check('redis-benchmark', 'valkey-benchmark')->run($outcome, [1, 3], 2, static function () use (&$pairs): void {
            ++$pairs;
        });

        self::assertSame(2 * 2 * 2, $pairs);
        self::assertCount(2 * 2 * 2, $outcome->measurements);
        foreach ($outcome->measurements as $measurement) {
            self::assertCount(2, $measurement->values());
            self::assertSame([], array_filter($measurement->values(), static fn(float $rate): bool => $rate <= 0));
            self::assertNotNull(Saturation::share($measurement));
        }
    }

    public function testAWrongAnswerIsAFailure(): void
    {
        $client = new Redis();
        $client->connect($this->server->socket);
        $client->del('key:000000000007');
        $this->expectExceptionMessageMatches('/^\d+ of 4000 answers to GET were wrong/');

        $this->check('redis-benchmark', 'valkey-benchmark')->run(new Outcome('of a test', 'Of a test', 'nothing'), [1], 1, static function (): void {});
    }

    public function testARedisBenchmarkThatFailsIsAFailure(): void
    {
        $this->expectExceptionMessage('redis-benchmark failed at GET with 1 clients');

        $this->check('false')->run(new Outcome('of a test', 'Of a test', 'nothing'), [1], 1, static function (): void {});
    }

    /** By the processor time that a request takes of it, which is the same however busy the machine is. */
    public function testASlowedServerTakesSeveralTimesAsLongForEachRequestAndAnswersAsBefore(): void
    {
        $took = function (bool $isWrite): float {
            $found = $this->generator->items('resp', $this->server->endpoint(), $isWrite, 10, 2_000, self::KEYS, 32, $this->server->processIds());
            self::assertSame(0, $found->errors);

            return $found->watchedTime();
        };
        $before = [$took(true), $took(false)];
        self::assertTrue(CrossCheck::slowDown($this->server));

        self::assertGreaterThan(2 * $before[0], $took(true));
        self::assertGreaterThan(2 * $before[1], $took(false));
    }

    private function check(string ...$programs): CrossCheck
    {
        self::need(...$programs);

        return new CrossCheck($this->generator, new RedisBenchmark([(string) Program::find(...$programs)], $this->server->port, self::KEYS), $this->server, self::KEYS);
    }
}
