<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\CacheManager;
use Illuminate\Cache\Repository;
use Illuminate\Contracts\Config\Repository as Configuration;
use Illuminate\Contracts\Events\Dispatcher;
use Illuminate\Contracts\Foundation\Application;
use Illuminate\Queue\Jobs\SyncJob;
use Illuminate\Session\SessionManager;
use Illuminate\Support\ServiceProvider;
use Larder\Exception\Suggestion;
use Larder\Session\SessionHandler;
use Psr\Log\LoggerInterface;

/**
 * The cache driver and the session driver "larder". In a worker, such as those of Octane and queues, each request and job begins
 * with what others have done since. A worker of a queue also sees it after a job and where it has none, as it asks the cache whether to restart.
 */
final class LarderServiceProvider extends ServiceProvider
{
    /** What begins a request or a job in a worker, or ends a job; the names alone, as the packages need not be there. */
    private const BEGINNINGS = [
        'Laravel\Octane\Events\RequestReceived',
        'Laravel\Octane\Events\TaskReceived',
        'Laravel\Octane\Events\TickReceived',
        'Illuminate\Queue\Events\Looping',
        'Illuminate\Queue\Events\JobProcessing',
        'Illuminate\Queue\Events\JobProcessed',
        'Illuminate\Queue\Events\JobExceptionOccurred',
    ];

    /** Options of a store besides "dsn", without which there is no place. Laravel and applications add others. */
    private const OPTIONS = ['prefix', 'events', 'strict'];

    public function register(): void
    {
        // Octane clones the application for each request. A singleton that is made there would be that request's alone.
        $this->app->instance(Caches::class, new Caches(fn(): LoggerInterface => $this->app->make(LoggerInterface::class)));
        // The managers take these closures for methods of their own, so they cannot be static, nor be closures over $this.
        $cache = self::cache(...);
        $this->callAfterResolving('cache', static function (CacheManager $caches) use ($cache): void {
            $caches->extend('larder', fn(Application $app, array $config): Repository => $cache($app, $config));
        });
        $sessions = self::sessions(...);
        $this->callAfterResolving('session', static function (SessionManager $manager) use ($sessions): void {
            $manager->extend('larder', fn(Application $app): SessionHandler => $sessions($app));
        });
    }

    public function boot(Dispatcher $events): void
    {
        $events->listen(self::BEGINNINGS, function (mixed $event = null): void {
            // A job that a request runs itself is a part of it: what the request has missed is still to be judged.
            if (!\is_object($event) || !($event->job ?? null) instanceof SyncJob) {
                $this->app->make(Caches::class)->begin();
            }
        });
    }

    /** @param array<mixed> $config */
    private static function cache(Application $app, array $config): Repository
    {
        $prefix = $config['prefix'] ?? $app->make(Configuration::class)->get('cache.prefix');
        if ($prefix !== null && !\is_scalar($prefix)) {
            // Without one, flushing would take what is beside it.
            throw new \InvalidArgumentException(\sprintf('The option "prefix" of the cache store is no name but %s; give it as a string, such as "shop:".', get_debug_type($prefix)));
        }
        $place = self::place($config['dsn'] ?? null, 'the cache store', 'dsn', array_keys($config));
        self::refuseMisspelt($config);
        $strict = $config['strict'] ?? false;
        if (!\is_bool($strict)) {
            throw new \InvalidArgumentException(\sprintf('The option "strict" of the cache store is %s; set it to true or false.', get_debug_type($strict)));
        }
        $classes = SerializableClasses::of($app->make(Configuration::class)->get('cache.serializable_classes'));
        $store = new LarderStore($app->make(Caches::class)->at($classes->in($place), $strict), (string) $prefix, $classes->ofWrites($place));
        // The name of the store, which events tell; Laravel 10 has none.
        $repository = new Repository($store, array_intersect_key($config, ['store' => true]));
        if (($config['events'] ?? true) !== false && $app->bound(Dispatcher::class)) {
            $repository->setEventDispatcher($app->make(Dispatcher::class));
        }

        return $repository;
    }

    /** Laravel never closes a session, so that a lock of ours would last; it has locks of its own, by block(). */
    private static function sessions(Application $app): SessionHandler
    {
        $configuration = $app->make(Configuration::class);
        $minutes = $configuration->get('session.lifetime');

        return new SessionHandler(
            $app->make(Caches::class)->at(self::place($configuration->get('session.larder'), 'the sessions', 'session.larder')),
            is_numeric($minutes) ? max(1, (int) $minutes * 60) : null,
            locking: false,
        );
    }

    /**
     * What is set under a name near that of an option which is not set was meant for it.
     *
     * @param array<mixed> $config
     */
    private static function refuseMisspelt(array $config): void
    {
        $missing = array_diff(self::OPTIONS, array_keys($config));
        foreach ($missing === [] ? [] : array_keys($config) as $name) {
            $meant = Suggestion::near((string) $name, $missing);
            if ($meant !== null && !\in_array($name, self::OPTIONS, true)) {
                throw new \InvalidArgumentException(\sprintf('The cache store has no option "%s"; set "%s" instead.', $name, $meant));
            }
        }
    }

    /** @param list<int|string> $given the names of the options that there are */
    private static function place(mixed $dsn, string $what, string $option, array $given = []): string
    {
        if (\is_string($dsn) && $dsn !== '') {
            return $dsn;
        }
        $misspelt = array_values(array_filter($given, static fn(int|string $name): bool => $name !== $option && Suggestion::near((string) $name, [$option]) !== null));

        throw new \InvalidArgumentException(\sprintf('There is no place for %s; set "%s"%s to a DSN of Larder, such as "shm:site" or "apcu: > sqlite:/var/cache/site.db".', $what, $option, $misspelt === [] ? '' : " instead of \"{$misspelt[0]}\""));
    }
}
