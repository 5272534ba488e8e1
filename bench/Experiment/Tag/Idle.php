<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

/** A cache that does nothing and has nothing. Its time is that of the loop alone. */
final readonly class Idle implements TaggedCache
{
    public function load(string $id, array $tags = []): ?string
    {
        return null;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void {}

    public function clean(array $tags): void {}
}
