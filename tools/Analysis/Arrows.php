<?php

declare(strict_types=1);

namespace Larder\Tools\Analysis;

use PhpParser\Node;
use PHPStan\Analyser\Scope;
use PHPStan\Node\CollectedDataNode;
use PHPStan\Rules\Rule;
use PHPStan\Rules\RuleErrorBuilder;

/**
 * The rooms of the house depend on each other in one direction only: integrations → src, and bench → src and integrations.
 *
 * @implements Rule<CollectedDataNode>
 */
final readonly class Arrows implements Rule
{
    /** What a contract test that is shipped may not name. */
    private const NOT_SHIPPED = ['Larder\Bench', 'Larder\Tests\Unit', 'Larder\Tests\System', 'Larder\Tests\Bench', 'Larder\Tests\Stores', 'Larder\Tools'];

    /** Folder or file => what no file in it may name. The longest that fits a file is the one that counts. */
    private const FORBIDDEN = [
        'src' => ['Larder\Bench', 'Larder\Tests', 'Larder\Tools', 'Symfony'],
        'src/Console' => ['Larder\Bench', 'Larder\Tests', 'Larder\Tools'],
        'bench' => ['Larder\Tests', 'Larder\Tools'],
        'integrations' => self::NOT_SHIPPED,
        // Whole sites, on the servers that the benchmark and the library's own tests start.
        'integrations/wordpress/tests' => ['Larder\Tools'],
        'tests' => ['Larder\Tools'],
        'tests/Contract' => self::NOT_SHIPPED,
    ];

    public function __construct(private string $root) {}

    public function getNodeType(): string
    {
        return CollectedDataNode::class;
    }

    public function processNode(Node $node, Scope $scope): array
    {
        $errors = [];
        foreach ($node->get(Names::class) as $path => $collected) {
            $room = self::room(substr($path, \strlen($this->root) + 1));
            foreach (array_merge(...$collected) as $name => $line) {
                foreach (self::FORBIDDEN[$room] ?? [] as $forbidden) {
                    if (stripos("{$name}\\", "{$forbidden}\\") === 0) {
                        $errors[] = RuleErrorBuilder::message("{$room} may not use {$forbidden} ({$name}).")->identifier('larder.arrow')->file($path)->line($line)->build();
                    }
                }
            }
        }

        return $errors;
    }

    private static function room(string $file): string
    {
        $rooms = array_filter(array_keys(self::FORBIDDEN), static fn(string $room): bool => str_starts_with("{$file}/", "{$room}/"));
        usort($rooms, static fn(string $one, string $other): int => \strlen($other) <=> \strlen($one));

        return $rooms[0] ?? '';
    }
}
