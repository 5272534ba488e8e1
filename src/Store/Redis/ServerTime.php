<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Store\Noted;

/**
 * The server's time, compared with ours now and then, so that a write can say until when its client waits for it. A process that
 * has compared them and writes tells the other processes of this machine.
 */
final class ServerTime
{
    /** Seconds after which the server's clock is compared with ours again. */
    private const IS_TRUE_FOR = 60;

    /** Seconds after which the others are told again: as long as some process asks this server now and then, none has to ask it for its time alone. */
    private const TOLD_EVERY = 20;

    /** Seconds in which a comparison is worth telling. */
    private const IS_NEW_FOR = 5;

    private const ABOUT = 'time';

    /** By how many ms the server's clock is ahead of ours at least, and when it was found; in Unix seconds. */
    private int $lag = 0;

    private float $found = 0.0;

    /** How many ms more it may be ahead, as the answer was on its way for so long at most. */
    private int $doubt = 0;

    /** When the server was asked last, in Unix seconds. */
    private float $asked = 0.0;

    /** Whether the other processes need not be told. */
    private bool $isTold = true;

    /** Null until something is to be told or asked. */
    private ?Noted $noted = null;

    /**
     * @param float   $timeout seconds that the connection waits for a reply; 0: for ever
     * @param ?string $server  as of Noted
     */
    public function __construct(
        private readonly Scripts $scripts,
        private readonly float $timeout,
        private readonly ?string $server = null,
    ) {}

    /** @return string until when we wait for an answer to what is sent now, in ms of the server's clock, or a little earlier */
    public function deadline(): string
    {
        if ($this->timeout <= 0.0) {
            return (string) \PHP_INT_MAX;
        }
        if ($this->isToBeAsked() && !$this->isNoted()) {
            [$time] = $this->scripts->send([['TIME']]);
            $this->compareTo($time);
        }
        $this->tell();

        return (string) ((int) ((microtime(true) + 0.9 * $this->timeout) * 1000) + $this->lag);
    }

    /** Whether it is time to compare the server's clock with ours. The caller that is told so asks at once. */
    public function isToBeAsked(): bool
    {
        $now = microtime(true);
        if (abs($now - $this->found) <= self::IS_TRUE_FOR) {
            return false;
        }
        $this->asked = $now;

        return true;
    }

    /** One of the clocks was set. */
    public function forget(): void
    {
        $this->found = 0.0;
        $this->noted()->forget(self::ABOUT);
    }

    /** @param int $time of the server, in ms */
    public function compare(int $time): void
    {
        $this->found = microtime(true);
        $this->lag = $time - (int) ($this->found * 1000);
        $this->doubt = max(0, (int) (($this->found - $this->asked) * 1000)) + 1;
        $this->isTold = false;
    }

    /** @param mixed $reply to TIME */
    public function compareTo(mixed $reply): void
    {
        $this->compare(self::in($reply));
    }

    /** @return int Unix seconds of our clock, of what is in ms by the server's; not later, as a near store goes by it */
    public function ours(int $milliseconds): int
    {
        return intdiv($milliseconds - $this->lag - $this->doubt, 1000);
    }

    /** Writers tell each other: a process that only reads has no use for it, and is spared the work. */
    private function tell(): void
    {
        if (!$this->isTold) {
            $this->isTold = true;
            // Its time is that of the note.
            microtime(true) - $this->found < self::IS_NEW_FOR && $this->noted()->write(self::ABOUT, "{$this->lag} {$this->doubt}", self::TOLD_EVERY);
        }
    }

    /** Whether another process of this machine has compared the clocks. */
    private function isNoted(): bool
    {
        [$found, $told] = $this->noted()->read(self::ABOUT, self::IS_TRUE_FOR) ?? [0.0, ''];
        if (preg_match('/^(-?\d{1,18}) (\d{1,9})$/D', $told, $numbers) !== 1) {
            return false;
        }
        [$this->found, $this->lag, $this->doubt] = [$found, (int) $numbers[1], (int) $numbers[2]];

        return true;
    }

    private function noted(): Noted
    {
        return $this->noted ??= new Noted($this->server);
    }

    /** @return int ms, in the reply to TIME */
    private static function in(mixed $reply): int
    {
        return \is_array($reply) && is_numeric($reply[0] ?? null) && is_numeric($reply[1] ?? null)
            ? (int) $reply[0] * 1000 + intdiv((int) $reply[1], 1000)
            : throw Scripts::nonsense();
    }
}
