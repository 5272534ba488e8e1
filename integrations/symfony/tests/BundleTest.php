<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests;

use Larder\Session\SessionHandler;
use Larder\Symfony\LarderAdapter;
use Larder\Symfony\LarderDataCollector;
use Larder\Symfony\RateLimiterLocks;
use Larder\Symfony\RateLimiterStorage;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Bundle\FrameworkBundle\Console\Application;
use Symfony\Component\Cache\Adapter\ChainAdapter;
use Symfony\Component\Cache\Adapter\TraceableTagAwareAdapter;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\DependencyInjection\Exception\InvalidArgumentException;
use Symfony\Component\EventDispatcher\EventDispatcherInterface;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpKernel\Profiler\Profiler;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Contracts\Cache\CacheInterface;
use Symfony\Contracts\Cache\ItemInterface;
use Symfony\Contracts\Cache\TagAwareCacheInterface;
use Twig\Environment;

/** Real kernels take Larder by configuration. */
#[CoversNothing]
final class BundleTest extends TestCase
{
    private Pools $pools;

    private ?Site $site = null;

    protected function setUp(): void
    {
        $this->pools = new Pools();
    }

    protected function tearDown(): void
    {
        $this->site?->shutdown();
        // The debug kernel's error handler is not the next test's.
        while (set_exception_handler(null) !== null) {
            restore_exception_handler();
            restore_exception_handler();
        }
    }

    public function testPoolsTakeDsnsAndKeepTagsThemselves(): void
    {
        $this->boot(<<<YAML
                    cache:
                        app: cache.adapter.larder
                        pools:
                            plain.pool: { adapter: cache.adapter.larder }
                            tagged.pool: { adapter: cache.adapter.larder, provider: '{$this->pools->dsn('SQLite')}', tags: true, default_lifetime: 60 }
                            named.pool: { adapter: cache.adapter.larder, provider: '%env(PLACE)%', tags: true }
                            after.pool: { adapter: tagged.pool }
                            chained.pool: { adapters: { 0: cache.adapter.array, 'array:': cache.adapter.larder } }
            YAML, ['cache.app', 'cache.app.taggable', 'plain.pool', '.plain.pool.taggable', 'tagged.pool', 'named.pool', 'after.pool', 'chained.pool'], environment: ['PLACE' => $this->pools->dsn('APCu in front of SQLite')]);
        foreach (['cache.app', 'cache.app.taggable', 'plain.pool', '.plain.pool.taggable', 'tagged.pool', 'named.pool', 'after.pool'] as $id) {
            $pool = $this->service($id, LarderAdapter::class);
            self::assertSame('first', $pool->get('key', static function (ItemInterface $item): string {
                $item->tag('red');

                return 'first';
            }));
        }
        self::assertSame($this->service('plain.pool', CacheInterface::class), $this->service('.plain.pool.taggable', TagAwareCacheInterface::class));
        $this->service('tagged.pool', LarderAdapter::class)->invalidateTags(['red']);
        self::assertFalse($this->service('tagged.pool', LarderAdapter::class)->hasItem('key'));
        self::assertTrue($this->service('named.pool', LarderAdapter::class)->hasItem('key'));
        self::assertTrue($this->service('plain.pool', LarderAdapter::class)->hasItem('key'));
        self::assertFileExists("{$this->pools->path()}/cache.db");
        $chain = $this->service('chained.pool', ChainAdapter::class);
        self::assertSame(1, $chain->get('key', static fn(): int => 1));
    }

