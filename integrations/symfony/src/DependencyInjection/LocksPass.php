<?php

declare(strict_types=1);

namespace Larder\Symfony\DependencyInjection;

use Larder\Symfony\LockStore;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;

/** Lets framework.lock name larder.lock_store: Symfony's factory makes stores of connections, and knows no service that is a store. */
final class LocksPass implements CompilerPassInterface
{
    public function process(ContainerBuilder $container): void
    {
        foreach (array_keys($container->findTaggedServiceIds('lock.store')) as $id) {
            $store = $container->getDefinition($id)->getArguments()[0] ?? null;
            // Symfony 6.4 takes the name of a service for a DSN.
            $name = $store instanceof Reference || \is_string($store) ? (string) $store : '';
            if ($container->has($name) && $container->findDefinition($name)->getClass() === LockStore::class) {
                $container->removeDefinition($id);
                $container->setAlias($id, $name);
            }
        }
    }
}
