<?php

declare(strict_types=1);

namespace Larder\Tools\Analysis;

use PhpParser\Node;
use PHPStan\Analyser\Scope;
use PHPStan\Node\CollectedDataNode;
use PHPStan\Rules\IdentifierRuleError;
use PHPStan\Rules\Rule;
use PHPStan\Rules\RuleErrorBuilder;

/**
 * No classes of the library or of the benchmark, and no folders of either, use each other in a circle: none of them could be
 * understood, or tested, before the others.
 *
 * @implements Rule<CollectedDataNode>
 */
final readonly class Circles implements Rule
{
    public function __construct(private string $root) {}

    public function getNodeType(): string
    {
        return CollectedDataNode::class;
    }

    public function processNode(Node $node, Scope $scope): array
    {
        $uses = [];
        foreach ($node->get(Names::class) as $path => $collected) {
            $file = substr($path, \strlen($this->root) + 1);
            if (preg_match('~^(src|bench)/~', $file) === 1) {
                $used = array_map(self::file(...), array_keys(array_merge(...$collected)));
                $uses[$file] = array_diff_key(array_fill_keys($used, true), [$file => true]);
            }
        }

        return [...self::circles($uses), ...self::circles(self::folders($uses))];
    }

    /**
     * @param array<string, array<string, true>> $uses
     *
     * @return list<IdentifierRuleError>
     */
    private static function circles(array $uses): array
    {
        $errors = [];
        while ($uses !== []) {
            // What uses nothing, or only what is gone, is on no circle.
            $done = array_filter($uses, static fn(array $used): bool => array_intersect_key($used, $uses) === []);
            if ($done !== []) {
                $uses = array_diff_key($uses, $done);
                continue;
            }
            $circle = self::circle($uses);
            $errors[] = RuleErrorBuilder::message('These use each other in a circle: ' . implode(' → ', [...$circle, $circle[0]]) . '.')->identifier('larder.circle')->build();
            $uses = array_diff_key($uses, array_flip($circle));
        }

        return $errors;
    }

    /**
     * What lies at the root of the library or the benchmark is for all of its folders, and may use them.
     *
     * @param array<string, array<string, true>> $uses file => those that it uses
     *
     * @return array<string, array<string, true>> folder => others that its files use
     */
    private static function folders(array $uses): array
    {
        $folder = static fn(string $file): string => preg_match('~^[^/]+/[^/]+(?=/)~', $file, $found) === 1 ? $found[0] : '';
        $folders = [];
        foreach ($uses as $file => $used) {
            $folders[$folder($file)] = ($folders[$folder($file)] ?? []) + array_fill_keys(array_map($folder, array_keys($used)), true);
        }
        foreach ($folders as $name => $used) {
            $folders[$name] = array_diff_key($used, ['' => true, $name => true]);
        }

        return array_diff_key($folders, ['' => true]);
    }

    private static function file(string $name): string
    {
        return strtr("{$name}.php", ['Larder\\Bench\\' => 'bench/', 'Larder\\' => 'src/', '\\' => '/']);
    }

    /**
     * @param non-empty-array<string, array<string, true>> $uses where each uses one of them
     *
     * @return non-empty-list<string>
     */
    private static function circle(array $uses): array
    {
        $path = [];
        $at = array_key_first($uses);
        while (!isset($path[$at])) {
            $path[$at] = \count($path);
            $at = array_key_first(array_intersect_key($uses[$at], $uses)) ?? $at;
        }

        return \array_slice(array_keys($path), $path[$at]) ?: [$at];
    }
}