    public function testSymfonysCommandsReachThePools(): void
    {
        $this->boot(<<<'YAML'
                    cache:
                        pools:
                            tagged.pool: { adapter: cache.adapter.larder, tags: true }
                            other.pool: { adapter: cache.adapter.larder }
            YAML, ['tagged.pool', 'other.pool']);
        $pool = $this->service('tagged.pool', LarderAdapter::class);
        $other = $this->service('other.pool', LarderAdapter::class);
        $fill = static function () use ($pool, $other): void {
            foreach ([$pool, $other] as $each) {
                $each->save($each->getItem('a')->set(1)->tag('red'));
                $each->save($each->getItem('b')->set(1)->tag('blue'));
            }
        };
        $hits = static fn(): string => implode('', array_map(static fn(LarderAdapter $each): string => (int) $each->hasItem('a') . (int) $each->hasItem('b') . ' ', [$pool, $other]));
        $fill();
        self::assertStringContainsString('tagged.pool', $this->command('cache:pool:list'));
        self::assertStringContainsString('Pruning', $this->command('cache:pool:prune'));
        self::assertSame('11 11 ', $hits());
        $this->command('cache:pool:invalidate-tags', ['tags' => ['red'], '--pool' => ['tagged.pool']]);
        self::assertSame('01 11 ', $hits());
        $this->command('cache:pool:invalidate-tags', ['tags' => ['blue']]);
        self::assertSame('00 10 ', $hits());
        $fill();
        $this->command('cache:pool:delete', ['pool' => 'tagged.pool', 'key' => 'a']);
        self::assertSame('01 11 ', $hits());
        $this->command('cache:pool:clear', ['pools' => ['tagged.pool']]);
        self::assertSame('00 11 ', $hits());
        $this->command('cache:pool:clear', ['--all' => true]);
        self::assertSame('00 00 ', $hits());
    }

    public function testTheProfilerShowsThePoolsAndTheirStores(): void
    {
        $this->boot(<<<'YAML'
                    test: true
                    router: { utf8: true, resource: '%kernel.project_dir%/routes.yaml' }
                    profiler: { collect: true }
                    cache:
                        pools:
                            tagged.pool: { adapter: cache.adapter.larder, tags: true }
            YAML, ['tagged.pool', 'profiler', 'twig'], debug: true, more: "web_profiler: { toolbar: true }\n");
        $pool = $this->service('tagged.pool', TraceableTagAwareAdapter::class);
        $pool->get('key', static fn(): int => 1);
        $site = $this->site ?? self::fail();
        $request = Request::create('/absent');
        $response = $site->handle($request);
        $site->terminate($request, $response);
        $profile = $this->service('profiler', Profiler::class)->loadProfile((string) $response->headers->get('X-Debug-Token'));
        $collector = $profile?->getCollector('larder');
        self::assertInstanceOf(LarderDataCollector::class, $collector);
        self::assertSame(['SharedMemoryStore', true, false], [$collector->getStores()[0]['store'], $collector->getStores()[0]['available'], $collector->isTroubled()]);
        $template = $this->service('twig', Environment::class)->load('@Larder/collector.html.twig');
        $page = $template->renderBlock('panel', ['collector' => $collector]);
        self::assertStringContainsString('SharedMemoryStore', $page);
        self::assertStringContainsString('Larder', $template->renderBlock('menu', ['collector' => $collector]));
        self::assertStringContainsString('available', $template->renderBlock('toolbar', ['collector' => $collector, 'profiler_url' => '/', 'token' => 'x', 'name' => 'larder']));
    }

