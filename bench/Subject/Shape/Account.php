<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** A row of a result set, as an object that is asked and woken. */
final class Account
{
    public string $origin = 'database';

    /**
     * @param list<string> $roles
     * @param array<string, mixed> $profile
     */
    public function __construct(public int $id, public string $email, public array $roles, public array $profile) {}

    /** @return list<string> */
    public function __sleep(): array
    {
        return ['id', 'email', 'roles', 'profile'];
    }

    public function __wakeup(): void
    {
        $this->origin = 'cache';
    }
}
