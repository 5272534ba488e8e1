<?php

declare(strict_types=1);

namespace Larder\Magento2;

use Magento\Framework\App\Cache\Frontend\Factory;
use Magento\Framework\App\Filesystem\DirectoryList;
use Magento\Framework\Cache\Core;
use Magento\Framework\Cache\FrontendInterface;
use Magento\Framework\Filesystem;
use Magento\Framework\ObjectManagerInterface;

/**
 * Makes the frontends whose backend in env.php is Larder's, of the classes that Magento to 2.4.8 makes them of. Magento makes all others.
 *
 * Magento 2.4.9 has these classes, and uses them no more. Its factory takes the name of a class for that of an unknown backend, says nothing, and
 * caches in files.
 *
 * The names of the arguments are those of Magento's factory, as di.xml gives them.
 */
class FrontendFactory extends Factory
{
    /** Magento's own factory, in di.xml. */
    private const OTHERS = 'Larder\Magento2\FactoryOfOthers';

    private ?Factory $others = null;

    /**
     * @param array<mixed>                                                               $enforcedOptions
     * @param array<array-key, array{class?: string, parameters?: array<string, mixed>}> $decorators
     */
    public function __construct(
        private readonly ObjectManagerInterface $objectManager,
        private readonly Filesystem $filesystem,
        private readonly array $enforcedOptions = [],
        private readonly array $decorators = [],
    ) {}

    /**
     * @param array<mixed> $options of a frontend in env.php
     *
     * @return FrontendInterface
     *
     * @throws \Zend_Cache_Exception the options of the backend are wrong, or a class that env.php names is none
     * @throws \LogicException       a decorator is none, or Magento's own factory says so
     */
    public function create(array $options)
    {
        $given = $options;
        $options = array_replace_recursive($options, $this->enforcedOptions);
        $backend = \is_string($options['backend'] ?? null) ? ltrim($options['backend'], '\\') : '';
        if (!is_a($backend, Backend::class, true)) {
            if (preg_match('/^larder(\W|_|$)/i', $backend) === 1) {
                // Magento would say nothing, and cache in files.
                \Zend_Cache::throwException(\sprintf('The backend "%s" in app/etc/env.php is none for Magento 2; take %s.', $backend, Backend::class));
            }

            return $this->others()->create($given);
        }
        // Magento calls it once more in each process that it forks.
        $frontend = $this->objectManager->create(Frontend::class, ['frontendFactory' => fn(): \Zend_Cache_Core => $this->core($options, $backend)]);
        \assert($frontend instanceof FrontendInterface);
        foreach ($this->decorators as $decorator) {
            $class = $decorator['class'] ?? throw new \LogicException('A decorator of cache frontends has no class; give it one in di.xml.');
            $frontend = $this->objectManager->create($class, ['frontend' => $frontend] + ($decorator['parameters'] ?? []));
            if (!$frontend instanceof FrontendInterface) {
                throw new \UnexpectedValueException(\sprintf('The decorator %s is no cache frontend; let it implement %s.', $class, FrontendInterface::class));
            }
        }

        return $frontend;
    }

    /**
     * @param array<mixed>          $options
     * @param class-string<Backend> $backend
     */
    private function core(array $options, string $backend): \Zend_Cache_Core
    {
        $class = $options['frontend'] ?? Core::class;
        if (!\is_string($class) || !is_a($class, \Zend_Cache_Core::class, true)) {
            \Zend_Cache::throwException(\sprintf('The option "frontend" of a cache frontend in app/etc/env.php is no class of %s; leave it out.', \Zend_Cache_Core::class));
        }
        $core = new $class($this->settings($options));
        $core->setBackend(new $backend(\is_array($options['backend_options'] ?? null) ? $options['backend_options'] : []));

        return $core;
    }

    /**
     * @param array<mixed> $options
     *
     * @return array<mixed>
     */
    private function settings(array $options): array
    {
        $prefix = ($options['id_prefix'] ?? '') ?: ($options['prefix'] ?? '');
        $settings = \is_array($options['frontend_options'] ?? null) ? $options['frontend_options'] : [];

        return [
            // That of Magento's factory. So items that were saved before are found.
            'cache_id_prefix' => $prefix ?: substr(md5($this->filesystem->getDirectoryRead(DirectoryList::CONFIG)->getAbsolutePath()), 0, 3) . '_',
        ] + $settings + ['caching' => true, 'lifetime' => $options['lifetime'] ?? self::DEFAULT_LIFETIME, 'automatic_cleaning_factor' => 0];
    }

    private function others(): Factory
    {
        if ($this->others === null) {
            $others = $this->objectManager->create(self::OTHERS);
            \assert($others instanceof Factory);
            $this->others = $others;
        }

        return $this->others;
    }
}