    public function testMessengerComputesAnItemBeforeItExpires(): void
    {
        if (!interface_exists(MessageBusInterface::class)) {
            self::markTestSkipped('Messenger is not here in the version of this Symfony.');
        }
        $this->boot(<<<'YAML'
                    messenger:
                        transports: { later: 'in-memory://?serialize=true' }
                        routing: { Symfony\Component\Cache\Messenger\EarlyExpirationMessage: later }
                    cache:
                        pools:
                            early.pool: { adapter: cache.adapter.larder, tags: true, early_expiration_message_bus: messenger.default_bus }
            YAML, ['early.pool', Recipe::class, 'messenger.transport.later', 'messenger.default_bus'], more: 'services: { ' . Recipe::class . ": { tags: [container.reversible] } }\n");
        $pool = $this->service('early.pool', LarderAdapter::class);
        $recipe = $this->service(Recipe::class, Recipe::class);
        self::assertSame('computed 1', $pool->get('key', $recipe));
        $work = function () use ($pool, $recipe): void {
            $kept = $pool->getItem('key')->get();
            $calls = $recipe->calls;
            self::assertSame($kept, $pool->get('key', $recipe, 1e300));
            self::assertSame($calls, $recipe->calls);
            $queue = $this->service('messenger.transport.later', \Symfony\Component\Messenger\Transport\InMemory\InMemoryTransport::class);
            $messages = [...$queue->get()];
            self::assertCount(1, $messages);
            $queue->ack($messages[0]);
            $this->service('messenger.default_bus', MessageBusInterface::class)->dispatch($messages[0]->with(new \Symfony\Component\Messenger\Stamp\ReceivedStamp('later')));
            self::assertSame($calls + 1, $recipe->calls);
        };
        $work();
        $item = $pool->getItem('key');
        self::assertSame('computed 2', $item->get());
        self::assertSame(['recipe' => 'recipe'], $item->getMetadata()[ItemInterface::METADATA_TAGS]);
        self::assertGreaterThanOrEqual(2, $item->getMetadata()[ItemInterface::METADATA_CTIME]);
        // What another process has invalidated while the worker computed it is not kept.
        $recipe->meanwhile = static fn() => Crowd::of(1, static fn(): int => (int) !$pool->invalidateTags(['recipe']));
        $work();
        self::assertFalse($pool->hasItem('key'));
        $recipe->meanwhile = null;
        self::assertSame('computed 4', $pool->get('key', $recipe));
        $work();
        self::assertSame('computed 5', $pool->getItem('key')->get());
    }

    public function testAWorkerThatHasNoMessagesStopsWhenItIsToldTo(): void
    {
        if (!interface_exists(MessageBusInterface::class)) {
            self::markTestSkipped('Messenger is not here in the version of this Symfony.');
        }
        $boot = fn() => $this->boot(<<<'YAML'
                    cache: { app: cache.adapter.larder }
                    messenger: { transports: { later: 'in-memory://' } }
            YAML, ['messenger.default_bus', 'messenger.transport.later', 'event_dispatcher'], "{ dsn: 'array: > {$this->pools->dsn('SQLite')}' }");
        $boot();
        // The signal of an earlier deployment is what the worker keeps near.
        $this->command('messenger:stop-workers');
        $boot();
        $events = $this->service('event_dispatcher', EventDispatcherInterface::class);
        $queue = $this->service('messenger.transport.later', \Symfony\Component\Messenger\Transport\InMemory\InMemoryTransport::class);
        $worker = new \Symfony\Component\Messenger\Worker(['later' => $queue], $this->service('messenger.default_bus', MessageBusInterface::class), $events);
        $looks = 0;
        $events->addListener(\Symfony\Component\Messenger\Event\WorkerRunningEvent::class, function () use (&$looks, $boot, $worker): void {
            $looks++;
            if ($looks === 2) {
                $boot();
                $this->command('messenger:stop-workers');
            } elseif ($looks === 5) {
                $worker->stop();
            }
        }, -2_000);
        $worker->run(['sleep' => 1]);
        self::assertSame(3, $looks);
    }

    public function testLocksAndSessionsAreServices(): void
    {
        $dsn = $this->pools->dsn('SQLite');
        $this->boot(<<<'YAML'
                    lock: larder.lock_store
                    session: { handler_id: larder.session_handler }
            YAML, ['lock.factory', 'session.handler'], larder: "{ locks: '{$dsn}', sessions: '{$dsn}' }");
        $locks = $this->service('lock.factory', LockFactory::class);
        $lock = $locks->createLock('order');
        self::assertTrue($lock->acquire());
        self::assertFalse($locks->createLock('order')->acquire());
        $lock->release();
        $sessions = $this->service('session.handler', SessionHandler::class);
        self::assertTrue($sessions->open('', ''));
        self::assertSame('', $sessions->read('abc'));
        self::assertTrue($sessions->write('abc', 'data'));
        $sessions->close();
        self::assertSame('data', $sessions->read('abc'));
        $sessions->close();
    }

