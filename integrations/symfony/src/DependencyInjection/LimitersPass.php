<?php

declare(strict_types=1);

namespace Larder\Symfony\DependencyInjection;

use Larder\Symfony\LarderBundle;
use Symfony\Component\DependencyInjection\ChildDefinition;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;

/** Gives limiters that count in larder.rate_limiter_storage their locks, also where framework.lock names others. Without them, hits are lost. */
final class LimitersPass implements CompilerPassInterface
{
    public function process(ContainerBuilder $container): void
    {
        foreach ($container->getDefinitions() as $limiter) {
            if (!$limiter instanceof ChildDefinition || $limiter->getParent() !== 'limiter') {
                continue;
            }
            $storage = $limiter->getArguments()['index_1'] ?? null;
            if ($storage instanceof Reference && (string) $storage === LarderBundle::LIMITS) {
                $limiter->replaceArgument(2, new Reference(LarderBundle::LIMITERS_LOCKS));
            }
        }
    }
}
