<?php

declare(strict_types=1);

namespace Larder\Magento2;

use Magento\Framework\Cache\FrontendInterface;

/** A frontend of Magento's cache over the backend of Larder, as Magento's own over a backend of Zend_Cache. Magento 2.4.9 makes none of those. */
final class Frontend implements FrontendInterface
{
    private const MODES = [\Zend_Cache::CLEANING_MODE_ALL, \Zend_Cache::CLEANING_MODE_MATCHING_TAG, \Zend_Cache::CLEANING_MODE_MATCHING_ANY_TAG];

    public function __construct(
        private readonly LowLevelFrontend $core,
    ) {}

    /** @param string $identifier */
    public function test($identifier): int|false
    {
        $time = $this->core->test(strtoupper($identifier));

        return \is_int($time) ? $time : false;
    }

    /** @param string $identifier */
    public function load($identifier): string|false
    {
        $data = $this->core->load(strtoupper($identifier));

        return \is_string($data) ? $data : false;
    }

    /**
     * @param string         $data
     * @param string         $identifier
     * @param array<string>  $tags
     * @param int|false|null $lifeTime   seconds; false: that of the frontend; null: no end
     */
    public function save($data, $identifier, array $tags = [], $lifeTime = null): bool
    {
        return $this->core->save($data, strtoupper($identifier), array_map(strtoupper(...), $tags), $lifeTime);
    }

    /** @param string $identifier */
    public function remove($identifier): bool
    {
        return $this->core->remove(strtoupper($identifier));
    }

    /**
     * @param string        $mode
     * @param array<string> $tags
     *
     * @throws \InvalidArgumentException decorators could not keep to their scope in that mode
     */
    public function clean($mode = \Zend_Cache::CLEANING_MODE_ALL, array $tags = []): bool
    {
        if (!\in_array($mode, self::MODES, true)) {
            throw new \InvalidArgumentException(\sprintf('A frontend of Magento does not clean in the mode "%s"; use one of: %s.', $mode, implode(', ', self::MODES)));
        }

        return $this->core->clean($mode, array_map(strtoupper(...), $tags));
    }

    public function getBackend(): Backend
    {
        $backend = $this->core->getBackend();
        \assert($backend instanceof Backend);

        return $backend;
    }

    public function getLowLevelFrontend(): LowLevelFrontend
    {
        return $this->core;
    }
}
