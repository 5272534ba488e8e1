<?php

declare(strict_types=1);

namespace Larder\Tools\Analysis;

use PhpParser\Node;
use PhpParser\NodeFinder;
use PHPStan\Analyser\Scope;
use PHPStan\Collectors\Collector;
use PHPStan\Node\FileNode;

/**
 * The classes that a file names: in its code, in its imports, and in strings that are nothing else.
 *
 * @implements Collector<FileNode, array<string, int>>
 */
final class Names implements Collector
{
    public function getNodeType(): string
    {
        return FileNode::class;
    }

    /** @return array<string, int> name, without the leading backslash => the first line that has it */
    public function processNode(Node $node, Scope $scope): array
    {
        $names = [];
        foreach ((new NodeFinder())->find($node->getNodes(), static fn(Node $found): bool => true) as $found) {
            $texts = match (true) {
                $found instanceof Node\Name\FullyQualified => [$found->toString()],
                $found instanceof Node\Stmt\Use_ => array_map(static fn(Node\UseItem $item): string => $item->name->toString(), $found->uses),
                $found instanceof Node\Stmt\GroupUse => array_map(static fn(Node\UseItem $item): string => "{$found->prefix}\\{$item->name}", $found->uses),
                $found instanceof Node\Scalar\String_ && preg_match('/^[\w\\\\]+$/D', $found->value) === 1 => [$found->value],
                default => [],
            };
            foreach ($texts as $text) {
                $names[ltrim($text, '\\')] ??= $found->getStartLine();
            }
        }

        return $names;
    }
}
