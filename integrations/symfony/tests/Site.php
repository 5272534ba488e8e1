<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests;

use Larder\Symfony\LarderBundle;
use Psr\Log\NullLogger;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\TwigBundle\TwigBundle;
use Symfony\Bundle\WebProfilerBundle\WebProfilerBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Kernel;

/** A site of Symfony with its configuration in yaml. */
final class Site extends Kernel implements CompilerPassInterface
{
    /** @param list<string> $opened services that a test wants to have */
    public function __construct(
        private readonly string $path,
        private readonly string $yaml,
        private readonly array $opened = [],
        bool $debug = false,
    ) {
        file_put_contents("{$path}/config.yaml", $yaml);
        parent::__construct('test' . hash('xxh32', $yaml), $debug);
    }

    public function registerBundles(): iterable
    {
        yield new FrameworkBundle();
        yield new LarderBundle();
        if ($this->debug) {
            yield new TwigBundle();
            yield new WebProfilerBundle();
        }
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load("{$this->path}/config.yaml");
    }

    protected function build(ContainerBuilder $container): void
    {
        $container->register('logger', NullLogger::class);
    }

    public function process(ContainerBuilder $container): void
    {
        foreach ($this->opened as $id) {
            $container->hasAlias($id) ? $container->getAlias($id)->setPublic(true) : $container->getDefinition($id)->setPublic(true);
        }
    }

    public function getProjectDir(): string
    {
        return $this->path;
    }
}
