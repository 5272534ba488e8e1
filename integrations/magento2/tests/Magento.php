<?php

declare(strict_types=1);

// As much of Magento as the module meets when it is loaded and made, in our own words.

namespace Magento\Framework\Component {
    final class ComponentRegistrar
    {
        public const MODULE = 'module';

        /** @var array<string, string> */
        public static array $modules = [];

        public static function register(string $type, string $name, string $path): void
        {
            self::$modules["{$type} {$name}"] = $path;
        }
    }
}

namespace Magento\Framework\App {
    final class DeploymentConfig
    {
        /** @param array<string, mixed> $values by path */
        public function __construct(
            private readonly array $values,
        ) {}

        public function get(string $path): mixed
        {
            return $this->values[$path] ?? null;
        }
    }

    final class State
    {
        public function __construct(
            private readonly string $area,
        ) {}

        public function getAreaCode(): string
        {
            return $this->area;
        }
    }
}

namespace Magento\Framework\App\Config {
    interface ScopeConfigInterface
    {
        /**
         * @param string  $path
         * @param string  $scopeType
         * @param ?string $scopeCode
         *
         * @return mixed
         */
        public function getValue($path, $scopeType = 'default', $scopeCode = null);
    }
}

namespace Magento\Framework {
    interface ObjectManagerInterface
    {
        /**
         * @param string               $type
         * @param array<string, mixed> $arguments
         *
         * @return mixed
         */
        public function create($type, array $arguments = []);
    }

    class Filesystem
    {
        /** @param string $code */
        public function getDirectoryRead($code): Filesystem\Directory\Read
        {
            return new Filesystem\Directory\Read("/shop/{$code}/");
        }
    }
}

namespace Magento\Framework\Filesystem\Directory {
    final class Read
    {
        public function __construct(
            private readonly string $path,
        ) {}

        public function getAbsolutePath(): string
        {
            return $this->path;
        }
    }
}

namespace Magento\Framework\App\Filesystem {
    final class DirectoryList
    {
        public const CONFIG = 'etc';
    }
}

namespace Magento\Framework\Cache {
    interface FrontendInterface
    {
        /**
         * @param string $identifier
         *
         * @return int|bool
         */
        public function test($identifier);

        /**
         * @param string $identifier
         *
         * @return string|bool
         */
        public function load($identifier);

        /**
         * @param string         $data
         * @param string         $identifier
         * @param array<string>  $tags
         * @param int|false|null $lifeTime
         *
         * @return bool
         */
        public function save($data, $identifier, array $tags = [], $lifeTime = null);

        /**
         * @param string $identifier
         *
         * @return bool
         */
        public function remove($identifier);

        /**
         * @param string        $mode
         * @param array<string> $tags
         *
         * @return bool
         */
        public function clean($mode = 'all', array $tags = []);

        /** @return mixed */
        public function getBackend();

        /** @return mixed */
        public function getLowLevelFrontend();
    }
}

namespace Magento\Framework\Cache {
    class Core extends \Zend_Cache_Core
    {
        public function save($data, $id = null, $tags = [], $specificLifetime = false, $priority = 8)
        {
            return parent::save($data, $id, $this->names($tags), $specificLifetime, $priority);
        }

        public function clean($mode = 'all', $tags = [])
        {
            return parent::clean($mode, $this->names($tags));
        }

        public function getIdsMatchingTags($tags = [])
        {
            return parent::getIdsMatchingTags($this->names($tags));
        }

        protected function _id($id)
        {
            return parent::_id($id === null ? null : preg_replace('/[^a-zA-Z0-9_]/', '_', str_replace('.', '__', $id)));
        }

        /**
         * @param array<string> $tags
         *
         * @return array<string>
         */
        private function names(array $tags): array
        {
            return array_map(fn(string $tag): string => (string) $this->_id($tag), $tags);
        }
    }
}

namespace Magento\Framework\Cache\Frontend\Adapter {
    use Magento\Framework\Cache\FrontendInterface;

    class Zend implements FrontendInterface
    {
        private readonly \Zend_Cache_Core $core;

        /** @param \Closure(): \Zend_Cache_Core $frontendFactory */
        public function __construct(
            public readonly \Closure $frontendFactory,
        ) {
            $this->core = $frontendFactory();
        }

        public function test($identifier): int|bool
        {
            return $this->core->test(strtoupper($identifier));
        }

        public function load($identifier): string|bool
        {
            $data = $this->core->load(strtoupper($identifier));

            return \is_string($data) ? $data : false;
        }

        public function save($data, $identifier, array $tags = [], $lifeTime = null): bool
        {
            return $this->core->save($data, strtoupper($identifier), array_map(strtoupper(...), $tags), $lifeTime);
        }

        public function remove($identifier): bool
        {
            return $this->core->remove(strtoupper($identifier));
        }

        public function clean($mode = 'all', array $tags = [])
        {
            if (!\in_array($mode, ['all', 'matchingTag', 'matchingAnyTag'], true)) {
                throw new \InvalidArgumentException("It does not clean in the mode {$mode}.");
            }

            return $this->core->clean($mode, array_map(strtoupper(...), $tags));
        }

        public function getBackend(): object
        {
            return $this->core->getBackend();
        }

        public function getLowLevelFrontend(): \Zend_Cache_Core
        {
            return $this->core;
        }
    }
}

namespace Magento\Framework\App\Cache\Frontend {
    use Magento\Framework\Cache\FrontendInterface;

    /** That of Magento 2.4.9: the name of a class is none that it knows, so it takes files. */
    class Factory
    {
        public const DEFAULT_LIFETIME = 7200;

        /**
         * @param array<mixed> $options
         *
         * @return FrontendInterface
         *
         * @throws \LogicException
         */
        public function create(array $options)
        {
            throw new \LogicException('It caches in files: ' . json_encode($options));
        }
    }
}
