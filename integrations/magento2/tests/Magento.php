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
