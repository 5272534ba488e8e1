<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\Cache\Gate;
use Larder\Exception\StoreUnavailable;
use Larder\Leases;
use Larder\System\Process;

/** The lease of one key, while this process has it. */
final class Held
{
    private readonly string $owner;

    private int $process = 0;

    private bool $isDeferred = false;

    private bool $isOutOfReach = false;

    /** Whether the answer was lost: the store may have given it to us. */
    private bool $isUncertain = false;

    public function __construct(
        private readonly Leases $leases,
        private readonly Gate $gate,
        private readonly AtTheEnd $atTheEnd,
        private readonly string $name,
    ) {
        $this->owner = bin2hex(random_bytes(16));
    }

    /** @phpstan-impure */
    public function acquire(float $seconds): bool
    {
        $taken = $this->gate->attempt(function () use ($seconds): bool {
            try {
                return $this->leases->acquire($this->name, $this->owner, $seconds);
            } catch (StoreUnavailable $failure) {
                // The store has not failed any caller yet: nothing was to be kept but the lease.
                $this->isOutOfReach = $failure->takesNothing;

                return $failure->takesNothing ? false : throw $failure;
            }
        });
        $this->isUncertain = $taken === null;
        $this->process = $taken === false ? 0 : Process::id();
        if ($taken !== false) {
            $this->atTheEnd->watch($this, $this->giveUp(...));
        }

        return $taken === true;
    }

    /** Whether it was refused though it has no owner: then there is none to wait for. */
    public function isOutOfReach(): bool
    {
        return $this->isOutOfReach;
    }

    /** What a forked child inherits is not its own. */
    public function isHeld(): bool
    {
        return !$this->isUncertain && $this->isOurs();
    }

    public function release(): void
    {
        if ($this->letGo()) {
            $this->gate->attempt(fn(): bool => $this->leases->release($this->name, $this->owner));
        }
    }

    /** Lets go of the lease, but so that it has no owner for so long. */
    public function holdOthersOff(float $seconds): void
    {
        if ($seconds <= 0.0) {
            $this->release();
        } elseif ($this->letGo()) {
            $this->gate->attempt(fn(): bool => $this->leases->refresh($this->name, $this->owner, $seconds));
        }
    }

    /** The computation is done after the end of the request. */
    public function defer(): void
    {
        $this->isDeferred = true;
    }

    /** Ends it, if this process has it or may have it, unless the computation is still to come. */
    public function giveUp(): void
    {
        if (!$this->isDeferred) {
            $this->release();
        }
    }

    private function letGo(): bool
    {
        $isHeld = $this->isOurs();
        $this->process = 0;
        $this->atTheEnd->forget($this);

        return $isHeld;
    }

    private function isOurs(): bool
    {
        return $this->process !== 0 && $this->process === Process::id();
    }
}
