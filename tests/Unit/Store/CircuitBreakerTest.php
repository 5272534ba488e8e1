<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Store\CircuitBreaker;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(CircuitBreaker::class)]
final class CircuitBreakerTest extends TestCase
{
    private Scratch $scratch;

    private float $now = 1_000_000.0;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    public function testAfterAFailureNoProcessAsksForAWhileAndThenOneDoes(): void
    {
        [$one, $two, $three] = [$this->breaker(), $this->breaker(), $this->breaker()];
        self::assertTrue($one->allows());
        $one->failed();
        $this->now += 1.9;
        self::assertSame([false, false], [$one->allows(), $two->allows()]);
        $this->now += 0.2;
        self::assertSame([true, false, false], [$two->allows(), $one->allows(), $three->allows()], 'One tries.');
        $two->failed();
        $this->now += 1.9;
        self::assertSame([false, false, false], [$one->allows(), $two->allows(), $three->allows()]);
        $this->now += 0.2;
        self::assertSame([true, false], [$three->allows(), $two->allows()]);
        $three->worked();
        self::assertTrue($this->breaker()->allows(), 'It has worked: all may.');
        self::assertSame([], glob("{$this->scratch->path}/*"));
    }

    public function testOneThatDiesWhileItTriesIsFollowedByAnother(): void
    {
        $this->breaker()->failed();
        $this->now += 2.1;
        self::assertTrue($this->breaker()->allows());
        self::assertFalse($this->breaker()->allows());
        $this->now += 2.1;
        self::assertTrue($this->breaker()->allows());
    }

    public function testWhatFailsAtOnceIsTriedAgainAMomentLater(): void
    {
        $failed = $this->breaker();
        $failed->failed(waited: false);
        $this->now += 0.04;
        self::assertSame([false, false], [$failed->allows(), $this->breaker()->allows()]);
        $this->now += 0.02;
        self::assertSame([true, false], [$this->breaker()->allows(), $this->breaker()->allows()], 'One tries.');
        $hurried = new CircuitBreaker('hurried', 0.01, 1.0, $this->scratch->path, fn(): float => $this->now);
        $hurried->failed(waited: false);
        self::assertFalse($hurried->allows());
        $this->now += 0.02;
        self::assertTrue($hurried->allows(), 'No pause is longer than was asked for.');
    }

    public function testOneThatTriesHasTheWholeTimeout(): void
    {
        $open = fn(float $timeout): CircuitBreaker => new CircuitBreaker("server {$timeout}", 2.0, $timeout, $this->scratch->path, fn(): float => $this->now);
        foreach ([[30.0, 33.0], [0.5, 0.55], [0.0, 2.0]] as [$timeout, $turn]) {
            $open($timeout)->failed();
            $this->now += 2.1;
            self::assertTrue($open($timeout)->allows());
            $found = $open($timeout);
            $this->now += $turn - 0.01;
            self::assertFalse($found->allows());
            $this->now += 0.02;
            self::assertTrue($found->allows(), 'It is taken for dead.');
        }
    }

    public function testAHolderOfItsFileKeepsNoProcessWaiting(): void
    {
        $this->breaker()->failed();
        $file = fopen((glob("{$this->scratch->path}/*") ?: [''])[0], 'r');
        self::assertIsResource($file);
        self::assertTrue(flock($file, \LOCK_EX));
        $breaker = $this->breaker();
        $breaker->failed();
        self::assertFalse($breaker->allows());
    }

    public function testAProcessThatFoundAnotherTryingGoesOnAsSoonAsThatHasWorked(): void
    {
        $failed = $this->breaker();
        $failed->failed();
        $found = $this->breaker();
        self::assertFalse($found->allows());
        $this->now += 2.1;
        $tries = $this->breaker();
        self::assertTrue($tries->allows());
        self::assertFalse($found->allows());
        self::assertFalse($failed->allows());
        $tries->worked();
        self::assertTrue($found->allows());
        self::assertTrue($failed->allows());
    }

