<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** A node of a tree whose nodes know their parents. */
final class Category
{
    public ?Category $parent = null;
    /** @var list<Category> */
    public array $children = [];

    /** @param array<string, mixed> $attributes */
    public function __construct(public string $name, public array $attributes) {}

    /** @return list<string> */
    public function __sleep(): array
    {
        return ['parent', 'children', 'name', 'attributes'];
    }

    public function __wakeup(): void {}
}
