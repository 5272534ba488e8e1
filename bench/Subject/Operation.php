<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** The timed operations. A read that copies nothing is charged for the use of what it read, hence the four reads. */
enum Operation: string
{
    case Get = 'get';
    case LookUp = 'get and look up';
    case Walk = 'get and walk';
    case Modify = 'get and modify';
    case Set = 'set';
    case Delete = 'delete';
    case Connect = 'connect, get, close';

    /** Whether the items are not afterwards what they were before. */
    public function isChange(): bool
    {
        return $this === self::Set || $this === self::Delete;
    }

    /** @return list<self> */
    public static function reads(): array
    {
        return [self::Get, self::LookUp, self::Walk, self::Modify];
    }
}