    /** @return iterable<string, array{string, string}> */
    public static function locksOfTheFramework(): iterable
    {
        yield 'with locks of its own' => ['lock: flock', ''];
        yield 'without locks' => ['', ', lock_factory: null'];
    }

    #[DataProvider('locksOfTheFramework')]
    public function testLimitersCountInAStorageThatBringsItsLocks(string $framework, string $limiter): void
    {
        $yaml = <<<YAML
                    {$framework}
                    rate_limiter:
                        api: { policy: fixed_window, limit: 2, interval: '1 hour', storage_service: larder.rate_limiter_storage{$limiter} }
            YAML;
        $this->boot($yaml, ['limiter.api'], larder: "{ rate_limits: '{$this->pools->dsn('SQLite')}' }");
        $factory = $this->service('limiter.api', RateLimiterFactory::class);
        self::assertInstanceOf(RateLimiterLocks::class, (new \ReflectionProperty($factory, 'lockFactory'))->getValue($factory));
        self::assertSame([true, true, false], [$factory->create('a')->consume()->isAccepted(), $factory->create('a')->consume()->isAccepted(), $factory->create('a')->consume()->isAccepted()]);
        self::assertNotNull((new RateLimiterStorage($this->pools->dsn('SQLite')))->fetch('api-a'));
    }

    public function testAnOptionThatTheBundleDoesNotHaveIsToldWithTheNearestThatItHas(): void
    {
        $this->expectExceptionMessage('Did you mean "dsn"');
        $this->boot('', [], larder: "{ dns: 'array:' }");
    }

    public function testTheConfigurationOnThePageForUsersIsOneThatSymfonyTakes(): void
    {
        preg_match('/^```yaml\n(.*?)^```$/ms', (string) file_get_contents(__DIR__ . '/../../../docs/symfony.md'), $block);
        $_ENV['CACHE_DSN'] = 'array:';
        mkdir("{$this->pools->path()}/var");
        $yaml = str_replace(['shm:site', 'shm:locks?evict=no', 'shm:sessions?evict=no', 'shm:limits?evict=no'], [$this->pools->dsn('shared memory'), $this->pools->dsn('SQLite'), $this->pools->dsn('SQLite'), $this->pools->dsn('SQLite')], $block[1] ?? '');
        $pools = ['cache.app', 'catalogue.pool', 'orders.pool', 'from.environment'];
        $this->site = new Site($this->pools->path(), $yaml, [...$pools, 'session.handler', 'limiter.logins']);
        $this->site->boot();
        foreach ($pools as $pool) {
            self::assertSame(1, $this->service($pool, LarderAdapter::class)->get('key', static fn(): int => 1));
        }
        $this->service('session.handler', SessionHandler::class);
        self::assertTrue($this->service('limiter.logins', RateLimiterFactory::class)->create('a')->consume()->isAccepted());
    }

