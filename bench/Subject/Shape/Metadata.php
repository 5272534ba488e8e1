<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** What an application knows of its routes and services. */
final class Metadata
{
    /**
     * @param array<string, array<string, mixed>> $routes
     * @param array<string, array<string, mixed>> $services
     */
    public function __construct(public string $name, public array $routes, public array $services, public Owner $owner) {}
}
