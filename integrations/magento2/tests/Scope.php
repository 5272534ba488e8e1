<?php

declare(strict_types=1);

namespace Larder\Magento2\Tests;

use Magento\Framework\Cache\FrontendInterface;

/** A decorator of frontends. */
final class Scope implements FrontendInterface
{
    public function __construct(
        public readonly FrontendInterface $frontend,
        public readonly string $tag,
    ) {}

    public function test($identifier): int|bool
    {
        return $this->frontend->test($identifier);
    }

    public function load($identifier): string|bool
    {
        return $this->frontend->load($identifier);
    }

    public function save($data, $identifier, array $tags = [], $lifeTime = null): bool
    {
        return $this->frontend->save($data, $identifier, $tags, $lifeTime);
    }

    public function remove($identifier): bool
    {
        return $this->frontend->remove($identifier);
    }

    public function clean($mode = 'all', array $tags = []): bool
    {
        return $this->frontend->clean($mode, $tags);
    }

    public function getBackend(): mixed
    {
        return $this->frontend->getBackend();
    }

    public function getLowLevelFrontend(): mixed
    {
        return $this->frontend->getLowLevelFrontend();
    }

    public function core(): \Zend_Cache_Core
    {
        $core = $this->getLowLevelFrontend();
        \assert($core instanceof \Zend_Cache_Core);

        return $core;
    }
}
