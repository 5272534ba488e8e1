<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Larder\Cache;
use Larder\Session\SessionHandler;
use Larder\Symfony\DependencyInjection\LimitersPass;
use Larder\Symfony\DependencyInjection\LocksPass;
use Larder\Symfony\DependencyInjection\PoolsPass;
use Symfony\Component\Config\Definition\Configurator\DefinitionConfigurator;
use Symfony\Component\DependencyInjection\Compiler\PassConfig;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\HttpKernel\Bundle\AbstractBundle;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;

/**
 * Larder in a site of Symfony. It has the adapter cache.adapter.larder, to which framework.cache gives DSNs of Larder's as providers. Where
 * they are configured, it has the services larder.lock_store, larder.session_handler and larder.rate_limiter_storage.
 */
final class LarderBundle extends AbstractBundle
{
    public const ADAPTER = 'cache.adapter.larder';

    public const PROVIDER = 'cache.default_larder_provider';

    /** The tag of the services that are caches of Larder's. */
    public const CACHE = 'larder.cache';

    /** Whether pools of Larder may lie beside pools that are encrypted. */
    public const UNENCRYPTED = 'larder.unencrypted';

    public const LIMITS = 'larder.rate_limiter_storage';

    public const LIMITERS_LOCKS = 'larder.rate_limiter_locks';

    public const WORKER_LISTENER = 'larder.worker_listener';

    public function configure(DefinitionConfigurator $definition): void
    {
        $children = $definition->rootNode()->children();
        $children->scalarNode('dsn')->defaultNull()->info('Where pools of cache.adapter.larder lie that name no provider, such as "shm:site" or "apcu: > sqlite:/var/cache/site.db".');
        $children->scalarNode('locks')->defaultNull()->info('The DSN of a store that does not evict, for the service larder.lock_store.');
        $children->scalarNode('sessions')->defaultNull()->info('The DSN of a store that does not evict, for the service larder.session_handler.');
        $children->scalarNode('rate_limits')->defaultNull()->info('The DSN of a store that does not evict, for the service larder.rate_limiter_storage.');
        $children->booleanNode('unencrypted')->defaultFalse()->info('Whether pools of Larder may lie beside pools that a SodiumMarshaller encrypts.');
    }

    /** @param array<mixed> $config */
    public function loadExtension(array $config, ContainerConfigurator $configurator, ContainerBuilder $container): void
    {
        $logger = new Reference('logger', ContainerInterface::IGNORE_ON_INVALID_REFERENCE);
        $container->setParameter(self::UNENCRYPTED, ($config['unencrypted'] ?? false) === true);
        $container->setDefinition(self::ADAPTER, (new Definition(LarderAdapter::class, ['', '', 0]))
            ->setAbstract(true)
            ->addMethodCall('setLogger', [$logger])
            ->addTag('cache.pool', ['provider' => self::PROVIDER, 'clearer' => 'cache.default_clearer', 'reset' => 'reset'])
            ->addTag('monolog.logger', ['channel' => 'cache']));
        if (\is_string($config['dsn'] ?? null)) {
            $container->setDefinition(self::PROVIDER, self::cache($config['dsn']));
        }
        if (\is_string($config['locks'] ?? null)) {
            $container->setDefinition('larder.lock_store', new Definition(LockStore::class, [self::cache($config['locks'])]));
            $container->setAlias(LockStore::class, 'larder.lock_store');
        }
        if (\is_string($config['sessions'] ?? null)) {
            $container->setDefinition('larder.session_handler', (new Definition(SessionHandler::class, ['$cache' => self::cache($config['sessions']), '$logger' => $logger]))
                ->addTag('monolog.logger', ['channel' => 'session']));
        }
        if (\is_string($config['rate_limits'] ?? null)) {
            $container->setDefinition(self::LIMITS . '.cache', self::cache($config['rate_limits']));
            $container->setDefinition(self::LIMITS, new Definition(RateLimiterStorage::class, [new Reference(self::LIMITS . '.cache')]));
            $container->setDefinition(self::LIMITERS_LOCKS, (new Definition(RateLimiterLocks::class, [new Reference(self::LIMITS . '.cache')]))
                ->setFactory([RateLimiterLocks::class, 'in']));
        }
        if (class_exists(WorkerRunningEvent::class)) {
            // Symfony removes its handler if no pool needs it.
            $container->setDefinition('larder.early_expiration', (new Definition(EarlyExpiration::class, [new Reference('.inner'), new Reference('reverse_container')]))
                ->setDecoratedService('cache.early_expiration_handler', null, 0, ContainerInterface::IGNORE_ON_INVALID_REFERENCE));
            // Before the listener that asks the cache whether workers are to stop.
            $container->setDefinition(self::WORKER_LISTENER, (new Definition(WorkerListener::class, [[]]))
                ->addTag('kernel.event_listener', ['event' => WorkerRunningEvent::class, 'method' => 'refresh', 'priority' => 10]));
        }
        if ($container->hasParameter('kernel.debug') && $container->getParameter('kernel.debug') === true) {
            $container->setDefinition('data_collector.larder', (new Definition(LarderDataCollector::class))
                ->addTag('data_collector', ['id' => 'larder', 'template' => '@Larder/collector.html.twig']));
        }
    }

    public function build(ContainerBuilder $container): void
    {
        parent::build($container);
        // Before Symfony's own, which would take a DSN for one of Redis or Memcached.
        $container->addCompilerPass(new PoolsPass(), PassConfig::TYPE_BEFORE_OPTIMIZATION, 48);
        if (interface_exists(PersistingStoreInterface::class)) {
            $container->addCompilerPass(new LocksPass(), PassConfig::TYPE_BEFORE_OPTIMIZATION, 48);
            $container->addCompilerPass(new LimitersPass(), PassConfig::TYPE_BEFORE_OPTIMIZATION, 48);
        }
    }

    /** @internal the cache that a DSN names, as a service */
    public static function cache(#[\SensitiveParameter] string $dsn): Definition
    {
        return (new Definition(Cache::class))
            ->setFactory([Cache::class, 'open'])
            ->setArguments(['$dsn' => $dsn, '$logger' => new Reference('logger', ContainerInterface::IGNORE_ON_INVALID_REFERENCE)])
            ->addTag('monolog.logger', ['channel' => 'cache'])
            ->addTag(self::CACHE);
    }
}
