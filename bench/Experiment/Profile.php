<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** How much is measured. Both measure the same things; more samples make narrower intervals. */
enum Profile: string
{
    case Quick = 'quick';
    case Thorough = 'thorough';

    /** Fresh processes of each subject. */
    public function processes(): int
    {
        return match ($this) {
            self::Quick => 3,
            self::Thorough => 5,
        };
    }

    /** Blocks of each case in each process. */
    public function blocks(): int
    {
        return match ($this) {
            self::Quick => 4,
            self::Thorough => 5,
        };
    }

    /** How long a block is meant to take. */
    public function blockNanoseconds(): int
    {
        return match ($this) {
            self::Quick => 2_000_000,
            self::Thorough => 4_000_000,
        };
    }

    /** MiB that each subject of one process may hold, if it has a limit. */
    public function megabytes(): int
    {
        return match ($this) {
            self::Quick => 64,
            self::Thorough => 128,
        };
    }

    /** Bytes that all items under many keys may take together: more than processors cache, less than any limit. */
    public function bytesOfMany(): int
    {
        return match ($this) {
            self::Quick => 16 << 20,
            self::Thorough => 32 << 20,
        };
    }

    /** Keys, where many are read in random order. */
    public function keys(): int
    {
        return match ($this) {
            self::Quick => 600,
            self::Thorough => 2_000,
        };
    }
}
