<?php

declare(strict_types=1);

namespace Larder\Magento2;

use Magento\Framework\App\Cache\Frontend\Factory;
use Magento\Framework\App\Filesystem\DirectoryList;
use Magento\Framework\Cache\FrontendInterface;
use Magento\Framework\Filesystem;
use Magento\Framework\ObjectManagerInterface;

/**
 * Makes the frontends whose backend in env.php is Larder's. Magento makes all others.
 *
 * The factory of Magento 2.4.9 takes the name of a class for that of an unknown backend, says nothing, and caches in files.
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
     * @throws \Zend_Cache_Exception the options of the backend are wrong
     * @throws \LogicException       a decorator is none, or Magento's own factory says so
     */
    public function create(array $options)
    {
        $given = $options;
        $options = array_replace_recursive($options, $this->enforcedOptions);
        $backend = \is_string($options['backend'] ?? null) ? ltrim($options['backend'], '\\') : '';
        if (!is_a($backend, Backend::class, true)) {
            return $this->others()->create($given);
        }
        $core = new LowLevelFrontend($this->settings($options));
        $core->setBackend(new $backend(\is_array($options['backend_options'] ?? null) ? $options['backend_options'] : []));
        $frontend = new Frontend($core);
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
     * @param array<mixed> $options
     *
     * @return array<mixed>
     */
    private function settings(array $options): array
    {
        $prefix = ($options['id_prefix'] ?? '') ?: ($options['prefix'] ?? '');
        $settings = \is_array($options['frontend_options'] ?? null) ? $options['frontend_options'] : [];

        return [
            // So items that Magento's own frontend has saved are found.
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
