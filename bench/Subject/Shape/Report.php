<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** An object that leaves something out when it is stored, and makes it anew when it is read. */
final class Report
{
    public string $state = 'fresh';

    /**
     * @param array<mixed> $rows
     * @param array<string, mixed> $settings
     */
    public function __construct(public string $name, public array $rows, public array $settings) {}

    /** @return list<string> */
    public function __sleep(): array
    {
        return ['name', 'rows', 'settings'];
    }

    public function __wakeup(): void
    {
        $this->state = 'read';
    }
}
