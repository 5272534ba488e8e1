<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Symfony\Contracts\Cache\NamespacedPoolInterface;

// Symfony's interface came with version 3.6 of its cache contracts; a class can only say that it has it where it is.
if (interface_exists(NamespacedPoolInterface::class)) {
    /** @internal */
    interface SubNamespaces extends NamespacedPoolInterface {}
} else {
    /** @internal */
    interface SubNamespaces
    {
        public function withSubNamespace(string $namespace): static;
    }
}
