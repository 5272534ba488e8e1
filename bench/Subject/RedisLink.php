<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** The ways to reach a server that speaks Redis's protocol. */
enum RedisLink: string
{
    case Tcp = 'tcp';
    case Unix = 'unix';
    case Pipelined = 'pipeline';
    case ConnectingTcp = 'connect-tcp';
    case ConnectingUnix = 'connect-unix';
    case PredisTcp = 'predis-tcp';
    case PredisUnix = 'predis-unix';

    public function title(): string
    {
        return match ($this) {
            self::Tcp => 'over TCP',
            self::Unix => 'over a Unix socket',
            self::Pipelined => 'over a Unix socket, 100 reads a pipeline',
            self::ConnectingTcp => 'over TCP, connecting each time',
            self::ConnectingUnix => 'over a Unix socket, connecting each time',
            self::PredisTcp => 'over TCP, Predis',
            self::PredisUnix => 'over a Unix socket, Predis',
        };
    }

    public function usesTcp(): bool
    {
        return match ($this) {
            self::Tcp, self::ConnectingTcp, self::PredisTcp => true,
            self::Unix, self::Pipelined, self::ConnectingUnix, self::PredisUnix => false,
        };
    }

    public function isPredis(): bool
    {
        return $this === self::PredisTcp || $this === self::PredisUnix;
    }

    public function isConnecting(): bool
    {
        return $this === self::ConnectingTcp || $this === self::ConnectingUnix;
    }
}
