<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests\Shopware;

use Symfony\Component\Cache\Adapter\TagAwareAdapterInterface;

/** As Shopware does it when a product was written: each name is a key and a tag in each pool; the reverse proxy is told afterwards. */
final class Invalidator
{
    /** @var ?\Closure(list<string>): void what purges the reverse proxy */
    public ?\Closure $purge = null;

    /** @param list<TagAwareAdapterInterface> $pools */
    public function __construct(private readonly array $pools) {}

    /** @param list<string> $names */
    public function invalidate(array $names): void
    {
        foreach ($this->pools as $pool) {
            $pool->deleteItems($names);
            $pool->invalidateTags($names);
        }
        if ($this->purge !== null) {
            ($this->purge)($names);
        }
    }
}
