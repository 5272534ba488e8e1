<?php

declare(strict_types=1);

use PhpCsFixer\Config;
use PhpCsFixer\Finder;
use PhpCsFixer\Runner\Parallel\ParallelConfigFactory;

$rooms = array_filter(
    array_map(static fn(string $room): string => __DIR__ . '/' . $room, ['bench', 'integrations', 'src', 'tests', 'tools']),
    is_dir(...),
);

return (new Config())
    ->setCacheFile(__DIR__ . '/build/php-cs-fixer.cache')
    ->setParallelConfig(ParallelConfigFactory::detect())
    ->setRiskyAllowed(true)
    ->setUnsupportedPhpVersionAllowed(true)
    ->setRules([
        '@PER-CS' => true,
        'declare_strict_types' => true,
        'no_unused_imports' => true,
        'ordered_imports' => true,
        'strict_param' => true,
    ])
    ->setFinder(Finder::create()->in($rooms)->append([__FILE__, __DIR__ . '/bin/larder']));