    public function testAPoolWithoutAPlaceIsToldWhatToSet(): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('The pool "cache.app" is one of Larder without a place; set "larder.dsn"');
        $this->boot('        cache: { app: cache.adapter.larder }', [], larder: '~');
    }

    /** @return iterable<string, array{string}> */
    public static function encryptions(): iterable
    {
        yield 'as on Symfony\'s page' => ["    Symfony\\Component\\Cache\\Marshaller\\SodiumMarshaller:\n        decorates: cache.default_marshaller\n        arguments: [['%env(base64:KEY)%'], '@.inner']\n"];
        yield 'instead of it' => ["    cache.default_marshaller:\n        class: Symfony\\Component\\Cache\\Marshaller\\SodiumMarshaller\n        arguments: [['%env(base64:KEY)%']]\n"];
    }

    /** A site that encrypts its cache would have what is in pools of Larder readable, without a word. */
    #[DataProvider('encryptions')]
    public function testPoolsOfLarderAreNotBesideEncryptedOnesUnlessTheSiteSaysSo(string $service): void
    {
        $pools = '        cache: { pools: { plain.pool: { adapter: cache.adapter.larder } } }';
        $place = $this->pools->dsn('shared memory');
        try {
            $this->boot($pools, ['plain.pool'], more: "services:\n{$service}");
            self::fail('It boots.');
        } catch (InvalidArgumentException $mistake) {
            self::assertStringContainsString('encrypts pools of the cache, but not "plain.pool"', $mistake->getMessage());
        }
        $this->boot($pools, ['plain.pool'], "{ dsn: '{$place}', unencrypted: true }", more: "services:\n{$service}");
        self::assertSame(1, $this->service('plain.pool', LarderAdapter::class)->get('key', static fn(): int => 1));
        $this->boot('        cache: { pools: { other.pool: { adapter: cache.adapter.array } } }', ['other.pool'], more: "services:\n{$service}");
        self::assertNotNull($this->site);
    }

    public function testAWordThatADsnDoesNotHaveIsToldWithTheNearestThatItHas(): void
    {
        $this->boot("        cache: { pools: { wrong.pool: { adapter: cache.adapter.larder, provider: 'array:?itmes=5' } } }", ['wrong.pool']);
        $this->expectExceptionMessage('did you mean "items"');
        $this->service('wrong.pool', LarderAdapter::class);
    }

    /** As the library reads it: with capitals or a space before it, and whatever looks like a scheme. Symfony would name the whole of it, with its password. */
    public function testAProviderWithAWrongSchemeIsNoNameOfAService(): void
    {
        $this->boot("        cache: { pools: { capitals.pool: { adapter: cache.adapter.larder, provider: 'ARRAY:' }, spaced.pool: { adapter: cache.adapter.larder, provider: ' array:' }, wrong.pool: { adapter: cache.adapter.larder, provider: 'Redis-sentinel://:hunter2@host' } } }", ['capitals.pool', 'spaced.pool', 'wrong.pool'], larder: '~');
        $this->service('capitals.pool', LarderAdapter::class);
        $this->service('spaced.pool', LarderAdapter::class);
        $this->expectExceptionMessage('The DSN scheme "redis-sentinel" is unknown; did you mean "redis+sentinel"?');
        $this->service('wrong.pool', LarderAdapter::class);
    }

    /**
     * @param list<string>          $opened
     * @param array<string, string> $environment
     */
    private function boot(string $framework, array $opened, string $larder = '', bool $debug = false, string $more = '', array $environment = []): void
    {
        file_put_contents("{$this->pools->path()}/routes.yaml", $debug ? "_wdt: { path: '/_wdt/{token}' }\n_profiler: { path: '/_profiler/{token}' }\n" : '');
        foreach ($environment as $name => $value) {
            $_ENV[$name] = $value;
        }
        $larder = $larder === '' ? "{ dsn: '{$this->pools->dsn('shared memory')}' }" : $larder;
        $yaml = "framework:\n        secret: secret\n        http_method_override: false\n        php_errors: { log: false }\n{$framework}\n{$more}larder: {$larder}\n";
        $this->site = new Site($this->pools->path(), $yaml, $opened, $debug);
        $this->site->boot();
    }

    /**
     * @template T of object
     *
     * @param class-string<T> $class
     *
     * @return T
     */
    private function service(string $id, string $class): object
    {
        $service = $this->site?->getContainer()->get($id);
        self::assertInstanceOf($class, $service);

        return $service;
    }

    /** @param array<string, mixed> $arguments */
    private function command(string $name, array $arguments = []): string
    {
        $application = new Application($this->site ?? self::fail());
        $application->setAutoExit(false);
        $output = new BufferedOutput();
        $status = $application->run(new ArrayInput(['command' => $name, ...$arguments]), $output);
        $text = $output->fetch();
        self::assertSame(0, $status, $text);

        return $text;
    }
}
