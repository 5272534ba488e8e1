<?php

declare(strict_types=1);

namespace Larder\System;

/** The reason why a directory or file cannot be used: another user could have changed it. It comes with a remedy. */
final class Distrust
{
    /**
     * @param string $what      a path
     * @param string $why       as in "/tmp may be written to by everyone"
     * @param string $remedy    the line to change
     * @param bool   $isPlanted whether any user of the machine can bring this about, so that it is no mistake of the administrator
     */
    public function __construct(
        public readonly string $what,
        public readonly string $why,
        public readonly string $remedy,
        public readonly bool $isPlanted = false,
    ) {}

    public function reason(): string
    {
        return "\"{$this->what}\" {$this->why}";
    }
}