    public function testAServerIsNotKeptFromBecauseOfAnother(): void
    {
        $this->breaker()->failed();
        self::assertTrue($this->breaker('another')->allows());
        self::assertFalse($this->breaker()->allows());
    }

    public function testARefusedUserWaitsAloneAndTheOthersKnowThatItAnswers(): void
    {
        $this->breaker()->failed();
        $this->now += 2.1;
        $refused = $this->breaker();
        self::assertTrue($refused->allows());
        self::assertFalse($this->breaker()->allows());
        $refused->refused();
        self::assertFalse($refused->allows());
        self::assertTrue($this->breaker()->allows(), 'It has answered.');
        self::assertSame([], glob("{$this->scratch->path}/*"));
        $this->now += 2.1;
        self::assertTrue($refused->allows());
    }

    public function testAClockThatIsSetBackOpensIt(): void
    {
        $breaker = $this->breaker();
        $breaker->failed();
        $this->now -= 1_000.0;
        self::assertTrue($breaker->allows());
    }

    public function testWithoutATimeThereIsNone(): void
    {
        $breaker = new CircuitBreaker('server', 0.0, 1.0, $this->scratch->path);
        $breaker->failed();
        self::assertTrue($breaker->allows());
        self::assertSame([], glob("{$this->scratch->path}/*"));
    }

    public function testADirectoryThatOthersMayWriteToIsNotUsed(): void
    {
        chmod($this->scratch->path, 0o777);
        $one = $this->breaker();
        $one->failed();
        self::assertFalse($one->allows());
        self::assertTrue($this->breaker()->allows());
        self::assertSame([], glob("{$this->scratch->path}/*"));
    }

    public function testAFileThatMakesNoSenseKeepsNoProcessAway(): void
    {
        $this->breaker()->failed();
        foreach (['', 'nonsense', '9e99', '-1', str_repeat('9', 400)] as $nonsense) {
            $files = glob("{$this->scratch->path}/*");
            self::assertIsArray($files);
            self::assertCount(1, $files);
            file_put_contents($files[0], $nonsense);
            self::assertTrue($this->breaker()->allows());
        }
    }

    public function testWhatIsNotAskedForAnyMoreIsForgotten(): void
    {
        touch("{$this->scratch->path}/breaker-old", time() - 100_000);
        $this->breaker()->failed();
        self::assertFileDoesNotExist("{$this->scratch->path}/breaker-old");
    }

    public function testTheOthersLearnTheCauseAlsoWhenItIsTriedAgain(): void
    {
        $this->breaker('server')->failed("Connection\nrefused");
        $other = $this->breaker('server');
        self::assertFalse($other->allows());
        self::assertSame('Connection refused (a moment ago)', $other->why('unknown'));
        $this->now += 2.5;
        self::assertTrue($this->breaker('server')->allows(), 'This one tries.');
        $third = $this->breaker('server');
        self::assertFalse($third->allows());
        self::assertSame('Connection refused (a moment ago)', $third->why('unknown'));
        self::assertSame('unknown', $this->breaker('another')->why('unknown'));
    }

    public function testTheCauseIsKnownWhileAnotherProcessIsAboutToTry(): void
    {
        $this->breaker()->failed('Connection refused');
        $file = fopen((glob("{$this->scratch->path}/*") ?: [''])[0], 'r');
        self::assertIsResource($file);
        self::assertTrue(flock($file, \LOCK_EX));
        $this->now += 2.1;
        $other = $this->breaker();
        self::assertFalse($other->allows());
        self::assertSame('Connection refused (a moment ago)', $other->why('unknown'));
    }

    private function breaker(string $server = 'server'): CircuitBreaker
    {
        return new CircuitBreaker($server, 2.0, 1.0, $this->scratch->path, fn(): float => $this->now);
    }
}
