<?php

declare(strict_types=1);

namespace Larder\Symfony\DependencyInjection;

use Larder\Symfony\LarderBundle;
use Symfony\Component\Cache\Adapter\ChainAdapter;
use Symfony\Component\Cache\Adapter\TagAwareAdapter;
use Symfony\Component\Cache\Marshaller\SodiumMarshaller;
use Symfony\Component\DependencyInjection\Argument\IteratorArgument;
use Symfony\Component\DependencyInjection\ChildDefinition;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Exception\InvalidArgumentException;
use Symfony\Component\DependencyInjection\Reference;

/**
 * Opens the DSNs that pools of Larder's name as their providers. It also removes the wrapper that Symfony puts around pools
 * of which it does not know that they keep tags themselves.
 */
final class PoolsPass implements CompilerPassInterface
{
    private const MARSHALLER = 'cache.default_marshaller';

    public function process(ContainerBuilder $container): void
    {
        $ours = [];
        foreach (array_keys($container->findTaggedServiceIds('cache.pool')) as $id) {
            $pool = $container->getDefinition($id);
            if ($this->isOurs($container, $pool)) {
                $this->provide($container, $id, $pool);
                $ours[] = $id;
            } elseif ($pool->getClass() === ChainAdapter::class) {
                $this->provideLinks($container, $pool);
            }
        }
        if ($ours !== [] && $container->hasParameter(LarderBundle::UNENCRYPTED) && $container->getParameter(LarderBundle::UNENCRYPTED) !== true) {
            $this->refuseEncryption($container, $ours[0]);
        }
        $this->unwrap($container, $ours);
        $caches = array_keys($container->findTaggedServiceIds(LarderBundle::CACHE));
        if ($container->hasDefinition('data_collector.larder')) {
            foreach ($caches as $id) {
                $container->getDefinition('data_collector.larder')->addMethodCall('add', [new Reference($id)]);
            }
        }
        if ($container->hasDefinition(LarderBundle::WORKER_LISTENER)) {
            $opened = array_map(static fn(string $id): Reference => new Reference($id, ContainerInterface::IGNORE_ON_UNINITIALIZED_REFERENCE), $caches);
            $container->getDefinition(LarderBundle::WORKER_LISTENER)->replaceArgument(0, new IteratorArgument($opened));
        }
    }

    private function isOurs(ContainerBuilder $container, Definition $pool): bool
    {
        for (; $pool instanceof ChildDefinition; $pool = $container->findDefinition($pool->getParent())) {
            if ($pool->getParent() === LarderBundle::ADAPTER) {
                return true;
            }
        }

        return false;
    }

    private function provide(ContainerBuilder $container, string $id, Definition $pool): void
    {
        $attributes = self::attributes($pool, 'cache.pool')[0] ?? [];
        if (\is_string($attributes['provider'] ?? null)) {
            $attributes['provider'] = $this->provider($container, $attributes['provider']);
            $pool->clearTag('cache.pool')->addTag('cache.pool', $attributes);
        } elseif (!$container->has(LarderBundle::PROVIDER) && !$this->hasProvider($container, $pool)) {
            throw new InvalidArgumentException(\sprintf('The pool "%s" is one of Larder without a place; set "larder.dsn", or "provider" of the pool, to a DSN such as "shm:site".', $id));
        }
    }

    /** Whether it has one from a pool that it is made after. */
    private function hasProvider(ContainerBuilder $container, Definition $pool): bool
    {
        while ($pool instanceof ChildDefinition && $pool->getParent() !== LarderBundle::ADAPTER) {
            $pool = $container->findDefinition($pool->getParent());
            if (isset(self::attributes($pool, 'cache.pool')[0]['provider'])) {
                return true;
            }
        }

        return false;
    }

    /** Symfony's page on its cache lets a service decorate the marshaller of all pools, so that they are encrypted. Those of Larder would not be. */
    private function refuseEncryption(ContainerBuilder $container, string $pool): void
    {
        foreach ($container->getDefinitions() as $id => $definition) {
            $class = $container->getParameterBag()->resolveValue($definition->getClass() ?? $id);
            if (($id === self::MARSHALLER || ($definition->getDecoratedService()[0] ?? null) === self::MARSHALLER) && \is_string($class) && is_a($class, SodiumMarshaller::class, true)) {
                throw new InvalidArgumentException(\sprintf('The service "%s" encrypts pools of the cache, but not "%s", one of Larder; give it another adapter, or set "larder.unencrypted" to true.', $id, $pool));
            }
        }
    }

    private function provideLinks(ContainerBuilder $container, Definition $chain): void
    {
        $links = $chain->getArguments()[0] ?? null;
        if (!\is_array($links)) {
            return;
        }
        $provided = [];
        foreach ($links as $provider => $adapter) {
            $isOurs = \is_string($adapter) && ($adapter === LarderBundle::ADAPTER || ($container->has($adapter) && $this->isOurs($container, $container->findDefinition($adapter))));
            if ($isOurs && \is_string($provider)) {
                $provided[$this->provider($container, $provider)] = $adapter;
            } elseif (\is_int($provider)) {
                $provided[] = $adapter;
            } else {
                $provided[$provider] = $adapter;
            }
        }
        $chain->replaceArgument(0, $provided);
    }

    /** @return string the service that it names, or the cache at the DSN that it is */
    private function provider(ContainerBuilder $container, #[\SensitiveParameter] string $provider): string
    {
        $container->resolveEnvPlaceholders($provider, null, $variables);
        if ((\is_array($variables) && $variables !== []) || preg_match('/^\s*[a-z][a-z0-9+.-]*:(?!:)/i', $provider) === 1) {
            $id = '.larder.cache.' . ContainerBuilder::hash($provider);
            if (!$container->hasDefinition($id)) {
                $container->setDefinition($id, LarderBundle::cache($provider));
            }

            return $id;
        }

        return $provider;
    }

    /** @param list<string> $ours pools */
    private function unwrap(ContainerBuilder $container, array $ours): void
    {
        foreach ($container->getDefinitions() as $id => $wrapper) {
            $wrapped = $wrapper->getClass() === TagAwareAdapter::class ? $wrapper->getArguments()[0] ?? null : null;
            if (!$wrapped instanceof Reference) {
                continue;
            }
            $pool = (string) $wrapped;
            while ($container->hasAlias($pool)) {
                $pool = (string) $container->getAlias($pool);
            }
            if (!\in_array($pool, $ours, true)) {
                continue;
            }
            $definition = $container->getDefinition($pool);
            foreach (self::attributes($wrapper, 'cache.taggable') as $attributes) {
                $definition->addTag('cache.taggable', $attributes);
            }
            $isPublic = $wrapper->isPublic();
            $container->removeDefinition($id);
            $container->setAlias($id, $pool)->setPublic($isPublic);
        }
    }

    /** @return list<array<mixed>> of each time that it has the tag */
    private static function attributes(Definition $definition, string $tag): array
    {
        return array_values(array_filter($definition->getTag($tag), \is_array(...)));
    }
}
