<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Symfony\Component\Cache\Messenger\EarlyExpirationHandler;
use Symfony\Component\Cache\Messenger\EarlyExpirationMessage;
use Symfony\Component\DependencyInjection\ReverseContainer;

/**
 * Computes items that a pool has sent to Messenger, around Symfony's own handler, which saves what it has computed in any case. A pool of
 * Larder's does not keep it if it was invalidated meanwhile.
 */
final class EarlyExpiration
{
    public function __construct(
        private readonly EarlyExpirationHandler $handler,
        private readonly ReverseContainer $services,
    ) {}

    public function __invoke(EarlyExpirationMessage $message): mixed
    {
        $pool = $message->findPool($this->services);
        $compute = fn(): mixed => ($this->handler)($message);

        return $pool instanceof LarderAdapter ? $pool->asOfNow($message->getItem()->getKey(), $compute) : $compute();
    }
}
