<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Console\DoctorCommand;
use Larder\Console\LatencyCommand;
use Larder\Console\MetricsCommand;
use Larder\Console\NearDetails;
use Larder\Console\StatsCommand;
use Larder\Console\TopCommand;
use Larder\SharedMemory;
use Larder\Store\RedisStore;
use Larder\Stores;
use Larder\Tests\CommandLine;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** The command line on a tier over a Redis. */
#[CoversClass(NearDetails::class)]
#[CoversClass(StatsCommand::class)]
#[CoversClass(TopCommand::class)]
#[CoversClass(DoctorCommand::class)]
#[CoversClass(MetricsCommand::class)]
#[CoversClass(LatencyCommand::class)]
final class TierCommandsTest extends TestCase
{
    private CacheServer $server;

    private CommandLine $larder;

    private string $far;

    private string $tier;

    private ?string $pool = null;

    protected function setUp(): void
    {
        $this->server = CacheServer::redis()->start();
        $this->larder = CommandLine::onAMachineInOrder();
        $this->far = "redis+unix:{$this->server->socket}?retry_after=0";
        $this->tier = "shm: > {$this->far}";
    }

    protected function tearDown(): void
    {
        $this->server->stop();
        if ($this->pool !== null) {
            SharedMemory::remove($this->pool);
        }
    }

    public function testWhatTheHostHasIsToldWhileTheFarStoreIsDown(): void
    {
        $cache = Cache::open($this->tier);
        $tier = $cache->store;
        self::assertInstanceOf(TieredStore::class, $tier);
        $name = $tier->statistics()->details['near name'];
        self::assertIsString($name);
        $this->pool = $name;
        $cache->set('key', 'value');
        for ($request = 0; $request < 3; $request++) {
            $tier->beginRequest();
            self::assertSame('value', $cache->get('key'));
        }
        $this->server->stop();
        $tier->beginRequest();
        self::assertNull($cache->get('key'), 'It is left aside.');

        [$code, $printed] = $this->larder->run('stats', ['dsn' => $this->tier]);
        self::assertSame(1, $code);
        self::assertStringContainsString('is unavailable', $this->larder->errors);
        foreach (['near pool +' . preg_quote($name, '/'), 'near items +[1-9]', 'near hits +[1-9]', 'near store left aside +1', 'left aside because +\S', 'left aside at +\d{4}'] as $row) {
            self::assertMatchesRegularExpression("/^{$row}/m", $printed);
        }
        [$code, $answer] = $this->larder->json('stats', ['dsn' => $this->tier]);
        self::assertIsArray($answer['details']);
        self::assertSame([1, $name, 1], [$code, $answer['details']['near name'], $answer['details']['near bypasses']]);
        [, $printed] = $this->larder->run('stats', ['dsn' => $this->tier, '--namespace' => 'part']);
        self::assertStringContainsString($name, $printed);

        [$code, $printed] = $this->larder->run('top', ['dsn' => $this->tier, '--times' => '1']);
        self::assertSame(1, $code);
        self::assertMatchesRegularExpression('/is unavailable.*^near pool +' . preg_quote($name, '/') . '$.*^near store left aside +1$/sm', $printed);
        [$code, $look] = $this->larder->json('top', ['dsn' => $this->tier, '--times' => '1']);
        self::assertArrayHasKey('failure', $look);
        self::assertIsArray($look['near']);
        self::assertSame([1, $name, 1], [$code, $look['near']['name'], $look['near']['bypasses']]);

        [$code, $printed] = $this->larder->run('metrics', ['dsn' => [$this->tier]]);
        self::assertSame(1, $code);
        self::assertMatchesRegularExpression('/^larder_up\{[^}]+\} 0$/m', $printed);
        self::assertMatchesRegularExpression('/^larder_near_items\{[^}]+\} [1-9]/m', $printed);
        self::assertMatchesRegularExpression('/^larder_near_bypasses_total\{[^}]+\} 1$/m', $printed);

        [$code, $printed] = $this->larder->run('doctor', ['dsn' => [$this->tier]]);
        self::assertSame(1, $code);
        self::assertMatchesRegularExpression('/is unavailable.*The near store is the pool "' . preg_quote($name, '/') . '".*The near store has \S+ items?\..*look-ups.*one request left it aside/is', $printed);

        foreach (['stats', 'top', 'metrics', 'doctor'] as $command) {
            $of = \in_array($command, ['metrics', 'doctor'], true) ? [$this->far] : $this->far;
            self::assertStringNotContainsString('near', $this->larder->run($command, ['dsn' => $of, ...$command === 'top' ? ['--times' => '1'] : []])[1]);
        }
    }

    public function testToMeasureAStoreIsNoReasonForItsNearStoresToBeginAnew(): void
    {
        $cache = Cache::open($this->tier);
        $tier = $cache->store;
        self::assertInstanceOf(TieredStore::class, $tier);
        $name = $tier->statistics()->details['near name'];
        $this->pool = \is_string($name) ? $name : null;
        [$code, $answer] = $this->larder->json('latency', ['dsn' => $this->far]);
        self::assertSame([0, 1_000, 1_000], [$code, $answer['times'], $answer['writes']], 'Nobody follows it.');
        $store = Stores::open($this->far);
        self::assertInstanceOf(RedisStore::class, $store);
        self::assertFalse($store->log()->isFollowed());

        $cache->set('key', 'value');
        $cache->get('key');
        self::assertTrue($store->log()->isFollowed());
        $before = $tier->statistics()->details['near beginnings'];
        [$code, $answer] = $this->larder->json('latency', ['dsn' => $this->far]);
        self::assertSame([0, 1_000, 100], [$code, $answer['times'], $answer['writes']]);
        [$code, $printed] = $this->larder->run('latency', ['dsn' => $this->far, '--namespace' => 'part']);
        self::assertSame(0, $code);
        self::assertStringContainsString('100 saves and deletes', $printed);
        $tier->beginRequest();
        self::assertSame('value', $cache->get('key'));
        self::assertSame($before, $tier->statistics()->details['near beginnings']);
        [, $answer] = $this->larder->json('latency', ['dsn' => $this->tier]);
        self::assertSame(100, $answer['writes']);
    }
}
