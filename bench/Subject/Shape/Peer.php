<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** One of two objects that lead to each other. */
final class Peer
{
    public ?Peer $peer = null;

    public function __construct(public string $name, public int $revision) {}

    public static function pair(string $name, int $revision): self
    {
        $one = new self($name, $revision);
        $one->peer = new self("{$name}'s peer", $revision);
        $one->peer->peer = $one;

        return $one;
    }
}
