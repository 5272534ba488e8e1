<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/** The two servers that speak Redis's protocol and take its options. */
enum RedisFlavour: string
{
    case Redis = 'redis';
    case Valkey = 'valkey';

    public function title(): string
    {
        return match ($this) {
            self::Redis => 'Redis',
            self::Valkey => 'Valkey',
        };
    }

    public function program(): string
    {
        return $this->value . '-server';
    }

    /** @return self|null the first that this machine has */
    public static function installed(): ?self
    {
        foreach (self::cases() as $flavour) {
            if (Program::find($flavour->program()) !== null) {
                return $flavour;
            }
        }

        return null;
    }
}
