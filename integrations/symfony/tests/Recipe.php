<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests;

use Symfony\Component\Cache\CacheItem;
use Symfony\Contracts\Cache\CallbackInterface;
use Symfony\Contracts\Cache\ItemInterface;

/**
 * A callback that is a service, as Messenger needs it to have a value computed elsewhere.
 *
 * @implements CallbackInterface<string>
 */
final class Recipe implements CallbackInterface
{
    public int $calls = 0;

    /** @var ?\Closure(): mixed what happens while it computes */
    public ?\Closure $meanwhile = null;

    public function __invoke(CacheItem|\Psr\Cache\CacheItemInterface $item, bool &$save): string
    {
        if ($item instanceof ItemInterface) {
            $item->expiresAfter(1_000)->tag('recipe');
        }
        usleep(2_000);
        ($this->meanwhile ?? time(...))();

        return 'computed ' . ++$this->calls;
    }
}
