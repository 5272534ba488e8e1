<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** This machine could not be made several hosts. */
final class HostsFailed extends \RuntimeException
{
    public static function network(string $said): self
    {
        return new self("The kernel makes no hosts of network namespaces (\"{$said}\"): run it on a machine, or in a container, that may have them.");
    }

    public static function relay(string $said): self
    {
        return new self("The link with a delay could not be made (\"{$said}\"): see that no other program has its address.");
    }
}
