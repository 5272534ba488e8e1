<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** What is timed. A read that copies nothing is charged for the use of what it read, hence the four reads. */
enum Operation: string
{
    case Get = 'get';
    case LookUp = 'get and look up';
    case Walk = 'get and walk';
    case Modify = 'get and modify';
    case Set = 'set';
    case Connect = 'connect, get, close';

    /** @return list<self> */
    public static function reads(): array
    {
        return [self::Get, self::LookUp, self::Walk, self::Modify];
    }
}
