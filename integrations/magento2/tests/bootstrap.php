<?php

declare(strict_types=1);

require_once __DIR__ . '/../../magento1/tests/bootstrap.php';
