<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** A writer of XML, which PHP would give back as one that cannot write, and which begins again by itself. */
final class Journal extends \XMLWriter
{
    public function __construct(private readonly string $name)
    {
        $this->__wakeup();
    }

    public function __wakeup(): void
    {
        $this->openMemory();
        $this->writeElement('name', $this->name);
    }
}
