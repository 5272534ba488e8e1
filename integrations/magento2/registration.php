<?php

declare(strict_types=1);

use Magento\Framework\Component\ComponentRegistrar;

// Composer loads this wherever the package is installed, such as for its own tests.
if (class_exists(ComponentRegistrar::class)) {
    ComponentRegistrar::register(ComponentRegistrar::MODULE, 'Larder_Cache', __DIR__);
}
