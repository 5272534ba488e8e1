<?php

declare(strict_types=1);

namespace Larder\Magento2\Tests;

use Larder\Magento2\Frontend;
use Magento\Framework\App\Cache\Frontend\Factory;
use Magento\Framework\Cache\FrontendInterface;
use Magento\Framework\ObjectManagerInterface;

/** Makes frontends and decorators, and Magento's own factory under the name that the module's di.xml gives it. */
final class Objects implements ObjectManagerInterface
{
    /** @var list<array{string, array<string, mixed>}> */
    public array $made = [];

    public function create($type, array $arguments = []): object
    {
        if ($type === Scope::class) {
            $frontend = $arguments['frontend'] ?? null;
            \assert($frontend instanceof FrontendInterface);

            return new Scope($frontend, \is_string($arguments['tag'] ?? null) ? $arguments['tag'] : '');
        }
        if ($type === Frontend::class) {
            $factory = $arguments['frontendFactory'] ?? null;
            \assert($factory instanceof \Closure);

            return new Frontend($factory);
        }
        if ($type === \ArrayObject::class) {
            return new \ArrayObject();
        }
        $this->made[] = [$type, $arguments];

        return new Factory();
    }
}
